/** Removes what `globalSetup.ts` and `support/installing.ts` have made. */
import { rmSync } from "node:fs";
import { preparedStack } from "./support/preparedStack";

export default function globalTeardown(): void {
  for (const folder of [process.env["COMPUTE_TEST_INSTALLED"], preparedStack()]) {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}
