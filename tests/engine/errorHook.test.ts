/**
 * An error hook that answers "again" for ever: the engine keeps only what the last of a hundred calls answers, so that one has the
 * id and the state of the server (G1).
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { destroyPath, Fixture, never, type FixtureOptions } from "./support/fixture";
import { emptyProgram, required } from "./support/programs";

/**
 * Runs `pulumi up` of a program with such a hook. With the Automation API the engine runs a program without a language host. That
 * of these tests knows no error hooks. With CTRL_C=1, one Ctrl-C ends the wait for the server. FLAVOR is another flavor.
 */
const program = `
const pulumi = require("@pulumi/pulumi");
const { LocalWorkspace } = require("@pulumi/pulumi/automation");
async function program() {
  const hook = new pulumi.ErrorHook("again", () => true);
  const options = { hooks: { onError: [hook] } };
  const inputs = ${JSON.stringify(required)};
  inputs.flavorId = process.env.FLAVOR ?? inputs.flavorId;
  new pulumi.CustomResource("compute:index:Instance", "web", inputs, options);
}
const ctrlC = new AbortController();
const onOutput = (text) => {
  console.log(text);
  if (process.env.CTRL_C && text.includes("PROVISIONING, ")) ctrlC.abort();
};
LocalWorkspace.createOrSelectStack({ stackName: "dev", projectName: "proj", program }, { workDir: "." })
  .then((stack) => stack.up({ onOutput, signal: ctrlC.signal }))
  .catch((error) => {
    console.log(String(error));
    process.exitCode = 1;
  });
`;
const up = `'${process.execPath}' hook.js`;

async function fixtureWithHook(
  service: FixtureOptions["service"] = {},
  config: FixtureOptions["config"] = {},
): Promise<Fixture> {
  const fixture = await Fixture.create({ program: emptyProgram, service, config });
  fixture.stack.javascript("");
  writeFileSync(join(fixture.stack.project, "hook.js"), program);
  return fixture;
}

/** The state has the only server with its private address, which only the 202 shows, and the next `up` reads it if it is not ready. */
async function expectKept(fixture: Fixture, status: string): Promise<void> {
  expect(fixture.posts()).toBe(1);
  expect(await fixture.stack.instance()).toMatchObject({
    id: fixture.ids()[0],
    outputs: { status, networks: [{ type: "private" }], __origin: {} },
    ...(status !== "ACTIVE" && { refreshBeforeUpdate: true }),
  });
}

/** Once nothing is in the way of the server any more, `up`, `refresh` and `destroy` work. */
async function expectWorks(fixture: Fixture): Promise<void> {
  const { stack } = fixture;
  await stack.type(up);
  await expectKept(fixture, "ACTIVE");
  expect((await stack.instance()).initErrors ?? []).toEqual([]);
  await stack.refresh();
  await stack.destroy();
  expect(await stack.instances()).toEqual([]);
}

test("after a hundred tries because of a status that nobody knows, the state has the id", async () => {
  await using fixture = await fixtureWithHook();
  const { stack, control } = fixture;
  control.fault({ kind: "endsAs", status: "ERROR" });

  expect(await stack.type(up)).toContain("retrying create due to on-error hook request (98/100)");

  await expectKept(fixture, "ERROR");
  for (const id of fixture.ids()) control.setStatus(id, "ACTIVE");
  await expectWorks(fixture);
});

test("after a hundred tries, the server that was to be replaced goes on running until the new one is ready (G4)", async () => {
  await using fixture = await fixtureWithHook({ destroyPath }, { destroyPath });
  const { stack, control } = fixture;
  await stack.type(up);
  const [old = ""] = fixture.ids();
  stack.setEnv("FLAVOR", "premium-8");
  control.fault({ kind: "endsAs", status: "ERROR" });

  const output = await stack.typeFailing(up);

  const [, next = ""] = fixture.ids();
  expect(output).toContain("This counts as a success because an error hook keeps asking");
  // The hook is asked about the refused delete, too, and the engine does not print why it was refused.
  expect(output).toContain("retrying delete due to on-error hook request (99/100)");
  expect(await stack.ids()).toEqual([old, next].sort());
  control.setStatus(next, "ACTIVE");
  await stack.type(up);
  expect(fixture.ids()).toEqual([next]);
});

test("after one Ctrl-C during the wait, in two runs, the state has the id and what the first run has seen", async () => {
  await using fixture = await fixtureWithHook(never);
  const { stack, control } = fixture;
  stack.setEnv("CTRL_C", "1");
  for (const call of ["create", "update"]) {
    const output = await stack.typeFailing(up);
    expect(output).toContain(`retrying ${call} due to on-error hook request (1/100)`);
    expect(output).not.toContain("(2/100)");
    await expectKept(fixture, "PROVISIONING");
  }
  stack.setEnv("CTRL_C", undefined);
  control.finishProvisioning();
  await expectWorks(fixture);
});
