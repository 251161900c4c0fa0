/** Removes what `support/installing.ts` has installed. */
import { rmSync } from "node:fs";

export default function globalTeardown(): void {
  const folder = process.env["COMPUTE_TEST_INSTALLED"];
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}
