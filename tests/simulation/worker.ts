/** A process that plays histories, seed by seed, as it is told (`tools/simulate.ts`). */
import { search } from "./search";

export interface Batch {
  seed: number;
  histories: number;
}

process.on("message", ({ seed, histories }: Batch) => {
  void search(seed, histories).then((found) => {
    // Whoever wanted to know may be gone.
    if (process.connected) process.send?.(found);
  });
});
