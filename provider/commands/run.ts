/** From a command line that a person typed to an exit code; loaded only for that. */
import { styleText } from "node:util";
import metadata from "../../metadata.json";
import { defect } from "../errors";
import { executable } from "../executable";
import { closest } from "../property/closest";
import { Cleaner } from "../text";
import { parse, sayable, type Terminal, WrongUsage } from "./command";
import { commandHelp, generalHelp, usage, whatItIs } from "./help";
import { commands } from "./table";

const helpFlags: readonly string[] = ["--help", "-h"];

/** 0: done; 1: something is wrong; 2: wrong usage; 70: a defect of ours. Ctrl-C ends it with 130. */
export async function runByHand([name = "", ...args]: readonly string[]): Promise<number> {
  process.on("SIGINT", () => process.exit(130));
  // The reader of a pipe may have had enough.
  process.stdout.on("error", () => process.exit(1));
  const print = (line: string) => void process.stdout.write(`${line}\n`);

  if (name === "--version") {
    print(metadata.version);
    return 0;
  }
  if (name === "help" || helpFlags.includes(name)) {
    generalHelp().forEach(print);
    return 0;
  }
  const entry = commands.find((it) => it.name === name);
  if (!entry) return wrong(noSuchCommand(name), `See ${executable} --help`);

  const command = await entry.load();
  if (args.some((argument) => helpFlags.includes(argument))) {
    commandHelp(entry, command).forEach(print);
    return 0;
  }
  const by = terminal();
  try {
    return await command.run(parse(command, args), by);
  } catch (error) {
    if (error instanceof WrongUsage)
      return wrong(error.message, `${usage(name, command)} (see --help)`);
    // Not 1, which for some commands is a finding.
    by.warn(defect(String(error)));
    return 70;
  }
}

/** What this is, and what to do with it; not on stdout, which is for the port. */
export function greet(port: number): void {
  const lines = [
    whatItIs(),
    "To try it as it runs here, in the folder of a program:",
    `  PULUMI_DEBUG_PROVIDERS=${metadata.name}:${port} pulumi up`,
    `Ctrl-C ends it. ${executable} doctor checks the settings; --help shows all it can do by hand.`,
  ];
  process.stderr.write(`${lines.join("\n")}\n`);
}

function noSuchCommand(name: string): string {
  if (!sayable(name)) return "There is no such command.";
  const near = closest(
    name,
    commands.map((it) => it.name),
  );
  return `There is no command "${name}"${near ? `; did you mean ${near}?` : "."}`;
}

function wrong(...lines: string[]): number {
  process.stderr.write(`${lines.join("\n")}\n`);
  return 2;
}

function terminal(): Terminal {
  const cleaner = new Cleaner();
  return {
    print: (line, painted = "") => void process.stdout.write(`${painted}${cleaner.clean(line)}\n`),
    warn: (line) => void process.stderr.write(`${cleaner.clean(line)}\n`),
    // It looks at NO_COLOR, and whether stdout is a terminal.
    paint: (colour, text) => styleText(colour, text, { stream: process.stdout }),
    cleaner,
    env: process.env,
  };
}
