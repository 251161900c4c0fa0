/** A process that plays histories for `tools/simulate.ts`: each message names a seed, and the result is sent back. */
import { search } from "./search";

/** The histories to play from one seed. */
export interface Batch {
  seed: number;
  histories: number;
}

process.on("message", ({ seed, histories }: Batch) => {
  void search(seed, histories).then((found) => {
    // The parent process may have ended.
    if (process.connected) process.send?.(found);
  });
});
