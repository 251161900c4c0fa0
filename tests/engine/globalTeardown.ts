/** Removes what `globalSetup.ts` and `support/installing.ts` have made. */
import { rmSync } from "node:fs";

export default function globalTeardown(): void {
  for (const name of ["COMPUTE_TEST_INSTALLED", "COMPUTE_TEST_STACK"]) {
    rmSync(process.env[name] ?? "", { recursive: true, force: true });
  }
}
