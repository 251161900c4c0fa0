/**
 * `npm run explore`: searches for histories that break a promise of the provider. It walks every history of the create
 * protocol's model, for limited sets of events (slices). Then it walks the model without each of the protocol's rules in
 * turn (mutants). Whichever rule is left out, some promise must break.
 *
 *   --slice NAME      walks only this slice
 *   --shallow         what `npm test` does: takes one fault from most slices, leaves out those that take long even so, and
 *                     compiles the mutants without a walk
 *   --deep            adds one fault to each slice, and walks also the slices that take minutes
 *
 * With --rim, it runs the unit tests of what is around a create instead, without each rule of tests/explorer/rim.txt in
 * turn. The test that this list names must fail. It takes a minute or two.
 *
 *   --file PATH       leaves out only the rules of this file
 *
 * With --minutes or --histories, it plays random histories instead: several runs of the whole provider, in which
 * anything can go wrong, on a virtual clock, with a network, disks and an engine in memory. It uses every core.
 *
 *   --minutes N       plays new histories for this time
 *   --histories N     plays this many histories, rounded up to thousands
 *   --from SEED       begins with this seed, to repeat a search
 *
 *   --trace HISTORY   prints a history in words. A broken promise prints its HISTORY
 */
import { exploreModel, traceModel } from "./explore/model";
import { exploreRandomly, traceRandom } from "./explore/random";
import { exploreRim } from "./explore/rim";
import { runTool, ToolError } from "./support/main";

/** @throws {ToolError} for a text that is not a number above 0 */
function numberOf(option: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const number = Number(given);
  if (!(number > 0)) throw new ToolError(`${option} must be a number above 0, not "${given}".`);
  return number;
}

runTool(
  {
    options: {
      slice: { type: "string" },
      shallow: { type: "boolean", default: false },
      deep: { type: "boolean", default: false },
      rim: { type: "boolean", default: false },
      file: { type: "string" },
      minutes: { type: "string" },
      histories: { type: "string" },
      from: { type: "string" },
      trace: { type: "string" },
    },
  },
  async ({ values: { slice, shallow, deep, rim, file, trace, ...given } }) => {
    const minutes = numberOf("--minutes", given.minutes);
    const histories = numberOf("--histories", given.histories);
    const from = numberOf("--from", given.from);
    if (rim) return exploreRim(file);
    if (file !== undefined) throw new ToolError("--file needs --rim.");
    if (trace !== undefined) {
      // A random history begins with its seed, which is a number.
      return /^\d+:/.test(trace) ? traceRandom(trace) : traceModel(trace);
    }
    if (minutes !== undefined || histories !== undefined) {
      return exploreRandomly({ minutes, histories, from });
    }
    if (from !== undefined) throw new ToolError("--from needs --minutes or --histories.");
    exploreModel({ slice, depth: deep ? "deep" : shallow ? "shallow" : "usual" });
  },
);
