/** The terminal of a command, and what several commands print. */
import { Redactor } from "../redaction";

/** The terminal and the environment of a command. */
export interface Terminal {
  /** Prints one line of the command's result to stdout, without secrets (G8). */
  print: (line: string) => void;
  /** Prints one line of anything else to stderr, without secrets. */
  warn: (line: string) => void;
  redactor: Redactor;
  env: NodeJS.ProcessEnv;
  /** The exit code of the process, which the command sets. */
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
  // Redaction also removes control characters, which JSON would escape and a JSON reader restore. So it comes first.
  const redact = (_: string, value: unknown) =>
    typeof value === "string" ? redactor.redact(value) : value;
  for (const line of JSON.stringify(data, redact, 2).split("\n")) print(line);
}

/** The result of one check of `doctor`. */
export interface Finding {
  /** The name of the check, such as "base URL". */
  check: string;
  /** After a `warning`, `pulumi up` still works. After a `FAILED`, it does not. */
  result: "ok" | "warning" | "FAILED" | "skipped";
  found: string;
  /** The next step (G9). Each `warning` and each `FAILED` has one, and no other result does. */
  next?: string;
}

/** A check that found nothing wrong. */
export function ok(check: string, found: string): Finding {
  return { check, result: "ok", found };
}

/** A check that found a problem which does not stop `pulumi up`. */
export function warning(check: string, found: string, next: string): Finding {
  return { check, result: "warning", found, next };
}

/** A check that found a problem which stops `pulumi up`. */
export function failed(check: string, found: string, next: string): Finding {
  return { check, result: "FAILED", found, next };
}

/** Writes a number with its noun: "1 instance", "2 instances". */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
