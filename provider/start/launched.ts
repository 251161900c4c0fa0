/** Starts the bundle beside it. Built as `start.js`. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { runBundle } from "./runBundle";

const file = join(__dirname, "provider.js");
// The build makes sure that a bundle has only ASCII characters.
const source = readFileSync(file, "latin1");
runBundle({ file, source, folder: __dirname, require: createRequire(file) });
