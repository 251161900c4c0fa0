/** What cloud-init can't use in one part of user data, which is all of it unless it is a MIME message or an archive. */
import {
  cloudConfigProblems,
  problemsOfConfig,
  readYaml,
  repeatedKey,
  type Unusable,
} from "./cloudConfig";
import { replacedProblems, type ConfigPart } from "./replaced";

/**
 * How each type of part begins, in lower case, and a longer beginning before a shorter one.
 * https://docs.cloud-init.io/en/latest/explanation/format.html
 */
const beginnings = [
  ["#cloud-config-archive", "archive"],
  ["#cloud-config-jsonp", "jsonp"],
  ["#cloud-config", "cloudConfig"],
  ["#cloud-boothook", "boothook"],
  ["#include", "include"], // Also #include-once.
  ["#part-handler", "partHandler"],
  ["## template: jinja", "jinja"],
  ["#!", "script"],
] as const;

/** What a part is for cloud-init. */
export type PartType = (typeof beginnings)[number][1];

/** A part of a message or an archive. */
export interface Part {
  /** Undefined if cloud-init does not know it. */
  type: PartType | undefined;
  text: string;
  /** The names of its headers or, in an archive, of its keys. */
  headers: readonly string[];
}

/** White space to cloud-init, for which a byte order mark is none. */
const leadingSpace = /^[^\S\ufeff]+/;

/**
 * Returns the type of a part by its beginning. cloud-init ignores the case, and white space before it, which a script, a boot hook
 * and a template can't have all the same (`partProblems`).
 */
export function partTypeOf(text: string): PartType | undefined {
  const start = text.replace(leadingSpace, "").slice(0, 64).toLowerCase();
  return beginnings.find(([beginning]) => start.startsWith(beginning))?.[1];
}

/** Says why cloud-init can't use a part. URLs, Python, JSON patches and template syntax are not judged. */
export async function partProblems(type: PartType, text: string): Promise<Unusable[]> {
  switch (type) {
    case "script":
      return scriptProblems(text, text);
    case "boothook":
      return scriptProblems(text.replace(/^#cloud-boothook\s*/, ""), text);
    case "jinja":
      return templateProblems(text);
    case "cloudConfig":
      return cloudConfigProblems(text);
    case "archive":
      return archiveProblems(text);
    case "include":
    case "jsonp":
    case "partHandler":
      return [];
  }
}

/** Linux runs a file only if `#!` are its first two characters. `script`: what is written into the file. */
function scriptProblems(script: string, text: string): Unusable[] {
  if (/^#![ \t]*\S/.test(script)) return [];
  if (leadingSpace.test(text)) return [spaceBefore("so the server can't run the script")];
  const why =
    "its script does not begin with #! and the path of a shell, so the server can't run it";
  return [{ why, remedy: "Begin the script with `#!/bin/sh`." }];
}

function spaceBefore(consequence: string): Unusable {
  return {
    why: `white space or an empty line is before its first line, ${consequence}`,
    remedy:
      "Begin it right after the opening quote, or remove the white space (trimStart, lstrip).",
  };
}

async function templateProblems(text: string): Promise<Unusable[]> {
  if (leadingSpace.test(text)) return [spaceBefore("so cloud-init does not see the template")];
  const [first = ""] = text.split("\n", 1);
  if (!/^## template: *jinja\s*$/i.test(first)) {
    const why = "the first line of its template has more than `## template: jinja`";
    return [{ why, remedy: "Leave only that." }];
  }
  const template = text.slice(first.length + 1);
  const type = partTypeOf(template);
  // What a template makes, only the server knows.
  if (/^\s*(\{[{%#]|$)/.test(template)) return [];
  if (type === undefined || !["cloudConfig", "jsonp", "boothook", "script"].includes(type)) {
    const why = "the line below `## template: jinja` has no header that a template can have";
    return [{ why, remedy: "Put #cloud-config or #!/bin/sh into that line." }];
  }
  return /\{[{%#]/.test(template) ? [] : partProblems(type, template);
}

async function archiveProblems(text: string): Promise<Unusable[]> {
  const yaml = await readYaml(text);
  if (Array.isArray(yaml)) return yaml;
  if (!Array.isArray(yaml.value))
    return [{ why: "its archive is not a list", remedy: "Begin each part with `- type:`." }];
  const parts = (yaml.value as unknown[]).map(entryOf);
  const size = parts.reduce((sum, part) => sum + ("text" in part ? part.text.length : 0), 0);
  // Aliases can make any number of parts of one text.
  if (size > text.length) return [];
  return [...repeatedKey(yaml), ...(await problemsOfParts(parts))];
}

/** Returns what an entry of an archive is to cloud-init, which reads URLs and archives in no archive. */
function entryOf(entry: unknown): Part | [] {
  const given = Object(typeof entry === "string" ? { content: entry } : entry) as object;
  const { content: text, type: declared } = given as { content?: unknown; type?: unknown };
  if (typeof text !== "string") return [];
  const isDeclared = typeof declared === "string" && declared !== "";
  const type = isDeclared ? declaredTypes[declared] : (partTypeOf(text) ?? "cloudConfig");
  const isRead = type !== "archive" && type !== "include";
  return { type: isRead ? type : undefined, text, headers: Object.keys(given) };
}

/** The types that a part of a message or an archive can declare. The others of `text/plain` show what they are. */
const declaredTypes: Readonly<Record<string, PartType>> = {
  "text/cloud-config": "cloudConfig",
  "text/cloud-config-archive": "archive",
  "text/cloud-config-jsonp": "jsonp",
  "text/cloud-boothook": "boothook",
  "text/jinja2": "jinja",
  "text/part-handler": "partHandler",
  "text/x-include-once-url": "include",
  "text/x-include-url": "include",
  "text/x-shellscript": "script",
  "text/x-shellscript-per-boot": "script",
  "text/x-shellscript-per-instance": "script",
  "text/x-shellscript-per-once": "script",
};

/** The types whose parts show by their beginning what they are. */
const typesByBeginning = ["text/plain", "text/x-not-multipart", "text/x-shellscript"];

/** Whether cloud-init itself has a handler for the type of a part of a message. */
export function isKnownType(declared: string): boolean {
  return typesByBeginning.includes(declared) || declaredTypes[declared] !== undefined;
}

/** Returns what a part of a message is to cloud-init. */
export function messagePart(declared: string, text: string, headers: readonly string[]): Part {
  const byBeginning = typesByBeginning.includes(declared) ? partTypeOf(text) : undefined;
  return { type: byBeginning ?? declaredTypes[declared], text, headers };
}

/** Says why cloud-init can't use a part of a message or an archive. */
export async function problemsOfPart(part: Part | Unusable[]): Promise<Unusable[]> {
  if (Array.isArray(part)) return part;
  const { type, text } = part;
  if (type !== undefined) return partProblems(type, text);
  if (text === "") return [];
  const why = "cloud-init does not know its type, or how it begins";
  return [{ why, remedy: "Give it a type such as text/cloud-config or text/x-shellscript." }];
}

/** Returns what is wrong with each part, and says in which part, and then what a part loses by another. */
export async function problemsOfParts(parts: readonly (Part | Unusable[])[]): Promise<Unusable[]> {
  const found: Unusable[] = [];
  const configs: ConfigPart[] = [];
  for (const [index, part] of parts.entries()) {
    const number = index + 1;
    const isConfig = "type" in part && part.type === "cloudConfig";
    const yaml = isConfig ? await readYaml(part.text) : [];
    const problems = isConfig ? problemsOfConfig(yaml, part.text) : await problemsOfPart(part);
    for (const { why, remedy } of problems)
      found.push({ why: `in part ${number}, ${why}`, remedy, partly: true });
    if (isConfig && !Array.isArray(yaml)) configs.push({ number, yaml, headers: part.headers });
  }
  return [...found, ...replacedProblems(configs)];
}
