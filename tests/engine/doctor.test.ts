/** Tests `doctor`, and the plugin started by hand, with the built executable and the real `pulumi`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "@jest/globals";
import { testUnless } from "../../tools/support/unless";
import { oneInstance } from "./support/programs";
import { plugin, tokens } from "./support/stack";
import { noTerminals } from "./support/processes";
import { Fixture } from "./support/fixture";

test("doctor checks the configuration and the engine of a stack, and ends with 0 if all is well, else with 1", async () => {
  await using fixture = await Fixture.create({ program: oneInstance(), token: null });
  const { stack, service } = fixture;
  const doctor = (line: string) => stack.type(`'${plugin}' doctor ${line}`);
  // Without --stack, the settings come from the stack that is selected.
  const none = await doctor("");
  expect(none.output).toMatch(/^FAILED +token +it is not set in COMPUTE_API_TOKEN/m);
  expect(none.code).toBe(1);

  // The token comes through a pipe, because the tests search the typed command line for secrets, too.
  stack.setEnv("TOKEN_TO_SET", tokens.test);
  await stack.type('printf %s "$TOKEN_TO_SET" | pulumi config set --secret compute:apiToken');
  const well = await doctor("--stack dev");
  expect(well.output).toMatch(/^ok +stack +organization\/proj\/dev: 4 settings of compute$/m);
  expect(well.output).toMatch(/^ok +token +test: .*\(compute:apiToken\)$/m);
  expect(well.output).toMatch(/^ok +engine +Pulumi \d+\.\d+\.\d+$/m);
  expect(well.output).toMatch(/^All is well\.$/m);
  // eslint-disable-next-line no-control-regex -- the output is not a terminal, so it has no colours
  expect(well.output).not.toMatch(/\u001b/);
  expect(well.code).toBe(0);
  expect(Object.keys(service.counts()).sort()).toEqual(["GET /v2/account", "GET /v2/instances"]);

  const selected = await doctor("");
  expect(selected.output).toBe(well.output);
  const passphrases = [
    [undefined, /^FAILED +stack .*passphrase must be set[^]*→ Set PULUMI_CONFIG_PASSPHRASE /m],
    ["wrong", /^FAILED +stack .*incorrect passphrase[^]*→ Set PULUMI_CONFIG_PASSPHRASE /m],
  ] as const;
  for (const [passphrase, message] of passphrases) {
    stack.setEnv("PULUMI_CONFIG_PASSPHRASE", passphrase);
    expect((await doctor("")).output).toMatch(message);
  }
  // Outside the folder of the project, the settings come from the environment.
  const outside = await stack.type(`cd / && '${plugin}' doctor`);
  expect(outside.output).toMatch(/^ok +stack +none: this folder has no Pulumi project/m);
  expect((await doctor("--stack nowhere")).output).toMatch(
    /^FAILED +stack +`pulumi config` failed/m,
  );
});

test("while the service hangs, Ctrl-C ends doctor with exit code 130", async () => {
  await using fixture = await Fixture.create({ program: oneInstance() });
  const hanging = fixture.service.control.fault({ kind: "hang", times: "always" });
  const child = spawn(plugin, ["doctor", "--base-url", fixture.service.url], {
    env: {
      PATH: process.env["PATH"],
      COMPUTE_API_TOKEN: tokens.test,
      PULUMI_HOME: fixture.stack.home,
    },
    stdio: "ignore",
  });
  const ended = once(child, "close");
  await hanging.firstHit;
  child.kill("SIGINT");
  expect(await ended).toEqual([130, null]);
});

/** Returns what the plugin prints on a terminal until Ctrl-C, which is sent after the port was printed. */
async function onATerminal(...args: string[]): Promise<string> {
  const line = ["exec", `'${plugin}'`, ...args].join(" ");
  const child = spawn("script", ["-qec", line, "/dev/null"], { stdio: ["pipe", "pipe", "ignore"] });
  let printed = "";
  await new Promise<void>((resolve) => {
    child.stdout.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
      if (/^\d+\r$/m.test(printed)) resolve();
    });
  });
  // The terminal turns this character into the SIGINT that ends the plugin.
  const ended = once(child, "close");
  child.stdin.write("\u0003");
  await ended;
  return printed;
}

testUnless(
  noTerminals,
  "the plugin prints a greeting and the port when started by hand on a terminal, and only the port when started by the engine",
  async () => {
    const greeting = await onATerminal();
    expect(greeting).toMatch(
      /^The compute plugin for Pulumi, [^]*PULUMI_DEBUG_PROVIDERS=compute:(\d+) pulumi up[^]*\n\1\r\n/,
    );
    expect((await onATerminal("127.0.0.1:1")).replaceAll("^C", "")).toMatch(/^\d+\r\n$/);
  },
);
