/** Starts the bundle beside it, with a compile cache. Built as `start.js`. */
import { createRequire, enableCompileCache } from "node:module";
import { join } from "node:path";
import { cacheDirectory } from "./cacheDirectory";

try {
  enableCompileCache(cacheDirectory(__dirname));
} catch {
  // Without a cache, the start is only slower.
}
createRequire(__filename)(join(__dirname, "provider.js"));
