/** The folder of the compile cache, which `embedded.ts` and `launched.ts` use. */
import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { executable } from "../executable";

/**
 * Returns the directory in which V8's compiled code is stored between starts, which saves half of the start-up
 * time. The directory is inside the folder of the plugin, so that both are removed together, or in the user's own
 * cache if that folder can't be written to. A shared directory, such as /tmp, is not used, since other users could put their own code there.
 *
 * @throws the error of the system if the user has no home directory
 */
export function cacheDirectory(pluginFolder: string): string {
  try {
    accessSync(pluginFolder, constants.W_OK);
    return join(pluginFolder, ".cache");
  } catch {
    const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
    const userCache = XDG_CACHE_HOME || LOCALAPPDATA || join(homedir(), ".cache");
    return join(userCache, executable);
  }
}
