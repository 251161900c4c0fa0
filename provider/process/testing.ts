/** The entry point `pulumi-compute-instances/testing` of the npm package. On a Node that is too old it says so. */
import { createRequire } from "node:module";
import { join } from "node:path";
import metadata from "../../metadata.json";
import { isNodeTooOld, neededNode } from "../version";

if (isNodeTooOld()) {
  throw new Error(
    `${metadata.sdk.nodejs.package}/testing needs ${neededNode}, and this is ${process.versions.node}. Run the tests with a newer Node.js.`,
  );
}

const emulator = createRequire(__filename)(join(__dirname, "emulator.js")) as {
  startEmulator: unknown;
};

/** Starts an emulator. See emulator/testing.ts. */
export const startEmulator = emulator.startEmulator;
