/** What a command is: one file of this folder, with its options, which its help is made from, and its work. */
import { parseArgs, type ParseArgsOptionDescriptor } from "node:util";
import { closest } from "../property/closest";
import type { Cleaner } from "../text";

export interface Option extends Pick<ParseArgsOptionDescriptor, "type"> {
  /** What stands for the value in the help, like NAME. */
  value?: string;
  /** May be given again, for one value more. */
  multiple?: true;
  help: string;
}

export interface Command {
  /** What follows the name, as the help shows it: `[URN]`. */
  positionals?: string;
  /** How many of them there may be. */
  mostPositionals?: number;
  options?: Readonly<Record<string, Option>>;
  /** What each exit code means, where that is more than what a command's exit code always means. */
  exitCodes?: Readonly<Record<number, string>>;
  /** Gives the exit code: 0, or 1 when something is wrong; what others mean, its help says. */
  run(given: Given, by: Terminal): Promise<number>;
}

/** The arguments of a command. */
export interface Given {
  values: Readonly<Record<string, string | boolean | undefined>>;
  /** What was given of the options that may be given again, in that order. */
  lists: Readonly<Record<string, readonly string[]>>;
  positionals: readonly string[];
}

/** Who runs a command, and where its words go. */
export interface Terminal {
  /** One line, cleaned and redacted on its way (G8), after a painted beginning, which is words of ours. */
  print: (line: string, painted?: string) => void;
  /** The same for stderr: what is not the result that was asked for. */
  warn: (line: string) => void;
  /** In colour where colours are seen; else the text as it is. */
  paint: (colour: "red" | "yellow" | "green" | "gray", text: string) => string;
  cleaner: Cleaner;
  env: NodeJS.ProcessEnv;
}

/** The command line is wrong. The message repeats none of its values: one may be the token (G8). */
export class WrongUsage extends Error {
  override readonly name = "WrongUsage";
}

/** @throws WrongUsage */
export function parse(command: Command, args: readonly string[]): Given {
  const { options = {}, mostPositionals = 0 } = command;
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      Object.entries(options).map(([name, { type }]) => [name, { type }]),
    ),
    // What is wrong is said below, in words that repeat no value.
    strict: false,
    tokens: true,
  });
  const lists: Record<string, string[]> = {};
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const { rawName, name, value } = token;
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (!option) throw new WrongUsage(unknown(rawName, Object.keys(options)));
    if (option.type === "string" && (!value || value.startsWith("-")))
      throw new WrongUsage(`${rawName} needs a value.`);
    if (option.type === "boolean" && value !== undefined) {
      throw new WrongUsage(`${rawName} takes no value.`);
    }
    if (option.multiple && value) (lists[name] ??= []).push(value);
  }
  if (positionals.length > mostPositionals) {
    throw new WrongUsage(
      mostPositionals === 0 ? "It takes options only." : `It takes ${command.positionals} only.`,
    );
  }
  return { values, lists, positionals };
}

function unknown(rawName: string, names: readonly string[]): string {
  if (/token/i.test(rawName)) {
    return "The token is never an option, since any program of this machine can read those: give it as COMPUTE_API_TOKEN.";
  }
  const shown = sayable(rawName) ? `There is no option ${rawName}` : "There is no such option";
  const near = closest(rawName.replace(/^-+/, ""), names);
  return `${shown}${near ? `; did you mean --${near}?` : "."}`;
}

/** A word that may be repeated: a token holds capitals, digits or underscores. */
export function sayable(word: string): boolean {
  return /^[a-z-]{1,30}$/.test(word);
}
