/** The folder of the code that V8 has compiled. */
import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { executable } from "../executable";

/**
 * Returns the directory of V8's compiled code, which halves the start-up time. It is in the plugin's folder, so that
 * both are removed together, or else in the user's own cache. Others could put their code into a shared one, like /tmp.
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
