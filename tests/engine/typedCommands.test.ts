/**
 * Tests that the commands in messages work when they are typed, and that the next `up` changes nothing: errors help
 * (G9). Until then no instance is lost (G1) or created twice (G2), and delete tells the truth (G4).
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "@jest/globals";
import { pluginRun, stateDeleteCommand } from "../../provider/advice";
import { shellQuote } from "../../provider/shellQuote";
import { commandsIn } from "../../tools/docs/commandLines";
import { blocksOf, codeSpansOf, sectionOf } from "../../tools/docs/markdown";
import { readPage } from "../../tools/docs/pages";
import { firstLine } from "../../tools/support/command";
import { testUnless } from "../../tools/support/unless";
import { Fixture } from "./support/fixture";
import { installedFixture, onlyPulumi } from "./support/installedPlugin";
import { noTerminals } from "./support/processes";
import { instances, oneInstance } from "./support/programs";
import { tokens } from "./support/stack";
import { expectAgreement, printed, urnOf } from "./support/typing";

test("if Pulumi has installed the plugin, the printed command begins with `pulumi plugin run`", async () => {
  await using fixture = await installedFixture();
  const { stack } = fixture;
  await fixture.endUpInPost("both killed");
  await stack.succeed("cancel", "--yes");
  stack.program(oneInstance({ flavorId: "standard-4" }));
  expect(printed(await stack.fail("up"), "settle")).toBe(`${pluginRun} settle`);
});

test("with nothing but pulumi on PATH, `pulumi plugin run` passes the exit codes and the JSON of the commands on", async () => {
  await using fixture = await installedFixture();
  const { stack, control } = fixture;
  await stack.up();
  const path = onlyPulumi(fixture);
  const codeAndOutput = async (command: string) => {
    const line = `export PATH='${path}'; ${pluginRun} ${command}; echo "$?"`;
    const [, output, code] = /^([^]*?)(\d+)\n$/.exec(await stack.type(line)) ?? [];
    return { code, output };
  };
  const json = (field: string) => expect.stringMatching(new RegExp(`^\\{[^]*"${field}"[^]*\\}\n$`));

  expect(await codeAndOutput("doctor --json")).toEqual({ code: "0", output: json("check") });
  expect(await codeAndOutput("audit --json")).toEqual({ code: "0", output: json("managed") });
  control.insert({ name: "by-hand" });
  expect(await codeAndOutput("audit --json")).toEqual({ code: "1", output: json("by-hand") });
  const mistyped = await codeAndOutput("audit --jsno");
  const [, see = ""] = /^See (.+)$/m.exec(mistyped.output ?? "") ?? [];
  expect(mistyped.code).toBe("2");
  expect(see).toBe(`${pluginRun} audit --help`);
  expect(await stack.type(see)).toContain("--json ");
  expect(await codeAndOutput("settle --json")).toEqual({ code: "0", output: json("inDoubt") });
});

testUnless(
  noTerminals,
  "at a terminal, the three commands of docs/recover.md and a printed state delete ask nothing, and Pulumi has no pending operation",
  async () => {
    await using fixture = await installedFixture();
    const { stack } = fixture;
    const typeAtTerminal = (line: string) =>
      stack.type(
        `env -u PULUMI_SKIP_CONFIRMATIONS TERM=xterm script -qfec ${shellQuote(line)} /dev/null`,
      );
    const [block] = blocksOf(readPage("docs/recover.md"));
    const [cancel = "", settle = "", up = "", ...more] = commandsIn(block?.text ?? "").map(
      ({ text }) => text,
    );
    expect(more).toEqual([]);
    await fixture.endUpInPost("both killed");

    await typeAtTerminal(cancel);
    // What most people type first: Pulumi then warns in each run, until `settle` ends that.
    const resumed = await stack.up();
    expect(resumed).toContain("pending operations");
    expect(printed(resumed, "settle")).toBe(settle);
    await typeAtTerminal(settle);

    expect(await typeAtTerminal(up)).not.toContain("pending operations");
    await expectAgreement(fixture);
    await typeAtTerminal(stateDeleteCommand(urnOf("web")));
    expect(await stack.instances()).toEqual([]);
    expect(fixture.posts()).toBe(1);
  },
);

test("the emulator that `pulumi plugin run` started ends with `pulumi`", async () => {
  await using fixture = await installedFixture();
  const env = { PATH: onlyPulumi(fixture), PULUMI_HOME: fixture.stack.home };
  const words = [...pluginRun.split(" ").slice(1), "emulator", "--port", "0"];
  using pulumi = spawn("pulumi", words, { env, stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(pulumi, "exit");
  const [url = ""] = /http:\S+(?=\/v2)/.exec(await firstLine(pulumi.stdout)) ?? [];
  const answers = () =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );

  expect(await answers()).toBe(true);
  pulumi.kill("SIGINT");

  await ended;
  while (await answers());
});

/**
 * The state of a killed engine and the ledger record the same create, so the engine's repair must not conflict with
 * the provider's. The import that it offers ends the pending create, and leaves the instance in no state.
 */
test.each([
  ["after the next up", "--clear-pending-creates"],
  ["before the next up", `--import-pending-creates '${urnOf("web")}' --import-pending-creates`],
])(
  "after a killed engine, its own repair of the pending create is only tidying up: it may come %s, with %s, and the up takes the instance over",
  async (when, flag) => {
    await using fixture = await Fixture.create();
    const { stack } = fixture;
    await fixture.endUpInPost("engine killed");
    const [id = ""] = fixture.ids();
    await stack.type("pulumi cancel");
    const isAfter = when === "after the next up";
    if (isAfter) expect(await stack.up()).toContain("pending operations");

    await stack.type(`pulumi refresh ${flag} ${isAfter ? "" : id}`);

    expect(await stack.ids()).toEqual(isAfter ? [id] : []);
    await expectAgreement(fixture, [id]);
    expect(await stack.up()).not.toContain("pending operations");
    expect(fixture.posts()).toBe(1);
  },
);

test("if all settings come from the environment, a refused destroy prints the same ways out, and they work", async () => {
  await using fixture = await Fixture.create({ token: null, baseUrl: undefined });
  const { stack, service } = fixture;
  stack.setEnv("COMPUTE_BASE_URL", service.url);
  stack.setEnv("COMPUTE_API_TOKEN", tokens.live);
  await stack.up();

  expect(await stack.fail("destroy")).toContain("COMPUTE_DELETE_POLICY=retain before");
  await stack.type("COMPUTE_DELETE_POLICY=retain pulumi destroy");

  expect(await stack.instances()).toEqual([]);
  expect(fixture.ids()).toHaveLength(1);
});

test("with a wrong address in the environment, an up that changes nothing warns once, and the line of docs/gitops.md fails", async () => {
  await using fixture = await Fixture.create({
    program: instances({ a: {}, b: {} }),
    baseUrl: undefined,
  });
  const { stack, service } = fixture;
  stack.setEnv("COMPUTE_BASE_URL", service.url);
  await stack.up();
  stack.setEnv("COMPUTE_BASE_URL", service.url.replace("/v2", "/wrong/v2"));
  const text = sectionOf(readPage("docs/gitops.md"), "A wrong address");
  const spans = codeSpansOf({ name: "docs/gitops.md", text }).map((span) => span.text);
  const line = spans.find((span) => span.startsWith("pulumi refresh ")) ?? "";

  // Pulumi refuses the line where nobody is asked.
  const refused = await stack.typeFailing(`unset PULUMI_SKIP_CONFIRMATIONS; ${line}`);
  const [, warned = ""] = (await stack.up()).split("\nDiagnostics:");

  expect(refused).toContain("is out of reach");
  expect(warned.match(/out of reach: it lives at/g)).toHaveLength(1);
  expect(warned).toMatch(/1 more instance, as for \w: out of reach/);
  expect(await stack.ids()).toEqual(fixture.ids().sort());
});
