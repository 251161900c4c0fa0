/** The scripted faults of one emulator, and which of them apply to a request. */
import { OptionError } from "../options";
import type { RandomSource } from "../random";
import type { LoggedRequest } from "../requestLog";
import {
  faultScript,
  isDeliveryFault,
  type Fault,
  type FaultKind,
  type FaultScript,
  type Match,
} from "./kinds";

/** What a test gets for a fault that it has scripted. */
export interface FaultHandle {
  readonly id: number;
  readonly kind: FaultKind;
  /** How many requests it has applied to. */
  readonly hits: number;
  /** Resolves when it applies for the first time. */
  readonly firstHit: Promise<void>;
  /** Takes it out of the script. Requests that hang because of it still hang. */
  remove(): void;
  /** Lets every request go on that hangs because of this fault, now and later. */
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
  #toSkip: number;

  constructor(id: number, fault: Fault, match: Match, random: RandomSource, remove: () => void) {
    this.id = id;
    this.fault = fault;
    this.remove = remove;
    this.#match = match;
    this.#random = random;
    this.#timesLeft = match.times === "always" ? Infinity : match.times;
    this.#toSkip = match.after;
  }

  get kind(): FaultKind {
    return this.fault.kind;
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

  /** Whether it applies to this request; if so, the request is counted. */
  take(request: LoggedRequest): boolean {
    if (this.#timesLeft <= 0 || !isMatch(this.#match, request)) return false;
    if (this.#toSkip > 0) {
      this.#toSkip--;
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

  /** @throws {OptionError} for a script that makes no sense */
  add(script: FaultScript): ScriptedFault {
    const parsed = faultScript.safeParse(script);
    if (!parsed.success) {
      const { path = [], message = "" } = parsed.error.issues[0] ?? {};
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

  /** The faults that apply to this request, which is counted for each of them. At most one is a delivery fault. */
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

/** Whether a text matches a pattern in which `*` stands for any text. */
export function matchesPattern(pattern: string, text: string | undefined): boolean {
  const source = pattern.replaceAll(/[\\^$.+?()[\]{}|]/g, "\\$&").replaceAll("*", ".*");
  return text !== undefined && new RegExp(`^${source}$`, "s").test(text);
}
