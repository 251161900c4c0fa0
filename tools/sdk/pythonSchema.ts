/** The schema for the generator of the Python SDK, whose descriptions have the names that a Python program uses. */
import type { PackageSchema } from "./schema";

export function pythonSchema(schema: PackageSchema): object {
  return withPythonNames(schema, namesOf(schema)) as object;
}

/** Returns the names of all properties and functions. */
function namesOf({ functions, resources, provider }: PackageSchema): ReadonlySet<string> {
  return new Set([
    ...Object.keys(functions).map((token) => token.split(":").at(-1) ?? ""),
    ...Object.values(resources).flatMap(({ properties }) => Object.keys(properties)),
    ...Object.values(functions).flatMap(({ inputs, outputs }) =>
      [inputs.properties, outputs.properties].flatMap(Object.keys),
    ),
    ...Object.keys(provider.inputProperties),
  ]);
}

/** Changes the names in the code spans of all descriptions. The code blocks are those of each language already. */
function withPythonNames(value: unknown, names: ReadonlySet<string>, key = ""): unknown {
  if (typeof value === "string") return key === "description" ? renamed(value, names) : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => withPythonNames(each, names));
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, withPythonNames(part, names, name)]),
  );
}

function renamed(description: string, names: ReadonlySet<string>): string {
  const inSpans = (text: string) =>
    text.replace(/`(\w+)`/g, (span, name: string) =>
      names.has(name) ? `\`${snake(name)}\`` : span,
    );
  return description
    .split(/^(```[^]*?^```)$/m)
    .map((part, index) => (index % 2 === 0 ? inSpans(part) : part))
    .join("");
}

/** Pulumi's generator names properties and functions so. */
function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
