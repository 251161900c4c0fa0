/** The protocol with one of its rules left out (`mutants.txt`), compiled in memory. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import * as errors from "../../provider/api/errors";
import * as postOutcome from "../../provider/api/postOutcome";
import * as record from "../../provider/ledger/record";
import * as origin from "../../provider/origin";
import * as naming from "../../provider/instance/naming";
import * as redaction from "../../provider/redaction";
import * as pulumiNames from "../../provider/pulumiNames";
import type { Rules } from "./slice";

export interface Mutant {
  /** The rule that is left out. */
  rule: string;
  /** The slice that notices. */
  slice: string;
  /** The protocol's text, and what stands there without the rule. */
  from: string;
  to: string;
}

const source = join(__dirname, "../../provider/instance/protocol.ts");

const known: Record<string, unknown> = {
  "../api/errors": errors,
  "../api/postOutcome": postOutcome,
  "../ledger/record": record,
  "../origin": origin,
  "../redaction": redaction,
  "../pulumiNames": pulumiNames,
  "./naming": naming,
};

/** Every rule of `mutants.txt`. */
export function readMutants(): Mutant[] {
  const [, ...blocks] = readFileSync(join(__dirname, "mutants.txt"), "utf8").trim().split("\n\n");
  return blocks.map((block) => {
    const [title = "", ...lines] = block.split("\n");
    const [slice = "", rule = ""] = title.split(/: (.*)/s);
    const after = (sign: string) =>
      lines
        .filter((line) => line.startsWith(`${sign} `))
        .map((line) => line.slice(2))
        .join("\n");
    return { slice, rule, from: after("-"), to: after("+") };
  });
}

/** The protocol without one rule. @throws if its text is no longer that of the rule. */
export function rulesWithout({ rule, from, to }: Mutant): Rules {
  const text = readFileSync(source, "utf8");
  if (text.split(from).length !== 2) {
    throw new Error(`The text of the rule "${rule}" is not in protocol.ts once: ${from}`);
  }
  const { code } = transformSync(
    text.replace(from, () => to),
    { loader: "ts", format: "cjs" },
  );
  const module = { exports: {} };
  const load = (name: string) => {
    if (!(name in known))
      throw new Error(`protocol.ts imports ${name}, which mutants.ts does not know`);
    return known[name];
  };
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  const run = new Function("require", "module", "exports", code) as (...its: unknown[]) => void;
  run(load, module, module.exports);
  return module.exports as Rules;
}
