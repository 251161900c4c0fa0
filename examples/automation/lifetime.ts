/** How long a review environment may live. */

const hourMs = 3_600_000;
const longestHours = 7 * 24;

/** The moment of its end, as its stack records it. */
export function expiry(hours: number, now: Date): string {
  if (!(hours > 0 && hours <= longestHours)) {
    throw new RangeError(`--hours takes a number above 0 and up to ${longestHours}, not ${hours}`);
  }
  return new Date(now.getTime() + hours * hourMs).toISOString();
}

/** A record that can't be read says nothing: undefined, and the environment is a person's to judge. */
export function isExpired(recorded: string | undefined, now: Date): boolean | undefined {
  const end = Date.parse(recorded ?? "");
  return Number.isNaN(end) ? undefined : end <= now.getTime();
}
