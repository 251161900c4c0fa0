/** The terminal of a command, and what several commands print: data, findings, problems, numbers. */
import { systemClock } from "../provider/clock";
import type { ProviderContext, Text } from "../provider/context";
import { OperationFailed } from "../provider/errors";
import { Redactor } from "../provider/redaction";

/** The terminal and the environment of a command. Messages of the provider go to stderr. */
export interface Terminal extends ProviderContext {
  /** Prints one line of the command's result to stdout, without secrets (G8). */
  print: (line: string) => void;
  /** Prints one line of anything else to stderr, without secrets. */
  warn: (line: string) => void;
  /**
   * Asks a question, and returns whether the answer is yes. Returns undefined, without asking, if no person is at a terminal.
   */
  ask: (question: string) => Promise<boolean | undefined>;
  /** From the first call on, what would end the process (a signal, a reader that is gone) aborts this signal instead. */
  outlive: () => AbortSignal;
  /** The exit code of the process, which the command sets. */
  exitCode: number;
}

/**
 * Makes a terminal that redacts each line, and passes it on to `stdout` or `stderr`. `readLine` returns the next line that a
 * person types, and is missing if nobody can. `outlive`: as in `Terminal`. The default is that nothing ends the process.
 */
export function createTerminal(
  env: NodeJS.ProcessEnv,
  stdout: (line: string) => void,
  stderr: (line: string) => void,
  readLine?: () => Promise<string>,
  outlive = () => new AbortController().signal,
): Terminal {
  const redactor = new Redactor();
  const print = (line: string) => stdout(redactor.redact(line));
  const warn = (line: string) => stderr(redactor.redact(line));
  const inform = (text: Text) => [text].flat().forEach(warn);
  const warning = (text: Text) => {
    const [first, ...more] = [text].flat();
    inform([`warning: ${first}`, ...more]);
  };
  const ignore = () => undefined;
  const messages = { status: ignore, debug: ignore, info: inform, warning };
  const ask = async (question: string) => {
    if (!readLine) return undefined;
    // On stdout, beside the lines that it is about: `pulumi plugin run` prints stdout and stderr in any order. It also keeps the pipe
    // to this process open after Ctrl-D, so only Ctrl-C ends the question.
    print(`${question} [y/N] (Ctrl-C ends this, without a change)`);
    return /^y(es)?$/i.test((await readLine()).trim());
  };
  return { print, warn, messages, ask, outlive, redactor, clock: systemClock, env, exitCode: 0 };
}

/** Prints the result of a command as JSON (`--json`). */
export function printData(data: unknown, { print, redactor }: Terminal): void {
  // Redaction also removes control characters, which JSON would escape and a JSON reader restore. So it comes first.
  const redact = (_: string, value: unknown) =>
    typeof value === "string" ? redactor.redact(value) : value;
  for (const line of JSON.stringify(data, redact, 2).split("\n")) print(line);
}

/** What one check found. After a `FAILED`, `pulumi up` can't work. After a `warning` it may, perhaps not as a person expects. */
export interface Finding {
  result: "ok" | "warning" | "FAILED";
  check: string;
  found: string;
  /** The next step, which a warning and a failure have (G9). */
  next?: string;
}

/** Makes a finding that needs no action. */
export function ok(check: string, found: string): Finding {
  return { check, result: "ok", found };
}

/** Makes a finding that does not prevent `pulumi up`. */
export function warning(check: string, found: string, next: string): Finding {
  return { check, result: "warning", found, next };
}

/** Makes a finding with which `pulumi up` can't work. */
export function failed(check: string, found: string, next: string): Finding {
  return { check, result: "FAILED", found, next };
}

/** A problem with the next step. */
export class Problem extends OperationFailed {
  constructor(
    readonly found: string,
    readonly next: string,
  ) {
    super([found, `→ ${next}`]);
  }
}

/**
 * Lets a `catch` make a value of a `Problem`.
 *
 * @throws any other error
 */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  throw error;
}

/**
 * Does `act`.
 *
 * @throws Problem with this finding and this next step if that fails
 */
export function orProblem(act: () => void, found: string, next: string): void {
  try {
    act();
  } catch (error) {
    throw new Problem(`${found}: ${(error as Error).message}`, next);
  }
}

/** Writes a number with its noun: "1 instance", "2 instances". */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
