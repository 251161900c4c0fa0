/** The terminal that a command prints to, and the findings and counts that several commands print. */
import { Redactor } from "../redaction";

/** The terminal and the environment of a command. Tests pass a Terminal that keeps the lines instead of printing them. */
export interface Terminal {
  /** Prints one line to stdout. Secrets are redacted, since no output may show them (G8). */
  print: (line: string) => void;
  /** Prints one redacted line to stderr. Everything but the result of the command goes there. */
  warn: (line: string) => void;
  /** Hides the secrets in all output. */
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
  // Redaction also removes control characters. It comes before JSON escapes the strings, because a JSON reader
  // would restore them.
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
  /** What the check found. */
  found: string;
  /** The next step. Every problem names one (G9), so each `warning` and `FAILED` has it, and the other results never do. */
  next?: string;
}

/** The result of a check that found nothing wrong. */
export function ok(check: string, found: string): Finding {
  return { check, result: "ok", found };
}

/** The result of a check that found a problem which does not stop `pulumi up`. */
export function warning(check: string, found: string, next: string): Finding {
  return { check, result: "warning", found, next };
}

/** The result of a check that found a problem which stops `pulumi up`. */
export function failed(check: string, found: string, next: string): Finding {
  return { check, result: "FAILED", found, next };
}

/** Writes a number with its noun, for example "1 instance" or "2 instances". */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
