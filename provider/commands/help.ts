/** What `--help` prints, of the plugin and of each command: made from the table and from their options. */
import metadata from "../../metadata.json";
import { executable } from "../executable";
import type { Command, Option } from "./command";
import { type Entry, commands } from "./table";

export function whatItIs(): string {
  return `The ${metadata.name} plugin for Pulumi, ${metadata.version}. Pulumi starts it by itself.`;
}

export function generalHelp(): string[] {
  return [
    whatItIs(),
    "",
    "By hand:",
    ...columns(
      [
        ...commands.map(({ name, help }): Row => [name, help]),
        ["COMMAND --help", "what a command takes"],
        ["--version", "print the version"],
        [
          "",
          "serve, for PULUMI_DEBUG_PROVIDERS=compute:PORT (the environment that counts is then the one given here)",
        ],
      ].map(([what = "", help = ""]): Row => [`${executable} ${what}`.trimEnd(), help]),
    ),
  ];
}

export function commandHelp({ name, help }: Entry, command: Command): string[] {
  const options = Object.entries(command.options ?? {});
  return [
    `${usage(name, command)}`,
    "",
    `${help.charAt(0).toUpperCase()}${help.slice(1)}.`,
    ...(options.length > 0
      ? ["", ...columns(options.map(([key, it]) => [flag(key, it), it.help]))]
      : []),
    ...(command.exitCodes
      ? ["", "It ends with:", ...columns(Object.entries(command.exitCodes))]
      : []),
  ];
}

export function usage(name: string, { positionals, options = {} }: Command): string {
  const more = Object.keys(options).length > 0 ? "[OPTIONS]" : undefined;
  return ["Usage:", executable, name, more, positionals].filter(Boolean).join(" ");
}

function flag(name: string, { value, multiple }: Option): string {
  return `--${name}${value ? ` ${value}` : ""}${multiple ? " …" : ""}`;
}

type Row = readonly [what: string, help: string];

/** Two columns; the second is broken into lines that a terminal shows whole. */
function columns(rows: readonly Row[]): string[] {
  const width = Math.max(...rows.map(([what]) => what.length)) + 2;
  return rows.flatMap(([what, help]) => {
    const lines = wrapped(help, Math.max(40, 98 - width));
    return lines.map((line, n) => `  ${(n === 0 ? what : "").padEnd(width)}${line}`);
  });
}

function wrapped(text: string, most: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length > most) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}
