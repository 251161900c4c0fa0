/**
 * Tests programs with several provider resources, for each of which the engine has a process of its own: what one of them has seen
 * keeps another one from ending a server that is needed (G4).
 */
import { expect, test } from "@jest/globals";
import { destroyPath, Fixture, lists } from "./support/fixture";
import { addresses, closedPort, listen } from "./support/ports";
import { instances, type Inputs } from "./support/programs";
import { tokens } from "./support/stack";
import { expectAgreement, printed } from "./support/typing";

const settings = { settlingSeconds: 1, pollIntervalSeconds: 0.2, destroyPath };
const destroying = { token: tokens.live, config: { destroyPath }, service: { destroyPath } };

/** A program of one instance. `own`: the name of its explicit provider, if it has one. */
interface Program {
  readonly name?: string;
  readonly own?: string;
  readonly inputs?: Inputs;
  readonly options?: Inputs;
}

/** The first program and a second one, in which the provider and the flavor of the instance differ. */
const changes: { what: string; before: Program; after: Program }[] = [
  { what: "from the default provider to an explicit one", before: {}, after: { own: "own" } },
  { what: "from an explicit provider to the default one", before: { own: "own" }, after: {} },
  { what: "to an explicit provider of another name", before: { own: "a" }, after: { own: "b" } },
  {
    what: "to another version of the SDK",
    before: { options: { version: "0.0.9" } },
    after: { options: { version: "0.1.0" } },
  },
  {
    what: "to an explicit provider, and to another name with an alias",
    before: {},
    after: { own: "own", name: "web2", options: { aliases: [{ name: "web" }] } },
  },
];

const providerOf = ({ service }: Fixture, more: Inputs = {}) => ({
  type: "pulumi:providers:compute",
  properties: { ...settings, baseUrl: service.url, ...more },
});

function programOf(
  fixture: Fixture,
  { name = "web", own, inputs, options = {} }: Program,
  flavorId: string,
  more?: Inputs,
): string {
  const chosen = own === undefined ? options : { ...options, provider: `\${${own}}` };
  const resources = own === undefined ? {} : { [own]: providerOf(fixture, more) };
  const properties = { ...inputs, flavorId };
  return instances({ [name]: { inputs: properties, options: chosen } }, { resources });
}

const refusalOf = (old: string, next: string) =>
  `instance ${old} was not deleted: its replacement ${next} is not ready`;

test.each(changes)(
  "a server whose resource changes $what is not ended before the new one is ready, in the next run neither",
  async ({ before, after }) => {
    await using fixture = await Fixture.create(destroying);
    const { stack, control } = fixture;
    stack.program(programOf(fixture, before, "standard-2"));
    await stack.up();
    const [old = ""] = fixture.ids();
    stack.program(programOf(fixture, after, "premium-8"));
    control.fault({ kind: "endsAs", status: "OFFLINE" });

    const first = await stack.fail("up");
    const [, next = ""] = fixture.ids();
    const second = await stack.fail("up");

    for (const output of [first, second]) expect(output).toContain(refusalOf(old, next));
    expect(fixture.ids()).toEqual([old, next]);
    control.setStatus(next, "ACTIVE");
    await stack.type(printed(second, "pulumi up"));
    expect(fixture.ids()).toEqual([next]);
    await expectAgreement(fixture);
  },
);

test("with --continue-on-error, a server whose resource changes its provider is not ended for one that never gets ready", async () => {
  await using fixture = await Fixture.create(destroying);
  const { stack, control } = fixture;
  await stack.up();
  const [old = ""] = fixture.ids();
  stack.program(programOf(fixture, { own: "own" }, "premium-8"));
  control.fault({ kind: "endsAs", status: "ERROR" });

  const first = await stack.fail("up", "--continue-on-error");
  const [, next = ""] = fixture.ids();
  const second = await stack.fail("up", "--continue-on-error");

  for (const output of [first, second]) expect(output).toContain(refusalOf(old, next));
  control.setStatus(next, "ACTIVE");
  await stack.type(printed(second, "pulumi up"));
  expect(fixture.ids()).toEqual([next]);
});

test("nor is it ended for one whose port is silent, although that is ACTIVE", async () => {
  const service = { ...destroying.service, addresses };
  await using fixture = await Fixture.create({ ...destroying, service });
  const { stack, control } = fixture;
  await stack.up();
  const [old = ""] = fixture.ids();
  const waitForPort = await closedPort();
  const options = { customTimeouts: { create: "3s", update: "3s" } };
  stack.program(programOf(fixture, { own: "own", inputs: { waitForPort }, options }, "premium-8"));

  const first = await stack.fail("up", "--continue-on-error");
  const [, next = ""] = fixture.ids();
  const second = await stack.fail("up", "--continue-on-error");

  for (const output of [first, second]) expect(output).toContain(refusalOf(old, next));
  expect(fixture.ids()).toEqual([old, next]);
  await using _server = (await listen(waitForPort, control.instance(next)?.ipv4_public)).server;
  await stack.type(printed(second, "pulumi up"));
  expect(fixture.ids()).toEqual([next]);
});

test("nor is it ended for one without an address, in the run that has waited for that", async () => {
  await using fixture = await Fixture.create(destroying);
  const { stack, control } = fixture;
  await stack.up();
  const [old = ""] = fixture.ids();
  const alias = { name: "web2", options: { aliases: [{ name: "web" }] } };
  stack.program(programOf(fixture, { own: "own", ...alias }, "premium-8"));
  const noAddress = { kind: "omitAddress", instance: "web2-*", times: "always" } as const;
  const fault = control.fault({ ...lists, ...noAddress });

  const refused = await stack.fail("up");

  const [, next = ""] = fixture.ids();
  expect(refused).toContain(refusalOf(old, next));
  fault.remove();
  await stack.type(printed(refused, "pulumi up"));
  expect(fixture.ids()).toEqual([next]);
});

test("an instance that resources of two providers have imported is left to the one that stays", async () => {
  await using fixture = await Fixture.create(destroying);
  const { stack, control } = fixture;
  const { id } = control.insert({ name: "web", tokenKind: "live" });
  const program = (names: readonly string[]) => {
    const own = names.map((name) => [`${name}-provider`, providerOf(fixture)] as const);
    const named = names.map((name) => {
      const options = { import: id, provider: `\${${name}-provider}` };
      return [name, { inputs: { name: "web" }, options }] as const;
    });
    return instances(Object.fromEntries(named), { resources: Object.fromEntries(own) });
  };
  stack.program(program(["a", "b"]));
  await stack.up();
  expect(await stack.ids()).toEqual([id, id]);

  stack.program(program(["a"]));
  const output = await stack.up();

  expect(output).toContain("b was dropped from the state");
  expect(output).toContain("a of this program manages it, too");
  expect(fixture.ids()).toEqual([id]);
  expect(await stack.ids()).toEqual([id]);

  stack.program(program([]));
  await stack.up();
  expect(fixture.ids()).toEqual([]);
});

test("a server that the program deletes before its replacement is deleted, although that has another provider", async () => {
  await using fixture = await Fixture.create(destroying);
  const { stack } = fixture;
  await stack.up();
  const [old = ""] = fixture.ids();
  const options = { deleteBeforeReplace: true };
  stack.program(programOf(fixture, { own: "own", options }, "premium-8"));

  await stack.up();

  expect(fixture.ids()).not.toContain(old);
  await expectAgreement(fixture);
});

test("a server whose recorded provider may not destroy it is let run with the printed command, although the program's new provider has a destroy call", async () => {
  await using fixture = await Fixture.create(destroying);
  const { stack } = fixture;
  stack.program(programOf(fixture, { own: "a" }, "standard-2", { destroyPath: undefined }));
  await stack.up();
  const [old = ""] = fixture.ids();
  stack.program(programOf(fixture, { own: "b" }, "premium-8"));

  const refused = await stack.fail("up");

  expect(refused).toContain(`instance ${old} was not deleted`);
  expect(refused).toContain('"fail" is the policy in the recorded settings of its old provider');
  const [, next = ""] = fixture.ids();
  await stack.type(printed(refused, "COMPUTE_DELETE_POLICY=retain pulumi up"));
  expect(fixture.ids()).toEqual([old, next]);
  await expectAgreement(fixture, [next]);
});
