/**
 * Tests `probe` as a process: ended at each step, it destroys what it has made, and at a terminal a new user gets from it the settings
 * with which `pulumi up` and `pulumi destroy` work.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { pluginRun } from "../../provider/advice";
import { shellQuote } from "../../provider/shellQuote";
import { startEmulator, type Emulator, type FaultScript } from "../../emulator";
import { testUnless } from "../../tools/support/unless";
import { creates, destroyPath, destroys, lists } from "./support/fixture";
import { installedFixture, onlyPulumi } from "./support/installedPlugin";
import { noTerminals } from "./support/processes";
import { plugin, tokens, type Stack } from "./support/stack";

const ids = ["--flavor", "standard-2", "--image", "debian-12", "--vpc", "vpc-main"];
const pace = ["--settling-seconds", "3", "--poll-interval-seconds", "0.5"];

/** Starts `probe` with the built plugin. */
function start({ url }: Emulator) {
  return spawn(plugin, ["probe", "--yes", "--base-url", url, ...ids, ...pace], {
    env: { PATH: process.env["PATH"], COMPUTE_API_TOKEN: tokens.test },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

const hang = { kind: "hang" } as const;

/** The request at which `probe` is ended, and whether its answer still comes. Listings are counted from the first on. */
const moments: [string, FaultScript, "answered" | "lost"][] = [
  ["in the account call", { ...hang, path: "/v2/account" }, "lost"],
  ["before its first POST", { ...hang, ...lists, after: 2 }, "lost"],
  ["in its first POST", { ...hang, ...creates, acted: true }, "answered"],
  ["in its first POST, whose answer never comes", { ...hang, ...creates, acted: true }, "lost"],
  ["while it waits for the instance", { ...hang, ...lists, after: 3 }, "lost"],
  ["in its second POST", { ...hang, ...creates, acted: true, after: 1 }, "answered"],
  ["while it looks at the order", { ...hang, ...lists, after: 5 }, "lost"],
  ["while it looks for the cursor", { ...hang, ...lists, after: 9 }, "lost"],
  ["in its first DELETE", { ...hang, ...destroys }, "lost"],
  ["in the DELETE of its instance", { ...hang, ...destroys, after: 1, acted: true }, "lost"],
];

test.each(moments)(
  "ended %s, probe leaves no instance, and says nothing more",
  async (_, fault, answer) => {
    await using service = await startEmulator({ provisioningSeconds: 0, destroyPath });
    const hanging = service.control.fault(fault);
    using child = start(service);
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    const closed = once(child, "close");
    await hanging.firstHit;
    const before = output;

    child.kill("SIGINT");
    if (answer === "answered") {
      // The signal has to arrive first.
      await sleep(300);
      hanging.release();
    }

    expect(await closed).toEqual([130, null]);
    expect(service.control.instances()).toEqual([]);
    expect(output.slice(before.length)).not.toMatch(/destroyed|Settings that follow/);
  },
);

test.each(["SIGINT", "SIGKILL"] as const)(
  "after a %s to `pulumi plugin run`, probe destroys what it has made",
  async (signal) => {
    await using fixture = await installedFixture({
      service: { provisioningSeconds: Infinity, destroyPath },
    });
    const { stack } = fixture;
    const words = [...pluginRun.split(" ").slice(1), "probe", "--yes", ...ids, ...pace];
    const env = { ...stack.env, PATH: onlyPulumi(fixture) };
    using pulumi = spawn("pulumi", words, {
      env,
      cwd: stack.project,
      stdio: ["pipe", "pipe", "ignore"],
    });
    const ended = once(pulumi, "exit");
    for await (const text of pulumi.stdout.setEncoding("utf8"))
      if (String(text).includes("made ")) break;
    expect(fixture.ids()).toHaveLength(1);

    pulumi.kill(signal);

    await ended;
    while (fixture.ids().length > 0) await sleep(50);
  },
);

/** Types a line at a terminal of 100 columns, and `answer` at its question. Returns what the terminal shows. */
async function atTerminal(stack: Stack, line: string, answer: string): Promise<string> {
  const typed = `stty cols 100; ${line}; echo "exit code $?"`;
  const { project: cwd, env } = stack;
  const child = spawn("script", ["-qfc", typed, "/dev/null"], { cwd, env });
  let output = "";
  let isAsked = false;
  for await (const text of child.stdout.setEncoding("utf8")) {
    output += String(text);
    if (isAsked || !output.includes("[y/N]")) continue;
    isAsked = true;
    child.stdin.write(`${answer}\n`);
  }
  return output.replaceAll("\r", "");
}

testUnless(
  noTerminals,
  "a new user types probe at a terminal, answers its question, and types its commands: then pulumi destroy ends the server",
  async () => {
    await using fixture = await installedFixture({
      service: { cursorParameter: "after", destroyPath },
    });
    const { stack, control } = fixture;
    const line = `PATH=${shellQuote(onlyPulumi(fixture))}:$PATH; ${pluginRun} probe ${ids.join(" ")}`;

    const declined = await atTerminal(stack, line, "n");
    expect(declined).toMatch(/Not found out:[^]*create +no instance was to be made[^]*exit code 1/);
    expect(fixture.posts()).toBe(0);

    const table = await atTerminal(stack, line, "y");
    expect(table).toMatch(/^made +i-\w+ "probe-\w+"$/m);
    expect(table).toContain("exit code 0");
    const isAddress = (text: string) => /^ +(→ )?https:\S+$/.test(text);
    expect(table.split("\n").filter((text) => text.length > 100 && !isAddress(text))).toEqual([]);
    expect(control.instances()).toEqual([]);
    const commands = table.match(/(?<=^ {2})pulumi config set .*$/gm) ?? [];
    expect(commands).toHaveLength(2);
    for (const command of commands) await stack.type(command);

    await stack.up();
    expect(fixture.ids()).toHaveLength(1);
    await stack.destroy();
    expect(fixture.ids()).toEqual([]);
  },
);
