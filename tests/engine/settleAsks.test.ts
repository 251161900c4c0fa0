/** Tests what `settle` asks at a terminal: each way that it prints, in that order, and what becomes of the answers. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "@jest/globals";
import metadata from "../../metadata.json";
import { pluginRun } from "../../provider/advice";
import { root } from "../../tools/support/paths";
import { testUnless } from "../../tools/support/unless";
import { destroyPath, Fixture, never } from "./support/fixture";
import { gone, isPlugin, noTerminals, startedBy } from "./support/processes";
import { instances, oneInstance } from "./support/programs";
import {
  answering,
  atTerminal,
  editState,
  live,
  onNewMachine,
  settle,
  stateFile,
} from "./support/settling";
import { plugin } from "./support/stack";
import { expectAgreement, printed } from "./support/typing";

testUnless(
  noTerminals,
  "at a terminal, settle asks, and changes nothing if the state has changed meanwhile",
  async () => {
    await using fixture = await Fixture.create({ ...live, service: never });
    const { stack } = fixture;
    await (await fixture.upInWait()).end("both killed");
    await onNewMachine(stack);
    const change = () => {
      editState(stack, ({ resources }) => Object.assign(resources[0] ?? {}, { outputs: { a: 1 } }));
      return "y";
    };

    const declined = await answering(stack, "n");
    expect(declined).toMatch(/Nothing was changed\.\s+exit code 1/);
    expect(await stack.ids()).toEqual([]);

    const changed = await answering(stack, change);
    expect(changed).toMatch(/the state has changed meanwhile[^]*exit code 3/);
    expect(await stack.ids()).toEqual([]);

    expect(await answering(stack, "y")).toMatch(/exit code 0/);
    expect(await stack.ids()).toEqual(fixture.ids());
  },
);

/** A killed run on another machine, which has created an instance of a name that the program chose for each of these. */
async function killedWith(
  names: readonly string[],
  more: Parameters<typeof instances>[0] = {},
): Promise<Fixture> {
  const chosen = names.map((name) => [name, { inputs: { name: `${name}-1` } }] as const);
  const program = instances({ ...Object.fromEntries(chosen), ...more });
  const fixture = await Fixture.create({ ...live, service: never, program });
  const up = await fixture.upInWait();
  while (fixture.ids().length < names.length + Object.keys(more).length) await sleep(20);
  await up.end("both killed");
  fixture.control.finishProvisioning();
  await onNewMachine(fixture.stack);
  return fixture;
}

/** The id of the instance with this name, or with the name generated for this resource. */
const idOf = ({ control }: Fixture, name: string) =>
  control.instances().find((one) => one.name.startsWith(`${name}-`))?.id ?? "";

testUnless(
  noTerminals,
  "at a terminal, settle asks whether an instance of an explicit name is the resource's",
  async () => {
    await using fixture = await killedWith(["web"]);

    const output = await answering(fixture.stack, "y", "y");

    expect(output).toContain(`Is ${fixture.ids()[0]} the instance of web, `);
    expect(output).toMatch(/exit code 0/);
    await expectAgreement(fixture);
  },
);

testUnless(
  noTerminals,
  "an instance that is not taken over may be forgotten: it runs on, and nobody is asked again",
  async () => {
    await using fixture = await killedWith(["web"]);
    const { stack } = fixture;
    const [id = ""] = fixture.ids();

    const output = await answering(stack, "n", "y", "y");

    expect(output).toContain(
      `Forget the create of web? (${id} runs on in no state, billed if live)`,
    );
    expect(output).toMatch(/1 create forgotten[^]*exit code 0/);
    expect(await answering(stack)).toMatch(/Nothing is in doubt\.\s+exit code 0/);
    expect(await stack.ids()).toEqual([]);
    expect(fixture.ids()).toEqual([id]);
  },
);

testUnless(
  noTerminals,
  "one create left open keeps the others from being done, and the printed command has their answers, and asks about that one",
  async () => {
    await using fixture = await killedWith(["web", "db"], { mail: {} });
    const { stack } = fixture;
    const before = readFileSync(stateFile(stack), "utf8");

    const first = await atTerminal(stack, `'${plugin}' settle`, (question) =>
      / db\b/.test(question) ? "n" : "y",
    );

    expect(first).toContain("takes all of these creates or none, and this is open: db\r\n");
    expect(first).toMatch(/Nothing was changed\.[^]*exit code 1/);
    expect(readFileSync(stateFile(stack), "utf8")).toBe(before);
    const again = await atTerminal(stack, printed(first, "settle --take"), () => "y");
    expect(again.match(/\[y\/N\]/g)).toHaveLength(2);
    expect(again).toContain(`Is ${idOf(fixture, "db")} the instance of db, `);
    expect(again).toMatch(/3 instances came into the state[^]*exit code 0/);
    await expectAgreement(fixture);
    expect(fixture.posts()).toBe(3);
  },
);

testUnless(
  noTerminals,
  "beside a server in the state, settle asks first whether to forget, and the state then knows what runs on",
  async () => {
    await using fixture = await Fixture.create({ ...live, service: { destroyPath } });
    const { stack } = fixture;
    await stack.configure({ destroyPath });
    await fixture.endUpInPost("both killed");
    await onNewMachine(stack);
    await stack.up();
    const [older = "", serving = ""] = fixture.ids();

    const output = await answering(stack, "y", "y");

    expect(output).toMatch(
      new RegExp(`Forget the create of web\\? \\(${serving} stays; .*${older}`),
    );
    expect(output).not.toContain("to take it over?");
    expect(output).toMatch(/1 instance let run[^]*exit code 0/);
    expect((await settle(stack, "--yes")).output).not.toContain(older);
    await stack.expectNothingToDo();
    expect(await stack.ids()).toEqual([serving]);
  },
);

testUnless(
  noTerminals,
  "at the question of a settle that `pulumi plugin run` has started, Ctrl-C ends both, as the question says, and nothing has changed",
  async () => {
    const program = oneInstance({ name: "web-1" });
    await using fixture = await Fixture.create({ ...live, namesPlugin: false, program });
    const { stack } = fixture;
    const { name, version } = metadata;
    const install = ["plugin", "install", "resource", name, version];
    await stack.succeed(...install, "--file", join(root, "bin"));
    await fixture.endUpInPost("both killed");
    await stack.succeed("cancel", "--yes");
    const before = readFileSync(stateFile(stack), "utf8");

    let started: number[] = [];
    // For a terminal, this is Ctrl-C. (The end of the input, Ctrl-D, does not reach the plugin.)
    const output = await atTerminal(stack, `${pluginRun} settle`, () => {
      started = startedBy(process.pid)
        .filter(isPlugin)
        .map(({ pid }) => pid);
      return "\x03";
    });

    expect(output).toContain("[y/N] (Ctrl-C ends this, without a change)");
    expect(started).toHaveLength(1);
    await gone(started);
    expect(readFileSync(stateFile(stack), "utf8")).toBe(before);
  },
);
