/**
 * The scripted faults of one emulator. A script is one fault with the conditions under which it applies.
 * `FaultScripts.take` selects the faults that apply to a request.
 */
import { OptionError } from "../options";
import { matchesPattern } from "../pattern";
import type { RandomSource } from "../random";
import type { LoggedRequest } from "../requestLog";
import {
  faultScript,
  isDeliveryFault,
  isInstanceFault,
  isListFault,
  type Fault,
  type FaultKind,
  type FaultScript,
  type Match,
} from "./kinds";

/** A scripted fault as a test sees it. */
export interface FaultHandle {
  readonly id: number;
  readonly kind: FaultKind;
  /** The name that the script gives the fault. */
  readonly label: string | undefined;
  /** Whether the fault has applied to as many requests as its script allows, so that it never applies again. */
  readonly isSpent: boolean;
  /** The number of requests that the fault has applied to. */
  readonly hits: number;
  /** Resolves when the fault applies for the first time. */
  readonly firstHit: Promise<void>;
  /** Removes the fault, so that it applies to no further request. Requests that hang because of the fault continue to hang. */
  remove(): void;
  /** Ends the hang of every request that this fault applies to, now and later. */
  release(): void;
}

/** A fault, its conditions, and how often it has applied. */
export class ScriptedFault implements FaultHandle {
  readonly id: number;
  readonly fault: Fault;
  readonly remove: () => void;
  hits = 0;
  readonly #match: Match;
  readonly #random: RandomSource;
  readonly #firstHit = Promise.withResolvers<void>();
  readonly #released = Promise.withResolvers<void>();
  #timesLeft: number;
  /** The number of matching requests that the fault still skips. */
  #skipsLeft: number;

  constructor(id: number, fault: Fault, match: Match, random: RandomSource, remove: () => void) {
    this.id = id;
    this.fault = fault;
    this.remove = remove;
    this.#match = match;
    this.#random = random;
    this.#timesLeft = match.times === "always" ? Infinity : match.times;
    this.#skipsLeft = match.after;
  }

  get kind(): FaultKind {
    return this.fault.kind;
  }
  get label(): string | undefined {
    return this.#match.label;
  }
  get isSpent(): boolean {
    return this.#timesLeft <= 0;
  }
  get firstHit(): Promise<void> {
    return this.#firstHit.promise;
  }
  /** Resolves on `release()`. */
  get whenReleased(): Promise<void> {
    return this.#released.promise;
  }

  release(): void {
    this.#released.resolve();
  }

  /** Returns whether the fault applies to this request, and counts the request if it does. */
  take(request: LoggedRequest): boolean {
    if (this.isSpent || !isMatch(this.#match, request)) return false;
    // A fault that no request of this kind can meet is not used up by it.
    if (isInstanceFault(this.fault) && request.method !== "POST") return false;
    if (
      isListFault(this.fault) &&
      !(request.method === "GET" && request.path.endsWith("/instances"))
    )
      return false;
    if (this.#skipsLeft > 0) {
      this.#skipsLeft--;
      return false;
    }
    const { probability } = this.#match;
    if (probability < 1 && this.#random() >= probability) return false;
    this.#timesLeft--;
    this.hits++;
    this.#firstHit.resolve();
    return true;
  }
}

/** The scripted faults, in the order in which they were scripted. */
export class FaultScripts {
  readonly #random: RandomSource;
  #faults: ScriptedFault[] = [];
  #lastId = 0;

  constructor(random: RandomSource) {
    this.#random = random;
  }

  /**
   * Adds a fault after those that exist.
   * @throws {OptionError} for an invalid script
   */
  add(script: FaultScript): ScriptedFault {
    const parsed = faultScript.safeParse(script);
    if (!parsed.success) {
      const { path = [], message = "" } = parsed.error.issues[0] ?? {};
      // The first part of the path is `fault` or `match`, which the caller does not write.
      throw new OptionError(`fault: ${path.slice(1).join(".")}: ${message}`);
    }
    const { fault, match } = parsed.data;
    const id = ++this.#lastId;
    const remove = () => {
      this.#faults = this.#faults.filter((other) => other.id !== id);
    };
    const added = new ScriptedFault(id, fault, match, this.#random, remove);
    this.#faults.push(added);
    return added;
  }

  all(): readonly ScriptedFault[] {
    return this.#faults;
  }

  clear(): void {
    this.#faults = [];
  }

  /**
   * Returns the faults that apply to this request, and counts a hit for each of them. At most one is a delivery fault,
   * which changes, cuts or holds back the response.
   */
  take(request: LoggedRequest): ScriptedFault[] {
    const taken: ScriptedFault[] = [];
    for (const scripted of this.#faults) {
      const isSecondDelivery =
        isDeliveryFault(scripted.fault) && taken.some(({ fault }) => isDeliveryFault(fault));
      if (!isSecondDelivery && scripted.take(request)) taken.push(scripted);
    }
    return taken;
  }
}

function isMatch(match: Match, request: LoggedRequest): boolean {
  return (
    (match.method === undefined || match.method === request.method) &&
    (match.path === undefined || matchesPattern(match.path, request.path)) &&
    (match.name === undefined || matchesPattern(match.name, request.name)) &&
    (match.tokenKind === undefined || match.tokenKind === request.tokenKind) &&
    Object.entries(match.query ?? {}).every(
      ([name, value]) => (request.query[name] ?? null) === value,
    )
  );
}
