/**
 * Compiles, in memory, the create protocol with one of its rules left out (`mutants.txt`). `tools/explore.ts` uses it.
 */
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

/** A change of the protocol that leaves out one rule. */
export interface Mutant {
  /** The rule, in words. */
  rule: string;
  /** The slice in which a history must then break an invariant. */
  slice: string;
  /** The code of the protocol that contains the rule. */
  from: string;
  /** The code that replaces it. */
  to: string;
}

const source = join(__dirname, "../../provider/instance/protocol.ts");

/** The modules that the protocol imports. */
const importedModules: Record<string, unknown> = {
  "../api/errors": errors,
  "../api/postOutcome": postOutcome,
  "../ledger/record": record,
  "../origin": origin,
  "../redaction": redaction,
  "../pulumiNames": pulumiNames,
  "./naming": naming,
};

/** Reads `mutants.txt`. */
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

/** Compiles the protocol without one rule. @throws Error unless the code of the rule is in protocol.ts exactly once. */
export function rulesWithout({ rule, from, to }: Mutant): Rules {
  const sourceCode = readFileSync(source, "utf8");
  if (sourceCode.split(from).length !== 2) {
    throw new Error(`The code of the rule "${rule}" is not in protocol.ts exactly once: ${from}`);
  }
  const { code } = transformSync(
    sourceCode.replace(from, () => to),
    { loader: "ts", format: "cjs" },
  );
  const module = { exports: {} };
  const load = (name: string) => {
    if (!(name in importedModules))
      throw new Error(
        `protocol.ts imports ${name}, which tests/explorer/mutation.ts does not provide`,
      );
    return importedModules[name];
  };
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- it runs our own file, compiled in memory
  const run = new Function("require", "module", "exports", code) as (...its: unknown[]) => void;
  run(load, module, module.exports);
  return module.exports as Rules;
}
