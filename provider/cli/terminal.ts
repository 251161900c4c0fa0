/** Where the output of a command goes, and what the commands print alike. */
import { Redactor } from "../redaction";

/** The terminal and the environment of a command; tests bring their own. */
export interface Terminal {
  /** Prints one redacted line to stdout (G8). */
  print: (line: string) => void;
  /** Prints one redacted line to stderr: everything but the result that was asked for. */
  warn: (line: string) => void;
  redactor: Redactor;
  env: NodeJS.ProcessEnv;
  /** The exit code of the process; a command sets it. */
  exitCode: number;
}

/** The terminal of this process. */
export function processTerminal(): Terminal {
  const redactor = new Redactor();
  return {
    print: (line) => void process.stdout.write(`${redactor.redact(line)}\n`),
    warn: (line) => void process.stderr.write(`${redactor.redact(line)}\n`),
    redactor,
    env: process.env,
    exitCode: 0,
  };
}

/** Prints the result of a command as JSON (`--json`). */
export function printData(data: unknown, { print, redactor }: Terminal): void {
  // Each text is redacted before JSON escapes it: a JSON reader would turn the escape of a control
  // character into that character again.
  const redact = (_: string, value: unknown) =>
    typeof value === "string" ? redactor.redact(value) : value;
  for (const line of JSON.stringify(data, redact, 2).split("\n")) print(line);
}

/** The result of one check of `doctor`. */
export interface Finding {
  check: string;
  /** With a `warning`, `pulumi up` still works. With `FAILED`, it does not. */
  result: "ok" | "warning" | "FAILED" | "skipped";
  found: string;
  /** What to do: a `warning` and a `FAILED` always have it (G9), the others never. */
  next?: string;
}

/** A check that found nothing wrong. */
export function ok(check: string, found: string): Finding {
  return { check, result: "ok", found };
}

/** A check that found something, with which `pulumi up` still works. */
export function warning(check: string, found: string, next: string): Finding {
  return { check, result: "warning", found, next };
}

/** A check that found why `pulumi up` can't work. */
export function failed(check: string, found: string, next: string): Finding {
  return { check, result: "FAILED", found, next };
}

/** For example "1 instance" or "2 instances". */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
