/** What cloud-init can't use in a cloud-config, and in its YAML. Nothing here quotes the text, because it is secret (G8). */
import type * as jsYaml from "js-yaml";
import { closest } from "../closest";
import { cloudConfigKeys } from "./cloudConfigKeys";

/** Why cloud-init can't use user data, as a clause, and what to do about it, in sentences. */
export interface Unusable {
  why: string;
  remedy: string;
  /** Set if it uses the rest. */
  partly?: true;
}

type Parser = typeof jsYaml;

/** A value in YAML with its source, and where in that some keys begin. */
export interface Yaml {
  value: unknown;
  source: string;
  /** Of the outermost mapping. */
  keys: { name: string; offset: number }[];
  /** The first key of any mapping that stands in it twice: both places. */
  repeated?: readonly [first: number, second: number];
}

/** Says why cloud-init can't use this text, or parts of it, as a cloud-config. */
export async function cloudConfigProblems(text: string): Promise<Unusable[]> {
  return problemsOfConfig(await readYaml(text), text);
}

/** Says the same of a text that `readYaml` has read. */
export function problemsOfConfig(yaml: Yaml | Unusable[], text: string): Unusable[] {
  if (Array.isArray(yaml)) return yaml;
  const { value } = yaml;
  if (value === null) {
    // A cloud-config that has a header and nothing else was meant so.
    return text.split(/[\r\n]/).some((line) => /^\s*#cloud-config\s*$/i.test(line))
      ? []
      : [
          {
            why: "it is empty, or has only comments",
            remedy: "Give it its keys, or leave it out.",
          },
        ];
  }
  if (typeof value !== "object" || Array.isArray(value)) {
    const why = "its YAML is not a mapping of keys to values";
    return [{ why, remedy: "Begin each line at the margin with a key, such as `packages:`." }];
  }
  const problems = listProblems(new Map(Object.entries(value)), yaml);
  return [...unknownKeys(yaml), ...repeatedKey(yaml), ...problems];
}

/** Says which key stands twice in one mapping. cloud-init takes the last, and says nothing. */
export function repeatedKey({ repeated, source }: Yaml): Unusable[] {
  if (!repeated) return [];
  const [first, second] = repeated.map((offset) => lineOf(source, offset));
  const why = `line ${second} repeats the key in line ${first}, whose value is lost`;
  return [{ partly: true, why, remedy: "Put both values below one key." }];
}

/** Keys whose value has to be a list: cloud-init loses all of any other value. */
const lists = ["bootcmd", "runcmd", "ssh_authorized_keys", "write_files"];

/** Says which of these keys have no list, or a list of commands with what is none: `- echo a: b` is a mapping. */
function listProblems(config: ReadonlyMap<string, unknown>, { keys, source }: Yaml): Unusable[] {
  // Of two equal keys, the last counts.
  const offsets = new Map(keys.map(({ name, offset }) => [name, offset]));
  const found = [...offsets].filter(([name]) => lists.includes(name));
  return found.flatMap(([name, offset]) => {
    const value = config.get(name) ?? [];
    const place = `${name}, which begins in line ${lineOf(source, offset)},`;
    if (!Array.isArray(value)) {
      const remedy = "Begin each of its items in a line of its own, with `- `.";
      return [{ partly: true, why: `${place} is no list, so all of it is lost`, remedy }];
    }
    const isCommand = (item: unknown) =>
      item === null || typeof item === "string" || Array.isArray(item);
    const wrong = name.endsWith("cmd") ? value.findIndex((item) => !isCommand(item)) : -1;
    if (wrong < 0) return [];
    const why = `item ${wrong + 1} of ${place} is no command, so none of them runs`;
    const remedy = "Put the command in quotes, so that YAML reads it as text.";
    return [{ partly: true, why, remedy }];
  });
}

/** How many keys a warning has, at most. */
const maxKeys = 5;

/** The keys are not named: one that stands at the margin by mistake may be secret. */
function unknownKeys({ keys, source }: Yaml): Unusable[] {
  const unknown = keys.filter(({ name }) => !cloudConfigKeys.includes(name));
  if (unknown.length === 0) return [];
  const first = unknown
    .slice(0, maxKeys)
    .map(({ name, offset }) => ({ name, line: lineOf(source, offset) }));
  const hints = first.flatMap(({ name, line }) => {
    const known = closest(name, cloudConfigKeys);
    return known === undefined ? [] : [`Line ${line}: did you mean ${known}?`];
  });
  const what = unknown.length === 1 ? "key in line" : "keys in lines";
  const more = unknown.length > first.length ? ", …" : "";
  const why = `it does not know the top-level ${what} ${first.map(({ line }) => line).join(", ")}${more}`;
  const remedy = hints.join(" ") || "Correct its name, or indent it below its key.";
  return [{ partly: true, why, remedy }];
}

/** How many lines `readYaml` rewrites before it gives up. */
const maxRewritten = 50;

/**
 * Reads the YAML as cloud-init's parser does: YAML 1.1, where the last of two equal keys counts, and what is in quotes or
 * brackets needs no indentation, and a comment after them no space. In brackets, a `-` alone is a text. Returns what is wrong with
 * YAML that the parser does not take, or nothing if that can't be judged.
 */
export async function readYaml(text: string): Promise<Yaml | Unusable[]> {
  const parser = await import("js-yaml");
  // These end a line, too, in YAML 1.1.
  const lines = text.split(/\r\n|[\n\r\u0085\u2028\u2029]/);
  for (let rewritten = 0; rewritten < maxRewritten; rewritten++) {
    const source = lines.join("\n");
    try {
      return yamlIn(source, parser);
    } catch (error) {
      if (!(error instanceof parser.YAMLException)) return [];
      const { mark } = error;
      const line = lines[mark?.line ?? 0] ?? "";
      const eased = ease(line, error);
      if (!mark || eased === line) return [invalid(source, mark?.line)];
      lines[mark.line] = eased;
    }
  }
  return [];
}

/** Rewrites a line of which only this parser complains. */
function ease(line: string, { reason, mark }: jsYaml.YAMLException): string {
  const before = line.slice(0, mark?.column);
  const after = line.slice(before.length);
  if (reason === "deficient indentation") return before.trim() === "" ? `  ${line}` : line;
  if (/^-\s*(?:[,\]}]|$)/.test(after)) return `${before}"-"${after.slice(1)}`;
  return line.replace(/(?<=[,"'\]}])#/g, " #");
}

/** @throws YAMLException if the parser refuses the YAML */
function yamlIn(source: string, parser: Parser): Yaml | Unusable[] {
  const events = parser.parseEvents(source, {});
  const tab = lineOfTab(parser, events, source);
  if (tab !== undefined) {
    const remedy = "Replace it with spaces, or put the text in quotes.";
    return [{ why: `a tab is where YAML allows none (line ${tab})`, remedy }];
  }
  // In YAML 1.1, the name of an anchor has only letters, digits, - and _, which this parser does not check.
  for (const event of events) {
    if (!("anchorStart" in event)) continue;
    const { anchorStart, anchorEnd } = event;
    if (!/[^\w-]/.test(source.slice(anchorStart, anchorEnd))) continue;
    const why = `it is not valid YAML (line ${lineOf(source, anchorStart)})`;
    return [{ why, remedy: "Put a text that begins with & or * in quotes." }];
  }
  const options = { source, schema: parser.YAML11_SCHEMA, json: true };
  const documents = parser.constructFromEvents(events, options);
  if (documents.length > 1) {
    return [{ why: "it has more than one YAML document", remedy: "Join them into one." }];
  }
  return { value: documents[0] ?? null, source, ...keysIn(parser, events, source) };
}

/** In YAML 1.1, tabs are only in quotes, blocks of text and comments. */
function lineOfTab(
  { EVENT_ID, SCALAR_STYLE }: Parser,
  events: readonly jsYaml.Event[],
  source: string,
): number | undefined {
  if (!source.includes("\t")) return undefined;
  let rest = "";
  let end = 0;
  for (const event of events) {
    if (event.type !== EVENT_ID.SCALAR || event.style === SCALAR_STYLE.PLAIN) continue;
    rest += source.slice(end, event.valueStart);
    rest += source.slice(event.valueStart, event.valueEnd).replace(/[^\n]/g, "x");
    end = event.valueEnd;
  }
  rest += source.slice(end);
  const offset = rest
    .replace(/(?<=^|[ \t])#.*/gm, "")
    .split("\n")
    .findIndex((line) => line.includes("\t"));
  return offset < 0 ? undefined : offset + 1;
}

/** @param index of the line, from 0. It is the first line if the parser does not know it, which has the header. */
function invalid(source: string, index = 0): Unusable {
  // This is a mapping as a key, which the parser finds only when it has read everything.
  const brace = /^[^#\n]*\{\s*\{/m.exec(source);
  const braceLine = brace ? lineOf(source, brace.index) : undefined;
  const line = index > 0 ? index + 1 : braceLine;
  const place = line === undefined ? "" : ` (line ${line})`;
  return {
    why: `it is not valid YAML${place}`,
    remedy:
      line !== undefined && line === braceLine
        ? "Text in {{ }} is filled in only if the first line is `## template: jinja`."
        : "Correct that line, or one above it.",
  };
}

function lineOf(source: string, offset: number): number {
  return source.slice(0, offset).split("\n").length;
}

/** Finds the keys. In a mapping, the events are in the order of the text: a key, its value, a key, … */
function keysIn(
  { EVENT_ID, getScalarValue }: Parser,
  events: readonly jsYaml.Event[],
  source: string,
): Pick<Yaml, "keys" | "repeated"> {
  const found: Pick<Yaml, "keys" | "repeated"> = { keys: [] };
  /** What is open: the document, and mappings and lists. `offsets` has the keys of a mapping so far. */
  const open: { offsets: Map<string, number> | undefined; isKey: boolean }[] = [];
  for (const event of events) {
    const inside = open.at(-1);
    if (event.type === EVENT_ID.POP) open.pop();
    else if (event.type !== EVENT_ID.SCALAR && event.type !== EVENT_ID.ALIAS)
      open.push({ offsets: event.type === EVENT_ID.MAPPING ? new Map() : undefined, isKey: true });
    if (event.type === EVENT_ID.POP || !inside?.offsets) continue;
    const isKey = inside.isKey && event.type === EVENT_ID.SCALAR;
    inside.isKey = !inside.isKey;
    const name = isKey ? getScalarValue(source, event) : undefined;
    // A merge key brings in keys, and is none.
    if (!isKey || name === undefined || name === "<<") continue;
    const { valueStart: offset } = event;
    const before = inside.offsets.get(name);
    if (before !== undefined) found.repeated ??= [before, offset];
    inside.offsets.set(name, offset);
    if (open.length === 2) found.keys.push({ name, offset });
  }
  return found;
}
