/** The chosen cases of `faultMatrix.test.ts`: which call goes wrong, how, and what ends the run. */
import type { FaultScript } from "../../../emulator";
import type { End } from "./running";

export interface FaultCase {
  title: string;
  /** What runs while the fault is there. Anything but an `up` has an instance to begin with. */
  command: "up" | "refresh" | "destroy";
  /** "refused": nobody listens, from the start or once the instance is there. */
  fault: FaultScript | "refused" | "refused later";
  end: "goes on" | End;
  /** The instance stays in PROVISIONING until the fault has struck. */
  whileWaiting: boolean;
  /** Settings, beside those that every case has. */
  config?: Readonly<Record<string, string>>;
}

type Fault = FaultCase["fault"];
/** Faults by name, without the call that they strike. */
type Faults = Readonly<Record<string, Record<string, unknown> | "refused" | "refused later">>;
type Struck = Pick<FaultScript, "method" | "path" | "after">;

const listing = { method: "GET", path: "/v2/instances" } as const;
const creating = { method: "POST", path: "/v2/instances" } as const;
const always = { times: "always" } as const;

/** For faults that last until nobody answers any more. */
const impatient = { requestTimeoutSeconds: "2" };

function cases(
  command: FaultCase["command"],
  call: string,
  struck: Struck,
  faults: Faults,
): FaultCase[] {
  return Object.entries(faults).map(([name, what]) => ({
    title: `${command}, ${call}: ${name}`,
    command,
    fault: typeof what === "string" ? what : ({ ...struck, ...what } as Fault),
    end: "goes on",
    whileWaiting: struck.after !== undefined,
    ...(name.includes("time-out") ? { config: impatient } : {}),
  }));
}

/** The run stands still at that call, is ended there, and then the call goes on. */
function ends(call: string, standstill: FaultScript, hows: readonly End[]): FaultCase[] {
  return hows.map((end) => ({
    title: `up, ${end} during ${call}`,
    ...{ command: "up", fault: standstill, end, whileWaiting: standstill.after !== undefined },
  }));
}

const everyEnd: readonly End[] = [
  "Ctrl-C",
  "Ctrl-C twice",
  "plugin killed",
  "engine killed",
  "both killed",
];

/** The location is filled in when the fault is scripted: another origin, which sees all that comes. */
const redirect = { kind: "redirect", location: "elsewhere" } as const;

export const faultCases: readonly FaultCase[] = [
  ...cases(
    "up",
    "the account",
    { method: "GET", path: "/v2/account" },
    {
      refused: "refused",
      "reset, once": { kind: "reset" },
      "time-out": { kind: "hang", ...always },
      "500 for good": { kind: "status", status: 500, ...always },
      "HTML for JSON": { kind: "html", ...always },
      "redirect elsewhere": { ...redirect, ...always },
    },
  ),
  ...cases("up", "the listing before the create", listing, {
    "503 for good": { kind: "status", status: 503, ...always },
    "cut body, once": { kind: "cutBody" },
    "wrong types": { kind: "wrongTypes", ...always },
    "has_more for ever": { kind: "hasMoreForever", ...always },
  }),
  ...cases("up", "the create", creating, {
    "reset before acting": { kind: "reset" },
    "reset after acting": { kind: "reset", acted: true },
    "time-out before acting": { kind: "hang" },
    "time-out after acting": { kind: "hang", acted: true },
    "429 twice": { kind: "status", status: 429, retryAfter: 0, times: 2 },
    "500 after acting": { kind: "status", status: 500, acted: true },
    "503 before acting": { kind: "status", status: 503 },
    "503 after acting": { kind: "status", status: 503, acted: true },
    "504 before acting": { kind: "status", status: 504 },
    "504 after acting": { kind: "status", status: 504, acted: true },
    "cut body": { kind: "cutBody" },
    "empty body": { kind: "emptyBody" },
    "HTML after acting": { kind: "html", acted: true },
    "wrong types": { kind: "wrongTypes" },
    "redirect elsewhere before acting": redirect,
    "redirect elsewhere after acting": { ...redirect, acted: true },
  }),
  ...cases(
    "up",
    "the first poll",
    { ...listing, after: 1 },
    {
      "refused from then on": "refused later",
      "reset, once": { kind: "reset" },
      "wrong types, once": { kind: "wrongTypes" },
      "has_more for ever": { kind: "hasMoreForever", ...always },
      "ids that change": { kind: "changeIds", times: 2 },
      "500 twice": { kind: "status", status: 500, times: 2 },
    },
  ),
  ...cases(
    "up",
    "a later poll",
    { ...listing, after: 3 },
    {
      "HTML, once": { kind: "html", status: 502 },
      "cut body, once": { kind: "cutBody" },
    },
  ),
  ...cases("refresh", "the listing", listing, {
    refused: "refused",
    "500 for good": { kind: "status", status: 500, ...always },
    "cut body for good": { kind: "cutBody", ...always },
    "wrong types for good": { kind: "wrongTypes", ...always },
    "redirect elsewhere": { ...redirect, ...always },
    "left out once": { kind: "omitItem" },
    "ids that change, once": { kind: "changeIds" },
    "has_more and nothing in it": {
      kind: "rewrite",
      rewrite: (list: object) => ({ ...list, data: [], has_more: true }),
      ...always,
    },
  }),
  ...cases(
    "destroy",
    "the destroy call",
    { method: "DELETE" },
    {
      refused: "refused",
      "500 before acting": { kind: "status", status: 500, ...always },
      "500 after acting": { kind: "status", status: 500, acted: true },
      "reset after acting": { kind: "reset", acted: true },
      "time-out after acting": { kind: "hang", acted: true },
      "redirect elsewhere": { ...redirect, ...always },
    },
  ),
  ...ends("the create, before it acts", { ...creating, kind: "hang" }, everyEnd),
  ...ends("the create, after it acted", { ...creating, kind: "hang", acted: true }, everyEnd),
  ...ends("the first poll", { ...listing, after: 1, kind: "hang" }, everyEnd),
];
