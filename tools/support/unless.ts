/** Declares tests that need a program. The title of a skipped test says what is missing. */
import { execFileSync } from "node:child_process";
import { describe, test } from "@jest/globals";
import { onPath } from "./onPath";

/** What is missing, as a sentence. Undefined if nothing is. */
type Reason = string | undefined;

export function missingGo(): Reason {
  return onPath("go") === undefined ? "there is no Go on this machine" : undefined;
}

export function missingCommand(...names: string[]): Reason {
  const missing = names.filter((name) => onPath(name) === undefined);
  return missing.length > 0 ? `there is no ${missing.join(", ")} on this machine` : undefined;
}

/** A test of what only POSIX systems have: signals from another process, and scripts that are programs. Skipped on Windows. */
export const posixTest = process.platform === "win32" ? test.skip : test;

/** With venv, which some systems install separately. */
export function missingPython(): Reason {
  try {
    execFileSync("python3", ["-c", "import ensurepip, venv"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "there is no Python 3 with venv on this machine";
  }
}

export function testUnless(reason: Reason, title: string, body: () => Promise<void> | void): void {
  if (reason === undefined) test(title, body);
  else test.skip(skippedTitle(title, reason), body);
}

export function describeUnless(reason: Reason, title: string, tests: () => void): void {
  if (reason === undefined) describe(title, tests);
  else describe.skip(skippedTitle(title, reason), tests);
}

const skippedTitle = (title: string, reason: string) => `${title} (skipped: ${reason})`;
