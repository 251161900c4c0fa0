/** Whether an executable is what it must be, by its own bytes: it can't be started on every machine. */
import { demand } from "./formats/format";
import { checkSignature, macho } from "./formats/macho";
import { elf } from "./formats/elf";
import { pe } from "./formats/pe";
import { platforms, type Platform } from "./platforms";

export const formats = { elf, macho, pe };

/** Node looks for the plugin in itself only when the last character of this is 1. */
const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:";

/** Throws unless it is for the platform, and has these parts where Node looks for them. */
export function checkExecutable(
  platform: Platform,
  file: Buffer,
  parts: readonly (Buffer | string)[],
): void {
  const format = formats[platforms[platform].format];
  const processor = format.processor(file);
  demand(platform.endsWith(`-${processor}`), `its processor is not ${platform}'s`);
  demand(file.includes(`${fuse}1`), "Node in it does not look for a plugin");
  const plugin = format.embedded(file);
  demand(plugin !== undefined, "no plugin is in it");
  demand(
    parts.every((part) => plugin.includes(part)),
    "the plugin in it lacks a part",
  );
  if (format === macho) checkSignature(file);
}
