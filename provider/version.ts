/** Compares versions of the Pulumi engine, the plugin and Node. This file runs on any Node. */

/**
 * Whether `version` is older than `than`. Only the numbers count, not a suffix such as `-beta.1`. Returns false
 * if either string is not a version.
 */
export function isOlder(version: string, than: string): boolean {
  const [numbers, otherNumbers] = [versionNumbers(version), versionNumbers(than)];
  if (!numbers || !otherNumbers) return false;
  const index = numbers.findIndex((number, i) => number !== otherNumbers[i]);
  return index >= 0 && (numbers[index] ?? 0) < (otherNumbers[index] ?? 0);
}

function versionNumbers(version: string): number[] | undefined {
  const found = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(version);
  return found?.slice(1).map((number) => Number(number ?? 0));
}
