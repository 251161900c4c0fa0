/** What a check comes to; what is not well always has a next step (G9). */
export interface Finding {
  check: string;
  /** `warning`: `pulumi up` works all the same. `FAILED`: it does not. */
  result: "ok" | "warning" | "FAILED" | "skipped";
  found: string;
  /** What to do; with `warning` and `FAILED` alone. */
  next?: string;
}

export const ok = (check: string, found: string): Finding => ({ check, result: "ok", found });
/** Says nothing before something else is well. */
export const skipped = (check: string, found: string): Finding => ({
  ...{ check, result: "skipped", found },
});
export const warning = (check: string, found: string, next: string): Finding => ({
  ...{ check, result: "warning", found, next },
});
export const failed = (check: string, found: string, next: string): Finding => ({
  ...{ check, result: "FAILED", found, next },
});
