/**
 * An error hook that answers "again" for ever: the engine keeps only what the last of a hundred calls answers, so that one has the
 * id and the state of the server (G1).
 */
import { expect } from "@jest/globals";
import { testUnless } from "../../tools/support/unless";
import { destroyPath, Fixture, never, type FixtureOptions } from "./support/fixture";
import { inlineProgram } from "./support/inlineProgram";
import { emptyProgram, required } from "./support/programs";
import { missingBefore } from "./support/stack";

const noErrorHooks = missingBefore("3.217.0", "error hooks");

/** A program with such a hook, or with one that says so often "again". FLAVOR is another flavor. */
function program(tries: number, options: object): string {
  return `
  const hook = new pulumi.ErrorHook("again", ({ errors }) => errors.length <= ${tries});
  const options = { ...${JSON.stringify(options)}, hooks: { onError: [hook] } };
  const inputs = ${JSON.stringify(required)};
  inputs.flavorId = process.env.FLAVOR ?? inputs.flavorId;
  new pulumi.CustomResource("compute:index:Instance", "web", inputs, options);
`;
}

const up = `'${process.execPath}' inline.js`;

async function fixtureWithHook(
  service: FixtureOptions["service"] = {},
  config: FixtureOptions["config"] = {},
  { tries = 1000, ...options }: { tries?: number; customTimeouts?: object } = {},
): Promise<Fixture> {
  const fixture = await Fixture.create({ program: emptyProgram, service, config });
  inlineProgram(fixture.stack, program(tries, options));
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

testUnless(
  noErrorHooks,
  "after a hundred tries because of a status that nobody knows, the state has the id",
  async () => {
    await using fixture = await fixtureWithHook();
    const { stack, control } = fixture;
    control.fault({ kind: "endsAs", status: "ERROR" });

    expect(await stack.type(up)).toContain("retrying create due to on-error hook request (98/100)");

    await expectKept(fixture, "ERROR");
    for (const id of fixture.ids()) control.setStatus(id, "ACTIVE");
    await expectWorks(fixture);
  },
);

testUnless(
  noErrorHooks,
  "after a hundred tries, the server that was to be replaced goes on running until the new one is ready (G4)",
  async () => {
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
  },
);

testUnless(
  noErrorHooks,
  "after one Ctrl-C during the wait, in two runs, the state has the id and what the first run has seen",
  async () => {
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
  },
);

testUnless(noErrorHooks, "the time-out of a repeated create is that of a create", async () => {
  const customTimeouts = { create: "2s", update: "1h" };
  await using fixture = await fixtureWithHook(never, {}, { tries: 2, customTimeouts });

  const output = await fixture.stack.typeFailing(up);

  expect(output).toContain("2 s (customTimeouts.create)");
  expect(output).not.toContain("customTimeouts.update");
  await expectKept(fixture, "PROVISIONING");
});

testUnless(
  missingBefore("3.274.0", "Update that repeats a create"),
  "of a server that is gone before it was ready, a repeated create says that the next up makes another one",
  async () => {
    await using fixture = await fixtureWithHook(never, {}, { tries: 2 });
    const { stack, control } = fixture;
    const running = stack.startTyping(up);
    await running.printed("PROVISIONING, ");
    for (const id of fixture.ids()) control.remove(id);

    const output = await running.failed();

    expect(output).toContain("retrying create due to on-error hook request (2/100)");
    expect(output).toContain("Run `pulumi up` again to create it anew");
    expect(output).not.toMatch(/pulumi refresh|is kept in the state/);
    const again = stack.startTyping(up);
    await again.printed("PROVISIONING, ");
    control.finishProvisioning();
    await again.succeeded();
    expect(fixture.posts()).toBe(2);
    expect(await stack.ids()).toEqual(fixture.ids());
  },
);
