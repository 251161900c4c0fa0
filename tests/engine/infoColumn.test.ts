/** Tests how often the plugin shows a wait in the Info column, at a terminal and in a log. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "@jest/globals";
import { testUnless } from "../../tools/support/unless";
import { Fixture, never } from "./support/fixture";
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
