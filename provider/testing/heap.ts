/** What memory is really in use, for tests that nothing is kept for longer than it is needed. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const collect = (() => {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
})();

/** In bytes. */
export function heapAfterCollection(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
