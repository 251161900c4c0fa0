/** Measures the memory that is really in use. Tests use it to show that nothing is kept for too long. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const collect = (() => {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
})();

/** Collects garbage, and returns the bytes of the heap that are in use then. */
export function heapAfterCollection(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
