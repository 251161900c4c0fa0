import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { executable } from "../executable";

/**
 * Where V8's compiled code is kept between starts, which saves half of the start-up time: beside the
 * plugin, so that both are removed together, or else in the person's own cache. A shared directory, such
 * as /tmp, would let others put their own code there.
 */
export function cacheDirectory(plugin: string): string {
  try {
    accessSync(plugin, constants.W_OK);
    return join(plugin, ".cache");
  } catch {
    const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
    const own = XDG_CACHE_HOME || LOCALAPPDATA || join(homedir(), ".cache");
    return join(own, executable);
  }
}
