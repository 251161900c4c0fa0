/** A process that plays histories for `tools/explore/random.ts`. */
import { search } from "./search";

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
