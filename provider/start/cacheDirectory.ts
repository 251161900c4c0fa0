/** Where V8's compiled code is kept between starts, which saves half of the start-up time. */
import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { executable } from "../executable";

/**
 * Beside the plugin, so that it goes when the plugin goes; else in the person's own cache, never in
 * a directory shared with others, who could put code of theirs there.
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
