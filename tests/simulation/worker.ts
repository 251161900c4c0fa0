/** A process that plays histories, seed by seed, as it is told (`tools/simulate.ts`). */
import { search } from "./search";

export interface Batch {
  seed: number;
  histories: number;
}

process.on("message", ({ seed, histories }: Batch) => {
  void search(seed, histories).then((found) => process.send?.(found));
});
