/** Where the words of a command go, and the forms they have in common. */
import { styleText } from "node:util";
import { Redactor } from "../redaction";

export interface Terminal {
  /** Prints one line, cleaned and redacted (G8), after a painted beginning, which is words of ours. */
  print: (line: string, painted?: string) => void;
  /** The same for stderr: what is not the result that was asked for. */
  warn: (line: string) => void;
  /** Gives the text in colour where colours are seen, and as it is elsewhere. */
  paint: (colour: "red" | "yellow" | "green" | "gray", text: string) => string;
  redactor: Redactor;
  env: NodeJS.ProcessEnv;
  /** What the process ends with; a command sets it. */
  exitCode: number;
}

export function processTerminal(): Terminal {
  const redactor = new Redactor();
  return {
    print: (line, painted = "") =>
      void process.stdout.write(`${painted}${redactor.redact(line)}\n`),
    warn: (line) => void process.stderr.write(`${redactor.redact(line)}\n`),
    // It looks at NO_COLOR, and whether stdout is a terminal.
    paint: (colour, text) => styleText(colour, text, { stream: process.stdout }),
    redactor,
    env: process.env,
    exitCode: 0,
  };
}

/** Prints what `--json` asks for. */
export function printData(data: unknown, { print, redactor }: Terminal): void {
  // Cleaned before: what JSON writes as an escape would be a control character again for its reader.
  const redact = (_: string, value: unknown) =>
    typeof value === "string" ? redactor.redact(value) : value;
  for (const line of JSON.stringify(data, redact, 2).split("\n")) print(line);
}

/** "1 instance", "2 instances". */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
