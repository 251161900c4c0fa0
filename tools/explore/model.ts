/** Walks every history of the protocol's model, with all its rules and without each of them in turn. */
import { explore, tell, type Explored } from "../../tests/explorer/explore";
import { allRules, readMutants, rulesWithout, type Mutant } from "../../tests/explorer/mutation";
import { readRim } from "../../tests/explorer/rim";
import type { Depth, Rules, Slice } from "../../tests/explorer/slice";
import { atDepth, slices, slicesOf } from "../../tests/explorer/slices";
import { oneOf, ToolError } from "../support/main";

const names = slices.map(({ name }) => name);

/** @throws {ToolError} if there is no such slice */
const sliceNamed = (name: string) =>
  slices.find((slice) => slice.name === oneOf("slice", names, name)) as Slice;

/** The exceptions of all slices: how many, and the shortest history of each. */
type Exceptions = Map<string, { count: number; slice: Slice; choices: number[] }>;

/** Adds up the exceptions of a slice. */
function countExceptions(all: Exceptions, slice: Slice, found: Explored["exceptions"]): void {
  for (const [reason, { count, choices }] of found) {
    const known = all.get(reason);
    const isShorter = known === undefined || choices.length < known.choices.length;
    all.set(reason, {
      count: count + (known?.count ?? 0),
      ...(isShorter ? { slice, choices } : { slice: known.slice, choices: known.choices }),
    });
  }
}

function printExceptions(all: Exceptions): void {
  for (const [reason, { count, slice, choices }] of all) {
    console.log(`not promised (${count} steps): ${reason}`);
    for (const line of tell(slice, allRules, choices)) console.log(`    ${line}`);
  }
}

/** @throws {ToolError} if a promise is broken */
function walk(slice: Slice, all: Exceptions): number {
  const { states, depth, seconds, violation, exceptions } = explore(slice, allRules);
  console.log(
    `${slice.name}: ${states} states, depth ${depth}, ${seconds.toFixed(1)} s (${slice.what})`,
  );
  countExceptions(all, slice, exceptions);
  if (!violation) return states;
  for (const line of tell(slice, allRules, violation.choices)) console.log(`    ${line}`);
  throw new ToolError(
    `A promise is broken: ${violation.what}.\nTo see this history again: npm run explore -- --trace "${slice.name}:${violation.choices.join()}"`,
  );
}

/** A rule that is left out, and the protocol without it. */
type CompiledMutant = Mutant & { readonly rules: Rules };

function compileMutants(): CompiledMutant[] {
  return readMutants().map((mutant) => ({ ...mutant, rules: rulesWithout(mutant) }));
}

/** @throws {ToolError} if no promise breaks without one of the rules */
function walkMutants(mutants: readonly CompiledMutant[]): void {
  const survived: string[] = [];
  for (const mutant of mutants) {
    const slice = sliceNamed(mutant.slice);
    // Two faults usually suffice to break a promise, and fewer faults take less time.
    const smallSlice = { ...slice, maxFaults: Math.min(2, slice.maxFaults) };
    const violation =
      explore(smallSlice, mutant.rules).violation ?? explore(slice, mutant.rules).violation;
    console.log(
      violation
        ? `without "${mutant.rule}" (${mutant.slice}): ${violation.what}`
        : `without "${mutant.rule}" (${mutant.slice}): NOTHING BREAKS`,
    );
    if (!violation) survived.push(mutant.rule);
  }
  console.log(`mutants killed: ${mutants.length - survived.length} of ${mutants.length}`);
  if (survived.length > 0)
    throw new ToolError(`Nothing breaks without these rules: ${survived.join("; ")}`);
}

/** Walks this slice, or all slices of this depth and then, unless it is shallow, the mutants. */
export function exploreModel({ slice, depth }: { slice: string | undefined; depth: Depth }): void {
  const start = performance.now();
  // Before the long walk, so that a rule that is written otherwise now is noticed at once.
  const mutants = slice === undefined ? compileMutants() : [];
  if (slice === undefined) readRim();
  const chosen = slice === undefined ? slicesOf(depth) : [atDepth(sliceNamed(slice), depth)];
  const exceptions: Exceptions = new Map();
  let states = 0;
  for (const each of chosen) states += walk(each, exceptions);
  printExceptions(exceptions);
  if (slice === undefined && depth !== "shallow") walkMutants(mutants);
  const seconds = (performance.now() - start) / 1000;
  console.log(`${states} states in ${chosen.length} slices, ${seconds.toFixed(0)} s in all`);
}

/** `history` is what a broken promise prints: SLICE:N,N,… */
export function traceModel(history: string): void {
  const [name = "", choices = ""] = history.split(":");
  const lines = tell(sliceNamed(name), allRules, choices.split(",").map(Number));
  console.log(lines.join("\n"));
}
