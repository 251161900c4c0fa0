/** When a process that was started is ready. */
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** By its first line a process says that it is ready, and where. Rejects if it ends without one. */
export async function firstLine(output: Readable): Promise<string> {
  const lines = createInterface(output);
  const [line] = (await Promise.race([once(lines, "line"), once(lines, "close")])) as [string?];
  if (line === undefined) throw new Error("the process ended without a word");
  return line;
}
