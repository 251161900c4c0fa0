/** What a check of `doctor` comes to; what is not well always has a next step (G9). */
import { nextStep } from "../advice";
import type { RequestError } from "../api/errors";

export type Finding = { check: Check; found: string } & (
  | { result: "ok" | "skipped" }
  /** `warning`: `pulumi up` works all the same. `FAILED`: it does not. */
  | { result: "warning" | "FAILED"; next: string }
);

/** What needs good settings, in the order in which it is shown. */
const serviceChecks = [
  "connection",
  "certificate",
  "account",
  "scope",
  "listing",
  "paging",
  "statuses",
  "rate limit",
  "clock",
] as const;

export type Check =
  | ("stack" | "base URL" | "token" | "settings")
  | (typeof serviceChecks)[number]
  | ("plugin" | "engine" | "plugins" | "ledger");

export const ok = (check: Check, found: string): Finding => ({ check, result: "ok", found });
export const skipped = (check: Check, found: string): Finding => ({
  check,
  result: "skipped",
  found,
});
export const warning = (check: Check, found: string, next: string): Finding => ({
  ...{ check, result: "warning", found, next },
});
export const failed = (check: Check, found: string, next: string): Finding => ({
  ...{ check, result: "FAILED", found, next },
});

/** Nothing can be said of it before something else is mended. */
export const unknown = (check: Check): Finding => skipped(check, "shows once the rest is mended");
export const serviceUnknown: readonly Finding[] = serviceChecks.map(unknown);

/** A 429 fails nothing: `pulumi up` waits, and says so (G6). */
export function ofError(check: Check, error: RequestError): Finding {
  return error.status === 429
    ? skipped(check, "the service answered 429: see rate limit")
    : failed(check, error.message, nextStep(error));
}
