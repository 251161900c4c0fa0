/** What `probe` finds out about a service. The table is made from these facts alone. Times are in milliseconds if nothing else is said. */
import type { DestroyPath } from "../../provider/api/client";
import type { Accepted } from "../../provider/api/contract";
import type { Settings } from "../../provider/config/settings";

/** The steps, each with the most that it may cost. */
export const stepBounds = {
  account: { seconds: 60, requests: 3 },
  listing: { seconds: 60, requests: 6 },
  create: { seconds: 180, requests: 90 },
  wait: { seconds: 900, requests: 360 },
  "same name": { seconds: 180, requests: 180 },
  order: { seconds: 60, requests: 10 },
  cursor: { seconds: 120, requests: 50 },
  destroy: { seconds: 600, requests: 300 },
} as const;
/** What `probe` does at a time. */
export type StepName = keyof typeof stepBounds;

/** What a step has cost. A request that was repeated counts each time. */
export interface StepCost {
  readonly step: StepName;
  readonly requests: number;
  readonly seconds: number;
}

/** What a step has found out, or why it has not. */
export type StepResult<T> =
  { readonly kind: "found"; readonly value: T } | { readonly kind: "open"; readonly why: string };

/** An answer of the service that refuses a request. */
export interface RefusedAnswer {
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly message: string;
  /** Whether it is the document's error envelope. */
  readonly isEnvelope: boolean;
  /** Whether the service has no such call there, or redirects. */
  readonly isNoCall: boolean;
  readonly isScopeMissing: boolean;
  /** Whether an earlier try of the same request, whose answer was lost, may have been carried out. */
  readonly mayHaveActed: boolean;
}

/** An answer of the service. */
export type Answer<T> =
  | { readonly kind: "answered"; readonly value: T }
  | { readonly kind: "refused"; readonly refusal: RefusedAnswer };

/** The answer to GET /v2/account. */
export type AccountFact =
  | { readonly kind: "id"; readonly id: string }
  | { readonly kind: "noId" }
  | { readonly kind: "refused"; readonly refusal: RefusedAnswer };

/** The listing without any parameter, and with an unknown one. */
export interface ListingFact {
  readonly listed: number;
  readonly hasMore: boolean;
  /** Undefined if an unknown parameter is ignored. */
  readonly refusal: RefusedAnswer | undefined;
}

/** What a service does with a parameter that may be its cursor. */
export interface CursorTry {
  readonly parameter: string;
  readonly takes: "id" | "number";
  /** `pages`: each page has only new instances. `muddled`: some page repeats or lacks instances. */
  readonly result: "pages" | "ignored" | "refused" | "muddled";
  readonly pages: number;
  /** Whether the pages have led to the end, and shown all instances. */
  readonly isWhole: boolean;
}

/** How the service pages. */
export interface CursorFact {
  /** The page size that was asked for. */
  readonly limit: number;
  readonly isPageCut: boolean;
  readonly tries: readonly CursorTry[];
}

/** How many listings have shown the two instances in which order. */
export interface OrderFact {
  readonly oldestFirst: number;
  readonly newestFirst: number;
}

/** What listings have shown of an instance. Times count from its 202. */
export interface ListedFact {
  /** The first listing that shows it. */
  listedAt?: number;
  /** The last listing that lacks it. */
  lackedAt?: number;
  name?: string | undefined;
  readonly statuses: { readonly status: string; readonly at: number }[];
  /** What stood where the address belongs, as JSON, before there was one. */
  readonly before: string[];
  addressAt?: number;
  /** Why the wait ended before the instance was ACTIVE with an address. */
  why?: string;
}

/** An instance that `probe` has made. */
export interface Made {
  readonly id: string;
  readonly sentName: string;
  /** How long the POST took. */
  readonly postMs: number;
  /** Undefined if its answer was lost, and a listing has shown the instance. */
  readonly accepted: Accepted | undefined;
  readonly sighting: ListedFact;
}

/** The outcome of a POST. `known`: the answer names an instance that was there before. */
export type CreateFact =
  | { readonly kind: "made"; readonly made: Made }
  | { readonly kind: "known"; readonly id: string }
  | { readonly kind: "refused"; readonly refusal: RefusedAnswer };

/** What a second POST with the same name does: another instance, the same one again, or a refusal. */
export type SameNameFact =
  | { readonly kind: "another" }
  | { readonly kind: "same" }
  | { readonly kind: "refused"; readonly refusal: RefusedAnswer };

/** A path, and what DELETE does there. The value of an answer is its HTTP status. */
export interface DestroyTry {
  readonly path: DestroyPath;
  /** The answer for an id that no instance has. */
  readonly stranger: Answer<number>;
  /** The answer for an instance of `probe`. Undefined if none was asked for. */
  readonly own?: Answer<number>;
  /**
   * How long after the answer the first of the listings began that prove the instance gone. "unseen": the listings prove nothing.
   * Undefined if they show the instance, or if nobody looked.
   */
  readonly goneAfter?: number | "unseen" | undefined;
}

/** All that was found out. */
export interface Facts {
  /** What the table compares with what was found. */
  readonly settings: Pick<
    Settings,
    "cursorParameter" | "destroyPath" | "settlingMs" | "pollIntervalMs"
  > & {
    /** Undefined if it has its default, which a `destroyPath` makes "destroy". */
    readonly deletePolicy: Settings["deletePolicy"] | undefined;
  };
  readonly account: AccountFact;
  readonly listing: ListingFact;
  readonly cursor: StepResult<CursorFact>;
  readonly order: StepResult<OrderFact>;
  readonly create: StepResult<CreateFact>;
  readonly sameName: StepResult<SameNameFact>;
  readonly destroy: StepResult<readonly DestroyTry[]>;
  /** The instances that were made, and that may still be there. */
  readonly left: readonly string[];
  readonly steps: readonly StepCost[];
}

/** Says that a step has found something out. */
export function foundOut<T>(value: T): StepResult<T> {
  return { kind: "found", value };
}

/** Says why a step has found nothing out. */
export function open(why: string): { readonly kind: "open"; readonly why: string } {
  return { kind: "open", why };
}
