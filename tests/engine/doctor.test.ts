/** What a person runs by hand, through the built executable: exit codes, the real `pulumi`, no secret anywhere. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "@jest/globals";
import { testUnless } from "../../tools/support/unless";
import { oneInstance } from "./support/programs";
import { plugin, tokens } from "./support/stack";
import { noTerminals } from "./support/processes";
import { Fixture } from "./support/fixture";

test("doctor of a stack: its own configuration and engine; 0 when well, 1 when not", async () => {
  await using fixture = await Fixture.create({ program: oneInstance(), token: null });
  const { stack, service } = fixture;
  const doctor = (line: string) => stack.type(`'${plugin}' doctor ${line}`);
  const none = await doctor("--stack dev");
  expect(none.output).toMatch(/^FAILED +token +it is not set in COMPUTE_API_TOKEN/m);
  expect(none.code).toBe(1);

  // By a pipe: what a shell is given to type is searched for secrets, too.
  stack.setEnv("TOKEN_TO_SET", tokens.test);
  await stack.type('printf %s "$TOKEN_TO_SET" | pulumi config set --secret compute:apiToken');
  const well = await doctor("--stack dev");
  expect(well.output).toMatch(/^ok +stack +dev: 4 settings of compute$/m);
  expect(well.output).toMatch(/^ok +token +test: .*\(compute:apiToken\)$/m);
  expect(well.output).toMatch(/^ok +engine +Pulumi \d+\.\d+\.\d+$/m);
  expect(well.output).toMatch(/^All is well\.$/m);
  // eslint-disable-next-line no-control-regex -- no colours where nobody sees them
  expect(well.output).not.toMatch(/\u001b/);
  expect(well.code).toBe(0);
  expect(Object.keys(service.counts()).sort()).toEqual(["GET /v2/account", "GET /v2/instances"]);

  expect((await doctor("--stack nowhere")).output).toMatch(
    /^FAILED +stack +`pulumi config` failed/m,
  );
});

test("Ctrl-C ends a doctor whose service hangs, with 130", async () => {
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

/** All it says on a terminal until its port is there and it was told to end. */
async function onATerminal(...args: string[]): Promise<string> {
  const line = ["exec", `'${plugin}'`, ...args].join(" ");
  const child = spawn("script", ["-qec", line, "/dev/null"], { stdio: ["pipe", "pipe", "ignore"] });
  let said = "";
  await new Promise<void>((resolve) => {
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (/^\d+\r$/m.test(said)) resolve();
    });
  });
  // Once it serves, Ctrl-C ends it; the terminal passes that on.
  const ended = once(child, "close");
  child.stdin.write("\u0003");
  await ended;
  return said;
}

testUnless(
  noTerminals,
  "started by hand on a terminal it says what it is; started as the engine does, nothing but the port",
  async () => {
    const greeting = await onATerminal();
    expect(greeting).toMatch(
      /^The compute plugin for Pulumi, [^]*PULUMI_DEBUG_PROVIDERS=compute:(\d+) pulumi up[^]*\n\1\r\n/,
    );
    expect((await onATerminal("127.0.0.1:1")).replaceAll("^C", "")).toMatch(/^\d+\r\n$/);
  },
);
