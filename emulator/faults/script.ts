/** The scripted faults of one emulator. A script is one fault with the conditions under which it applies. */
import { OptionError } from "../options";
import { matchesPattern } from "../pattern";
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
  /** The name that the emulator's page shows, and by which it finds the faults that were switched on there. */
  readonly label: string | undefined;
  /** Whether the fault has applied as often as its script allows, so that it never applies again. */
  readonly isSpent: boolean;
  readonly hits: number;
  /** The latest request that has met the fault: the name in its body, or its method and path. */
  readonly metBy: string | undefined;
  readonly firstHit: Promise<void>;
  /** Switches the fault off for further requests. A request that a `hang` holds back stays held until `release`. */
  remove(): void;
  /** Ends the hang of every request that it applies to, now and later. */
  release(): void;
}

/** A fault, its conditions, and how often it has applied. */
export class ScriptedFault implements FaultHandle {
  hits = 0;
  metBy: string | undefined;
  readonly kind: FaultKind;
  readonly label: string | undefined;
  readonly #firstHit = Promise.withResolvers<void>();
  readonly firstHit = this.#firstHit.promise;
  readonly #released = Promise.withResolvers<void>();
  readonly whenReleased = this.#released.promise;
  readonly #match: Match;
  #skipsLeft: number;

  constructor(
    readonly id: number,
    readonly fault: Fault,
    match: Match,
    readonly remove: () => void,
  ) {
    this.kind = fault.kind;
    this.label = match.label;
    this.#match = match;
    this.#skipsLeft = match.after;
  }

  get isSpent(): boolean {
    const { times } = this.#match;
    return times !== "always" && this.hits >= times;
  }

  release(): void {
    this.#released.resolve();
  }

  /** Whether the fault applies to this request, which then counts as a hit. */
  take(request: LoggedRequest): boolean {
    if (this.isSpent || !isMatch(this.#match, request)) return false;
    // A request that can't meet the fault does not use it up.
    const isListing = request.method === "GET" && request.path.endsWith("/instances");
    if (isInstanceFault(this.fault) && request.method !== "POST") return false;
    if (isListFault(this.fault) && !isListing) return false;
    if (this.#skipsLeft > 0) {
      this.#skipsLeft--;
      return false;
    }
    this.hits++;
    this.metBy = request.name ?? `${request.method} ${request.path}`;
    this.#firstHit.resolve();
    return true;
  }
}

/** The scripted faults, oldest first. */
export class FaultScripts {
  #faults: ScriptedFault[] = [];
  #lastId = 0;

  /** @throws {OptionError} for an invalid script */
  add(script: FaultScript): ScriptedFault {
    const parsed = faultScript.safeParse(script);
    if (!parsed.success) {
      const { path = [], message = "" } = parsed.error.issues[0] ?? {};
      // The path starts with `fault` or `match`, which `faultScript` adds. So the caller does not know it.
      throw new OptionError(["fault", ...path.slice(1), message].join(": "));
    }
    const { fault, match } = parsed.data;
    const id = ++this.#lastId;
    const remove = () => {
      this.#faults = this.#faults.filter((other) => other.id !== id);
    };
    const added = new ScriptedFault(id, fault, match, remove);
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
   * Returns the faults that apply to this request, and counts a hit of each. At most one is a delivery fault, which changes
   * or withholds the response.
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
    (match.name === undefined || matchesPattern(match.name, request.name))
  );
}
