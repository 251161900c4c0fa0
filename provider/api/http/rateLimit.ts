/**
 * The service's rate limit as the client keeps it (G6): a sliding window for each endpoint, which the
 * document lists by method and path. A 429 that an endpoint's own count can't explain shows that the
 * service counts by path, or that others share the token: from then on the endpoints of that path are
 * counted together, at even distances, and take turns.
 */
import { notNeeded } from "../../abort";
import type { ClientOptions, CreatePermit } from "../client";
import { type BackOff, type BackOffOptions, PauseThenSpread } from "./backOff";

export interface RateLimitOptions extends Pick<
  ClientOptions,
  "clock" | "random" | "requestsPerMinute" | "onSlowedDown"
> {
  /** Another choice than ours, for the comparison of docs/scaling.md. */
  backOff?: ((options: BackOffOptions) => BackOff) | undefined;
}

/** How a request ended, as far as the limit is concerned. */
export type Ending =
  /** Nothing was sent: it does not count. */
  | { sent: false }
  /** Sent; `answered` when the service let it in. */
  | { sent: true; answered: boolean }
  /** A 429, with the pause the service asks for, if it does. */
  | { sent: true; tooMany: true; retryAfterMs: number | undefined };

const windowMs = 60_000;
/** Of the service's limit; 5 % is left to what else uses the token. */
const share = 0.95;
/** With less than this part of the limit used, our own requests don't explain a 429. */
const explained = 0.9;
/**
 * Requests under way at a time, but for GETs. Each POST has a connection of its own, and all of them
 * would run into the same 429; this many use up the documented limit unless an answer takes over 6 s.
 */
const mostUnderWay = 100;

/** Lets one request go. */
export class Permit implements CreatePermit {
  #end: ((ending: Ending) => void) | undefined;

  constructor(end: (ending: Ending) => void) {
    this.#end = end;
  }

  release(): void {
    this.use()?.({ sent: false });
  }

  /** Gives what has to be told how the request ended; undefined where it was used or released before. */
  use(): ((ending: Ending) => void) | undefined {
    const end = this.#end;
    this.#end = undefined;
    return end;
  }
}

/** Belongs to one client: two providers do not know of each other. */
export class RateLimit {
  readonly #paths = new Map<string, PathLimit>();

  constructor(private readonly options: RateLimitOptions) {}

  /**
   * Resolves when a request may be sent; rejects with the signal's reason while it waits. `path` is a
   * template where the path holds an id.
   */
  enter(method: string, path: string, signal: AbortSignal): Promise<Permit> {
    const limit = this.#paths.get(path) ?? new PathLimit(path, this.options);
    this.#paths.set(path, limit);
    return limit.enter(method, signal);
  }
}

/** A request that was let go. */
interface Started {
  method: string;
  at: number;
  /** Infinity while it is under way. */
  endedAt: number;
}

interface Endpoint {
  backOff: BackOff;
  /** First come, first served. */
  waiting: Set<(permit: Permit) => void>;
}

/** The endpoints of one path. */
class PathLimit {
  readonly #limit: number;
  /** By method; the one that a permit was given to last stands last. */
  readonly #endpoints = new Map<string, Endpoint>();
  /**
   * Requests that count: each from its permit until a window after its end. The service counts it at some
   * moment in between, so no 60 seconds hold too many, by its clock or by ours.
   */
  #started: Started[] = [];
  /** The endpoints are counted together. */
  #together = false;
  #lastAt = -Infinity;
  #alarm: { at: number; off: AbortController } | undefined;

  constructor(
    private readonly path: string,
    private readonly options: RateLimitOptions,
  ) {
    this.#limit = Math.max(1, Math.floor(options.requestsPerMinute * share));
  }

  enter(method: string, signal: AbortSignal): Promise<Permit> {
    const { promise, resolve, reject } = Promise.withResolvers<Permit>();
    if (signal.aborted) {
      reject(signal.reason as Error);
      return promise;
    }
    const { waiting } = this.#endpoint(method);
    const onAbort = () => {
      waiting.delete(grant);
      reject(signal.reason as Error);
      this.#admit();
    };
    const grant = (permit: Permit) => {
      waiting.delete(grant);
      signal.removeEventListener("abort", onAbort);
      resolve(permit);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    waiting.add(grant);
    this.#admit();
    return promise;
  }

  #endpoint(method: string): Endpoint {
    let endpoint = this.#endpoints.get(method);
    if (!endpoint) {
      const options = { random: this.options.random, limit: this.#limit };
      const backOff = this.options.backOff?.(options) ?? new PauseThenSpread(options);
      endpoint = { backOff, waiting: new Set() };
      this.#endpoints.set(method, endpoint);
    }
    return endpoint;
  }

  #admit(): void {
    const now = this.options.clock.now();
    this.#forgetOld(now);
    let wait = 0;
    while (wait === 0) {
      wait = Infinity;
      for (const [method, endpoint] of this.#endpoints) {
        const [grant] = endpoint.waiting;
        if (!grant) continue;
        wait = Math.min(wait, this.#msToWait(method, endpoint, now));
        if (wait > 0) continue;
        // They take turns, so that none starves another.
        this.#endpoints.delete(method);
        this.#endpoints.set(method, endpoint);
        grant(this.#permit(method, endpoint.backOff, now));
        break;
      }
    }
    this.#wakeIn(wait);
  }

  /** 0: go; Infinity: when a request under way ends. */
  #msToWait(method: string, { backOff }: Endpoint, now: number): number {
    const counted = this.#counted(method);
    const underWay = counted.filter((it) => it.method === method && it.endedAt === Infinity);
    if (method !== "GET" && underWay.length >= mostUnderWay) return Infinity;
    const toFree = counted.length < this.#limit ? 0 : firstEnd(counted) + windowMs + 1 - now;
    // A burst of one method would use up the window for the other.
    const evenly = this.#together && this.#endpoints.size > 1;
    const toNext = evenly ? this.#lastAt + windowMs / this.#limit - now : 0;
    return Math.max(toFree, toNext, backOff.msToWait(now));
  }

  #forgetOld(now: number): void {
    this.#started = this.#started.filter(({ endedAt }) => now - endedAt <= windowMs);
  }

  /** What shares a window with requests of this method. */
  #counted(method: string): Started[] {
    return this.#started.filter((it) => this.#together || it.method === method);
  }

  #permit(method: string, backOff: BackOff, now: number): Permit {
    const started: Started = { method, at: now, endedAt: Infinity };
    this.#started.push(started);
    this.#lastAt = now;
    backOff.start(now);
    return new Permit((ending) => {
      this.#end(started, backOff, ending);
      this.#admit();
    });
  }

  #end(started: Started, backOff: BackOff, ending: Ending): void {
    const now = this.options.clock.now();
    started.endedAt = ending.sent ? now : -Infinity;
    if (!("tooMany" in ending)) return backOff.end(started.at, ending.sent && ending.answered);
    this.#forgetOld(now);
    if (this.#counted(started.method).length < this.#limit * explained) this.#together = true;
    const pause = backOff.tooMany(started.at, now, ending.retryAfterMs);
    if (pause !== undefined) {
      this.options.onSlowedDown?.({ method: started.method, path: this.path, retryInMs: pause });
    }
  }

  /** Sets the one timer; none while nobody waits, so that an idle client keeps no process alive. */
  #wakeIn(ms: number): void {
    const { clock } = this.options;
    const at = clock.now() + ms;
    if (this.#alarm?.at === at) return;
    this.#alarm?.off.abort(notNeeded);
    this.#alarm = undefined;
    if (ms === Infinity) return;
    const off = new AbortController();
    this.#alarm = { at, off };
    const ring = () => {
      if (this.#alarm?.off === off) this.#alarm = undefined;
      this.#admit();
    };
    clock.sleep(ms, off.signal).then(ring, () => undefined);
  }
}

function firstEnd(started: readonly Started[]): number {
  return started.reduce((first, { endedAt }) => Math.min(first, endedAt), Infinity);
}
