/**
 * Compiles, in memory, the rules of a create (the protocol, its witness, and those about records) and of a Delete with one of them left
 * out (`mutants.txt`). `tools/explore/model.ts` uses it.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { transformSync } from "esbuild";
import * as deletes from "../../provider/instance/delete";
import * as engine from "../../provider/engine";
import * as records from "../../provider/ledger/record";
import * as realProtocol from "../../provider/create/protocol";
import type { Rules } from "./slice";

/** All rules. */
export const allRules: Rules = { ...realProtocol, ...records, ...engine, ...deletes };

/** A change that leaves out one rule. */
export interface Change {
  /** The rule, in words. */
  rule: string;
  /** The code that contains the rule. */
  from: string;
  /** The code that replaces it. */
  to: string;
}

/** A change after which a history of the slice must break an invariant. */
export interface Mutant extends Change {
  slice: string;
}

const folder = join(__dirname, "../../provider/create");
/** The files that hold the rules, as the first of them imports them. */
const protocol = "./protocol";
const witness = "../evidence/witness";
const record = "../ledger/record";
const engineModule = "../engine";
const deletion = "../instance/delete";

/** Reads `mutants.txt`. */
export function readMutants(): Mutant[] {
  return readChanges("mutants.txt").map(({ place, ...change }) => ({ ...change, slice: place }));
}

/** Reads a list of rules. `place` is what stands before the rule, and `after` returns the lines that begin with a sign. */
export function readChanges(
  name: string,
): (Change & { place: string; after: (sign: string) => string })[] {
  const [, ...blocks] = readFileSync(join(__dirname, name), "utf8").trim().split("\n\n");
  return blocks.map((block) => {
    const [title = "", ...lines] = block.split("\n");
    const [place = "", rule = ""] = title.split(/: (.*)/s);
    const after = (sign: string) =>
      lines.flatMap((line) => (line.startsWith(`${sign} `) ? [line.slice(2)] : [])).join("\n");
    return { place, rule, from: after("-"), to: after("+"), after };
  });
}

/** Compiles the rules without one of them. @throws Error unless its code is in these files exactly once */
export function rulesWithout(mutant: Mutant): Rules {
  const { rule, from } = mutant;
  const files = [protocol, witness, record, engineModule, deletion];
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
  return evaluate(code, join(folder, `${file}.ts`), instead);
}

/** Runs the compiled code of the file at `path`, and returns what it exports. `instead` replaces modules that it imports. */
export function evaluate(code: string, path: string, instead: Record<string, unknown>): object {
  const load = createRequire(path) as (name: string) => unknown;
  const module: { exports: object } = { exports: {} };
  const names = ["require", "module", "exports", "__dirname"];
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- it runs our own file, compiled in memory
  const run = new Function(...names, code) as (...its: unknown[]) => void;
  const loadOther = (name: string) => instead[name] ?? load(name);
  run(loadOther, module, module.exports, dirname(path));
  return module.exports;
}
