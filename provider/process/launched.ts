/** Starts the bundle beside it. Built as `start.js`. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { runBundle } from "./runBundle";

const file = join(__dirname, "provider.js");
const content = readFileSync(file);
runBundle({ file, content, folder: __dirname, require: createRequire(file) });
