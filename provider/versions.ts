/** Which of two versions is older, and which Pulumi engines the provider works with. */
import metadata from "../metadata.json";

/** Those before it refuse the resource option `import:`. */
export const { oldestEngine } = metadata;

/** By their numbers; what stands after these does not count, and what has none is older than nothing. */
export function isOlder(version: string, than: string): boolean {
  const [ours, theirs] = [numbers(version), numbers(than)];
  if (!ours || !theirs) return false;
  const different = ours.findIndex((number, i) => number !== theirs[i]);
  return different >= 0 && (ours[different] ?? 0) < (theirs[different] ?? 0);
}

function numbers(version: string): number[] | undefined {
  const found = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(version);
  return found?.slice(1).map((number) => Number(number ?? 0));
}
