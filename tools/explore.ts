/**
 * `npm run explore`: explores every history of the create protocol, for limited sets of events (slices). Then removes
 * each rule of the protocol once (mutants): a promise must break without it. Prints what it found.
 *
 *   --slice NAME            only this slice
 *   --deep                  one more fault in each slice, and the slices that take minutes
 *   --trace SLICE:N,N,…     tells a history in words, as printed for a broken promise
 */
import * as protocol from "../provider/instance/protocol";
import { explore, tell } from "../tests/explorer/explore";
import { readMutants, rulesWithout } from "../tests/explorer/mutation";
import type { Slice } from "../tests/explorer/slice";
import { slices } from "../tests/explorer/slices";
import { oneOf, runTool, ToolError } from "./support/main";

const names = slices.map(({ name }) => name);
const sliceOf = (name: string): Slice => {
  const found = slices.find((it) => it.name === oneOf("slice", names, name));
  if (!found) throw new ToolError(`There is no slice "${name}".`);
  return found;
};

/** Explores one slice, and returns how many states it has. @throws {ToolError} if a promise is broken */
function report(slice: Slice): number {
  const { states, depth, seconds, violation } = explore(slice, protocol);
  console.log(
    `${slice.name}: ${states} states, depth ${depth}, ${seconds.toFixed(1)} s (${slice.what})`,
  );
  if (!violation) return states;
  for (const line of tell(slice, protocol, violation.choices)) console.log(`    ${line}`);
  throw new ToolError(
    `A promise is broken: ${violation.what}.\nAgain: npm run explore -- --trace "${slice.name}:${violation.choices.join()}"`,
  );
}

/** @throws {ToolError} if the slice of a rule keeps all promises without the rule */
function reportMutants(): void {
  const mutants = readMutants();
  const survived: string[] = [];
  for (const mutant of mutants) {
    const slice = sliceOf(mutant.slice);
    // Two faults are mostly enough to break a promise.
    const small = { ...slice, maxFaults: Math.min(2, slice.maxFaults) };
    const violation =
      explore(small, rulesWithout(mutant)).violation ??
      explore(slice, rulesWithout(mutant)).violation;
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

runTool(
  {
    options: {
      deep: { type: "boolean", default: false },
      slice: { type: "string" },
      trace: { type: "string" },
    },
  },
  async ({ values: { deep, slice, trace } }) => {
    if (trace !== undefined) {
      const [name = "", history = ""] = trace.split(":");
      const lines = tell(sliceOf(name), protocol, history.split(",").map(Number));
      console.log(lines.join("\n"));
      return;
    }
    const begun = performance.now();
    const chosen = slice === undefined ? slices.filter((it) => deep || !it.deep) : [sliceOf(slice)];
    let states = 0;
    for (const it of chosen) {
      states += report(deep ? { ...it, maxFaults: it.maxFaults + 1 } : it);
    }
    if (slice === undefined) reportMutants();
    const seconds = (performance.now() - begun) / 1000;
    console.log(`${states} states in ${chosen.length} slices, ${seconds.toFixed(0)} s in all`);
  },
);
