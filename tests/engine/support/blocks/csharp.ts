/** C#, as far as it goes without .NET: each argument that is given is one that the SDK's class has. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../../../tools/support/paths";
import { lineOf, type Check } from "./samples";

export const csharp: Check = {
  leftOut:
    "they are not compiled, which takes .NET: the arguments' names and the brackets are checked",

  run(samples, report) {
    for (const sample of samples) {
      const { text } = sample;
      for (const { index, 1: class_ = "", 2: body = "" } of text.matchAll(
        /new (\w+Args)\s*\{(.*?)\n\s*\}/gs,
      )) {
        const known = propertiesOf(class_);
        const given = [...body.matchAll(/^\s*(\w+) =/gm)].map(([, name = ""]) => name);
        const strange = known ? given.filter((name) => !known.has(name)) : [class_];
        const line = lineOf(sample, text.slice(0, index).split("\n").length);
        for (const name of strange) report(sample, `${line}: the SDK has no ${class_}.${name}`);
      }
      for (const [open = "", close = ""] of ["()", "{}", "[]"]) {
        const [opened, closed] = [open, close].map((sign) => text.split(sign).length);
        if (opened !== closed)
          report(sample, `${lineOf(sample, 0)}: ${open} and ${close} don't match`);
      }
    }
  },
};

const sources = globSync("*.cs", { cwd: join(root, "sdk", "dotnet") }).map((file) =>
  readFileSync(join(root, "sdk", "dotnet", file), "utf8"),
);

function propertiesOf(class_: string): ReadonlySet<string> | undefined {
  const declared = sources.map((text) => text.split(`class ${class_} `)[1]).find(Boolean);
  const own = declared?.split(/\n {4}\}/)[0];
  if (own === undefined) return undefined;
  return new Set([...own.matchAll(/public \S+ (\w+)\s*(?:\{|$)/gm)].map(([, name = ""]) => name));
}
