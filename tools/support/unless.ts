/**
 * Tests of what not every machine has. Where it is lacking, the title says what, and `npm test` repeats
 * the title at its end.
 */
import { describe, test } from "@jest/globals";

type Lack = string | undefined;

export function testUnless(lack: Lack, title: string, body: () => Promise<void> | void): void {
  if (lack === undefined) test(title, body);
  else test.skip(titled(title, lack), body);
}

export function describeUnless(lack: Lack, title: string, tests: () => void): void {
  if (lack === undefined) describe(title, tests);
  else describe.skip(titled(title, lack), tests);
}

const titled = (title: string, lack: string) => `${title} (skipped: ${lack})`;
