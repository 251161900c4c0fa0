/**
 * Sequences of commands that once broke a guarantee with the real engine: an instance was lost (G1) or created twice
 * (G2), or a delete did not tell the truth (G4). Each test counts the instances at the end and checks the messages.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { destroyPath, Fixture } from "./support/fixture";
import { instances, required, type Inputs } from "./support/programs";
import { tokens } from "./support/stack";
import { urnOf } from "./support/typing";

/** A program with an explicit provider in test mode, whose instance depends on the live instance `web`. */
function withDependent(baseUrl: string, inputs: Inputs): string {
  const properties = { baseUrl, apiToken: "${token}", pollIntervalSeconds: 0.2 };
  const dependent = {
    inputs: { ...required, vpcId: "${web.id}" },
    options: { provider: "${own}" },
  };
  return instances(
    { web: { inputs }, dependent },
    {
      resources: { own: { type: "pulumi:providers:compute", properties } },
      config: { token: { type: "string", secret: true } },
    },
  );
}

test("with a live token and the delete policy fail, a changed input and `--replace` are refused before any instance is touched", async () => {
  await using fixture = await Fixture.create({ token: tokens.live });
  const { stack, service } = fixture;
  stack.setEnv("TOKEN_TO_SET", tokens.test);
  await stack.type('printf %s "$TOKEN_TO_SET" | pulumi config set --secret token');
  stack.program(withDependent(service.url, {}));
  await stack.up();
  const id = (await stack.instances()).find(({ urn }) => urn === urnOf("web"))?.id ?? "";
  const before = await stack.ids();
  const expectUntouched = async () => {
    expect(await stack.ids()).toEqual(before);
    expect(fixture.ids().sort()).toEqual(before);
    expect(fixture.posts()).toBe(2);
  };

  stack.program(withDependent(service.url, { flavorId: "premium-8" }));
  for (const command of ["preview", "up"]) {
    const refused = await stack.fail(command);
    expect(refused).toContain(`instance ${id} can't be replaced: it still exists`);
    expect(refused).not.toContain("dropped from the state");
    await expectUntouched();
  }

  stack.program(withDependent(service.url, {}));
  const replacing = ["--replace", urnOf("web"), "--target", urnOf("web")];
  // The engine does not say that it replaces, and another run may be making what is listed.
  expect(await stack.preview(...replacing)).toMatch(new RegExp(`${id}.*will stop here`));
  expect(await stack.fail("up", ...replacing)).toContain(`(${id}):`);
  await expectUntouched();
});

test("after an engine was killed while another instance was not ready, `up --replace` of the finished one stops until a refresh has shown that the state has it", async () => {
  await using fixture = await Fixture.create({
    program: instances({ web: {}, slow: { options: { dependsOn: ["${web}"] } } }),
    config: { destroyPath },
    service: {
      provisioningSeconds: (name) => (name.startsWith("slow") ? Infinity : 0),
      destroyPath,
    },
  });
  const { stack, control } = fixture;
  const up = stack.start("up");
  while (fixture.ids().length < 2) await sleep(20);
  const [web = "", slow = ""] = fixture.ids();
  await up.printed(`of 15 min, ${slow}`);
  await up.end("engine killed");
  control.finishProvisioning();
  await stack.succeed("cancel", "--yes");

  expect(await stack.fail("up", "--replace", urnOf("web"))).toContain("Pulumi was told the id");
  expect(fixture.ids()).toEqual([web, slow]);
  expect(fixture.posts()).toBe(2);

  await stack.refresh();
  await stack.up("--replace", urnOf("web"));
  expect(fixture.posts()).toBe(3);
  expect(fixture.ids()).toHaveLength(2);
  expect(fixture.ids()).not.toContain(web);
  expect(fixture.ids()).toContain(slow);
  await stack.expectNothingToDo();
});
