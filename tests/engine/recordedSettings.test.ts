/** Tests settings that can't work. From engine 3.274 on, an error of Configure ends the run, also for other providers. */
import { expect, test } from "@jest/globals";
import { testUnless } from "../../tools/support/unless";
import { Fixture } from "./support/fixture";
import { instances, oneInstance, required } from "./support/programs";
import { missingBefore, tokens } from "./support/stack";

/** A stack with `web` of the default provider, and with `db` of a provider resource whose token the environment had. */
async function withoutRecordedToken(): Promise<Fixture> {
  const fixture = await Fixture.create({ token: null });
  const { stack, service } = fixture;
  await stack.succeed("config", "set", "--secret", "compute:apiToken", tokens.test);
  stack.setEnv("COMPUTE_API_TOKEN", tokens.test);
  const resources = {
    own: { type: "pulumi:providers:compute", properties: { baseUrl: service.url } },
    db: { type: "compute:Instance", properties: required, options: { provider: "${own}" } },
  };
  stack.program(instances({ web: {}, extra: {} }, { resources }));
  await stack.up();
  stack.setEnv("COMPUTE_API_TOKEN", undefined);
  return fixture;
}

const names = async ({ stack }: Fixture, status?: string) =>
  (await stack.instances())
    .filter(({ outputs }) => status === undefined || outputs?.["status"] === status)
    .map(({ urn }) => urn.split("::").at(-1))
    .sort();

const lacking = /lacks settings that it needs.*\n.*compute:apiToken/;

test("without the token of one recorded provider, destroy removes the instances of the others", async () => {
  await using fixture = await withoutRecordedToken();
  expect(await fixture.stack.fail("destroy", "--continue-on-error")).toMatch(lacking);
  expect(await names(fixture)).toEqual(["db"]);
});

test("without the token of one recorded provider, refresh reads the instances of the others", async () => {
  await using fixture = await withoutRecordedToken();
  const { stack, control } = fixture;
  for (const { id } of control.instances()) control.setStatus(id, "OFFLINE");
  expect(await stack.fail("refresh")).toMatch(lacking);
  expect(await names(fixture, "OFFLINE")).toEqual(["extra", "web"]);
});

test("without the token of a provider that leaves the program, up changes and removes what is another's", async () => {
  await using fixture = await withoutRecordedToken();
  const { stack } = fixture;
  stack.program(oneInstance({ fallbackFlavorIds: ["standard-4"] }));
  expect(await stack.fail("up", "--continue-on-error")).toMatch(lacking);
  const web = (await stack.instances()).find(({ urn }) => urn.endsWith("::web"));
  expect(web?.inputs).toMatchObject({ fallbackFlavorIds: ["standard-4"] });
  expect(await names(fixture)).toEqual(["db", "web"]);
});

test("a wrong variable of this run ends it at once, whatever the settings are", async () => {
  await using fixture = await withoutRecordedToken();
  fixture.stack.setEnv("COMPUTE_DELETE_POLICY", "keep");
  const output = await fixture.stack.fail("destroy", "--continue-on-error");
  expect(output).toContain("COMPUTE_DELETE_POLICY in the environment must be");
  expect(await names(fixture)).toEqual(["db", "extra", "web"]);
});

testUnless(
  missingBefore("3.274.0", "run that an error of Configure ends"),
  "what the settings of a program lack is said once, however many instances it has",
  async () => {
    const program = instances({ web: {}, db: {}, extra: {} });
    await using fixture = await Fixture.create({ token: null, program });
    const [, atEnd = ""] = (await fixture.stack.fail("preview")).split("Diagnostics:");
    expect(atEnd.match(/lacks settings/g)).toHaveLength(1);
  },
);
