/** What the headers of the service's answers tell; the document shows none of them. */
import type { AnswerHead } from "../../api/client";
import { type Finding, ok, skipped, unknown, warning } from "../finding";
import type { Visit } from "./visit";

const limitHeaders = /^(x-)?rate-?limit|^retry-after$/;

export function rateLimit({ heads, failedTries, settings }: Visit): Finding {
  const last = heads.at(-1);
  if (!last) return unknown("rate limit");
  const shown = Object.entries(last.headers)
    .filter(([name]) => limitHeaders.test(name))
    .slice(0, 6)
    .map(([name, value]) => `${name} ${String(value).slice(0, 40)}`);
  const told = shown.length > 0 ? shown.join(", ") : "no headers tell of it";
  const tooMany = failedTries.find(({ status }) => status === 429);
  if (tooMany) {
    return warning(
      "rate limit",
      `${tooMany.message}; ${told}`,
      "Others use this token: `pulumi up` waits and slows down. docs/scaling.md says how many runs a token bears.",
    );
  }
  return ok(
    "rate limit",
    `${told}; the provider stays 5 % below ${settings.requestsPerMinute} requests a minute to one endpoint`,
  );
}

/** Beyond it, dates that the service gives mislead. */
const mostSkewSeconds = 30;

export function clock(heads: readonly AnswerHead[]): Finding {
  const skews = heads.map(skewSeconds).filter((skew) => skew !== undefined);
  // The answer that says the least: what delayed another one is no skew.
  const [skew] = skews.sort((a, b) => Math.abs(a) - Math.abs(b));
  if (skew === undefined) {
    return heads.length > 0 ? skipped("clock", "no answer has a date") : unknown("clock");
  }
  if (Math.abs(skew) <= mostSkewSeconds) {
    return ok("clock", "this machine's clock and the service's agree");
  }
  const seconds = Math.round(Math.abs(skew));
  return warning(
    "clock",
    `this machine's clock is ${seconds} s ${skew > 0 ? "ahead of" : "behind"} the service's`,
    "Set this machine's clock (NTP): certificates and waiting times are judged by it.",
  );
}

/** How far the Date header lies outside the time in which the answer was made; positive: we are ahead. */
function skewSeconds({ headers, asked, answered }: AnswerHead): number | undefined {
  const date = Date.parse(String(headers["date"] ?? ""));
  if (Number.isNaN(date)) return undefined;
  // It is in whole seconds, rounded down.
  const [earliest, latest] = [asked.getTime() - 1000, answered.getTime()];
  if (date < earliest) return (earliest - date) / 1000;
  return date > latest ? (latest - date) / 1000 : 0;
}
