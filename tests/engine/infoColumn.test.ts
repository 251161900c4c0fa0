/** Tests what a person at a terminal sees of a wait: its line in the Info column, there and in a log, and what Ctrl-C leaves. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "@jest/globals";
import { testUnless } from "../../tools/support/unless";
import { Fixture, never } from "./support/fixture";
import { instances } from "./support/programs";
import { noTerminals } from "./support/processes";
import type { Stack } from "./support/stack";

const up = "pulumi up --yes --skip-preview --color=never";

/** Types a line at a terminal of 100 columns, and waits until `isSeen`. Then lets the instance be ready, and the line end. */
async function typeAtTerminal(
  { stack, control }: Fixture,
  line: string,
  isSeen: () => boolean,
): Promise<void> {
  const atTerminal = "env -u PULUMI_SKIP_CONFIRMATIONS TERM=xterm script -qfec";
  const typed = stack.type(`${atTerminal} 'stty cols 100; ${line}' screen`);
  const tooEarly = typed.then((output) => Promise.reject(new Error(`ended early: ${output}`)));
  while (!isSeen()) await Promise.race([sleep(50), tooEarly]);
  tooEarly.catch(() => undefined);
  control.finishProvisioning();
  expect(await typed).toContain("2 created");
}

/** The times of the wait on the screen, without those at which a log shows it. A log then has at most one, the first. */
function timesOn({ project }: Stack): Set<string> {
  const screen = join(project, "screen");
  const shown = existsSync(screen) ? readFileSync(screen, "utf8") : "";
  const lines = shown.matchAll(/PROVISIONING, (\d+) s of 15 min, i-/g);
  const times = [...lines].map(([, seconds = ""]) => seconds);
  return new Set(times.filter((seconds) => !["10", "20", "40", "60"].includes(seconds)));
}

testUnless(noTerminals, "at a terminal, the time of a wait is seen, and moves", async () => {
  await using fixture = await Fixture.create({ service: never });
  await typeAtTerminal(fixture, up, () => timesOn(fixture.stack).size > 2);
});

testUnless(noTerminals, "with the variable CI, the time does not move each second", async () => {
  await using fixture = await Fixture.create({ service: never });
  const listings = () => fixture.control.counts()["GET /v2/instances"] ?? 0;
  // With a poll interval of 0.2 s, this takes more than three seconds.
  await typeAtTerminal(fixture, `CI=true ${up}`, () => listings() > 20);
  expect(timesOn(fixture.stack).size).toBeLessThan(2);
});

testUnless(
  noTerminals,
  "after one Ctrl-C, twenty waits have twenty-one lines between them (G1)",
  async () => {
    const names = Array.from({ length: 20 }, (_, n) => `web-${n + 1}`);
    const program = instances(Object.fromEntries(names.map((name) => [name, {}])));
    await using fixture = await Fixture.create({ service: never, program });
    const { stack, control } = fixture;
    const terminal = `TERM=xterm script -qfec 'stty cols 100; ${up} --parallel 20' screen <&3`;
    const typed = stack.typeFailing(
      `mkfifo keys && (exec 3<>keys; env -u PULUMI_SKIP_CONFIRMATIONS ${terminal})`,
    );
    const ended = typed.then((output) => Promise.reject(new Error(`ended early: ${output}`)));
    while (control.instances().length < 20) await Promise.race([sleep(50), ended]);
    ended.catch(() => undefined);
    // The terminal turns this character into a SIGINT.
    writeFileSync(join(stack.project, "keys"), "\x03");
    const output = await typed;
    const [, diagnostics = ""] = output.split("Diagnostics:");
    expect(diagnostics.match(/the wait for instance \S+ was canceled/g)).toHaveLength(20);
    expect(diagnostics.match(/It is kept in the state, and the next/g)).toHaveLength(1);
  },
);
