/** What the launcher starts, as `bin/start.js`: the bundle beside it, with what V8 kept of it. */
import { createRequire, enableCompileCache } from "node:module";
import { join } from "node:path";
import { cacheDirectory } from "./cacheDirectory";

try {
  enableCompileCache(cacheDirectory(__dirname));
} catch {
  // Slower to start, and nothing else.
}
createRequire(__filename)(join(__dirname, "provider.js"));
