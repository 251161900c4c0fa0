/** Compares versions of the engine, the plugin and Node. This file runs on any Node. */
import metadata from "../metadata.json";

/**
 * The oldest Node that undici, `@pulumi/pulumi` and the emulator run on, and the oldest one of 23 whose SQLite takes a URL,
 * as the ledger's lock needs it.
 */
const [oldestNode = "", oldest23 = ""] = metadata.sdk.nodejs.pluginNodes;

/** What the plugin and the emulator need, for messages. */
export const neededNode = `Node.js ${oldestNode} or later (no 23 before ${oldest23}, which can't lock the ledger)`;

/** Whether this Node, that of an npm project, is too old for the plugin and the emulator. */
export function isNodeTooOld(version = process.versions.node): boolean {
  return isOlder(version, parseInt(version) === parseInt(oldest23) ? oldest23 : oldestNode);
}

/** Whether `version` is older than `minimum`, without suffixes such as `-beta.1`. False if either is no version. */
export function isOlder(version: string, minimum: string): boolean {
  const [numbers, minimumNumbers] = [versionNumbers(version), versionNumbers(minimum)];
  if (!numbers || !minimumNumbers) return false;
  const index = numbers.findIndex((number, i) => number !== minimumNumbers[i]);
  return index >= 0 && (numbers[index] ?? 0) < (minimumNumbers[index] ?? 0);
}

function versionNumbers(version: string): number[] | undefined {
  const found = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(version);
  return found?.slice(1).map((number) => Number(number ?? 0));
}
