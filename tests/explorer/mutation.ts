/**
 * Compiles, in memory, the create protocol with one of its rules left out (`mutants.txt`). `tools/explore.ts` uses it.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { transformSync } from "esbuild";
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

/** Reads `mutants.txt`. */
export function readMutants(): Mutant[] {
  const [, ...blocks] = readFileSync(join(__dirname, "mutants.txt"), "utf8").trim().split("\n\n");
  return blocks.map((block) => {
    const [title = "", ...lines] = block.split("\n");
    const [slice = "", rule = ""] = title.split(/: (.*)/s);
    const after = (sign: string) =>
      lines.flatMap((line) => (line.startsWith(`${sign} `) ? [line.slice(2)] : [])).join("\n");
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
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- it runs our own file, compiled in memory
  const run = new Function("require", "module", "exports", code) as (...its: unknown[]) => void;
  run(createRequire(source), module, module.exports);
  return module.exports as Rules;
}
