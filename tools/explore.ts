/**
 * `npm run explore`: explores every history of the create protocol, for limited sets of events (slices). Then it
 * explores the protocol without each of its rules in turn (mutants). Without any rule, some promise must break. It
 * prints the outcome of each.
 *
 *   --slice NAME            explores only this slice
 *   --deep                  adds one fault to each slice, and explores also the slices that take minutes
 *   --trace SLICE:N,N,…     prints a history in words. A broken promise prints its SLICE:N,N,…
 */
import * as protocol from "../provider/instance/protocol";
import { explore, tell } from "../tests/explorer/explore";
import { readMutants, rulesWithout } from "../tests/explorer/mutation";
import type { Slice } from "../tests/explorer/slice";
import { slices } from "../tests/explorer/slices";
import { oneOf, runTool, ToolError } from "./support/main";

const names = slices.map(({ name }) => name);
/** @throws {ToolError} if there is no such slice */
const sliceOf = (name: string) =>
  slices.find((it) => it.name === oneOf("slice", names, name)) as Slice;

/** @throws {ToolError} if a promise is broken */
function report(slice: Slice): number {
  const { states, depth, seconds, violation } = explore(slice, protocol);
  console.log(
    `${slice.name}: ${states} states, depth ${depth}, ${seconds.toFixed(1)} s (${slice.what})`,
  );
  if (!violation) return states;
  for (const line of tell(slice, protocol, violation.choices)) console.log(`    ${line}`);
  throw new ToolError(
    `A promise is broken: ${violation.what}.\nTo see this history again: npm run explore -- --trace "${slice.name}:${violation.choices.join()}"`,
  );
}

/** @throws {ToolError} if no promise breaks without one of the rules */
function reportMutants(): void {
  const mutants = readMutants();
  const survived: string[] = [];
  for (const mutant of mutants) {
    const slice = sliceOf(mutant.slice);
    // Two faults usually suffice to break a promise, and fewer faults take less time.
    const smallSlice = { ...slice, maxFaults: Math.min(2, slice.maxFaults) };
    const violation =
      explore(smallSlice, rulesWithout(mutant)).violation ??
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
    const start = performance.now();
    const chosen = slice === undefined ? slices.filter((it) => deep || !it.deep) : [sliceOf(slice)];
    let states = 0;
    for (const it of chosen) {
      states += report(deep ? { ...it, maxFaults: it.maxFaults + 1 } : it);
    }
    if (slice === undefined) reportMutants();
    const seconds = (performance.now() - start) / 1000;
    console.log(`${states} states in ${chosen.length} slices, ${seconds.toFixed(0)} s in all`);
  },
);
