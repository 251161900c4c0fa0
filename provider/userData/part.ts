/** What cloud-init can't use in one part of user data, which is all of it unless it is a MIME message or an archive. */
import { cloudConfigProblems, readYaml, type Unusable } from "./cloudConfig";

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
  return problemsOfParts(yaml.value as unknown[], async (entry) => {
    const part = typeof entry === "string" ? { content: entry } : entry;
    const { content, type } = Object(part) as { content?: unknown; type?: unknown };
    if (typeof content !== "string") return [];
    return typeof type === "string" && type !== ""
      ? declaredPartProblems(type, content, "archive")
      : partProblems(partTypeOf(content) ?? "cloudConfig", content);
  });
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
const shownByBeginning = ["text/plain", "text/x-not-multipart", "text/x-shellscript"];

/** Whether cloud-init itself has a handler for the type of a part of a message. */
export function isKnownType(declared: string): boolean {
  return shownByBeginning.includes(declared) || declaredTypes[declared] !== undefined;
}

/** Says why cloud-init can't use a part that declares its type. cloud-init reads URLs and archives in no archive. */
export async function declaredPartProblems(
  declared: string,
  text: string,
  container: "archive" | "message",
): Promise<Unusable[]> {
  const shown =
    container === "message" && shownByBeginning.includes(declared) ? partTypeOf(text) : undefined;
  const type = shown ?? declaredTypes[declared];
  if (type !== undefined) return partProblems(type, text);
  if (text === "") return [];
  const why = "cloud-init does not know its type, or how it begins";
  return [{ why, remedy: "Give it a type such as text/cloud-config or text/x-shellscript." }];
}

/** Returns what is wrong with each part, and says in which part. */
export async function problemsOfParts<Part>(
  parts: readonly Part[],
  problemsOf: (part: Part) => Promise<Unusable[]>,
): Promise<Unusable[]> {
  const found: Unusable[] = [];
  for (const [index, part] of parts.entries())
    for (const { why, remedy } of await problemsOf(part))
      found.push({ why: `in part ${index + 1}, ${why}`, remedy, partly: true });
  return found;
}
