/**
 * Compiles, in memory, the rules of a create (the protocol, its witness, and those about records) and of a Delete with one of them left
 * out (`mutants.txt`). `tools/explore/model.ts` uses it.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { transformSync } from "esbuild";
import * as deletes from "../../provider/instance/delete";
import * as engineRun from "../../provider/engineRun";
import * as records from "../../provider/ledger/record";
import * as realProtocol from "../../provider/create/protocol";
import type { Rules } from "./slice";

/** All rules. */
export const allRules: Rules = { ...realProtocol, ...records, ...engineRun, ...deletes };

/** A change that leaves out one rule. */
export interface Mutant {
  /** The rule, in words. */
  rule: string;
  /** The slice in which a history must then break an invariant. */
  slice: string;
  /** The code that contains the rule. */
  from: string;
  /** The code that replaces it. */
  to: string;
}

const folder = join(__dirname, "../../provider/create");
/** The files that hold the rules, as the first of them imports them. */
const protocol = "./protocol";
const witness = "../evidence/witness";
const record = "../ledger/record";
const engineRuns = "../engineRun";
const deletion = "../instance/delete";

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

/** Compiles the rules without one of them. @throws Error unless its code is in these files exactly once */
export function rulesWithout(mutant: Mutant): Rules {
  const { rule, from } = mutant;
  const files = [protocol, witness, record, engineRuns, deletion];
  const holders = files.filter((file) => codeOf(file).includes(from));
  const [holder = ""] = holders;
  if (holders.length !== 1 || codeOf(holder).split(from).length !== 2) {
    throw new Error(`The code of the rule "${rule}" is not in its file exactly once: ${from}`);
  }
  const changed = load(holder, mutant);
  if (holder === witness)
    return { ...allRules, ...load(protocol, undefined, { [holder]: changed }) };
  const depending = holder === record ? load(protocol, undefined, { [holder]: changed }) : {};
  return { ...allRules, ...changed, ...depending };
}

function codeOf(file: string): string {
  return readFileSync(join(folder, `${file}.ts`), "utf8");
}

/** Compiles a file in memory, and returns what it exports. `instead` replaces modules that it imports. */
function load(file: string, mutant?: Mutant, instead: Record<string, unknown> = {}): object {
  const source = mutant ? codeOf(file).replace(mutant.from, () => mutant.to) : codeOf(file);
  const { code } = transformSync(source, { loader: "ts", format: "cjs" });
  const load = createRequire(join(folder, `${file}.ts`)) as (name: string) => unknown;
  const module: { exports: object } = { exports: {} };
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- it runs our own file, compiled in memory
  const run = new Function("require", "module", "exports", code) as (...its: unknown[]) => void;
  run((name: string) => instead[name] ?? load(name), module, module.exports);
  return module.exports;
}
