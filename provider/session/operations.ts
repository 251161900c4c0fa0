/**
 * The operations of a session that are under way: what each of them waits for, and what the Info column shows meanwhile. If
 * the service asks for a pause (429 with Retry-After) that does not end before an operation's time-out, the operation ends at
 * once (G6).
 */
import { deadline, secondOf, TimedOut, type Ending, type Pause } from "../abort";
import type { RequestError } from "../api/errors";
import type { Retry } from "../api/options";
import { paths } from "../api/serviceConstants";
import type { ProviderContext } from "../context";

/** What an operation may wait for. */
export interface Wait {
  /** As the object of "waiting for". */
  readonly what: string;
  /** The endpoint (method and path) whose answer ends the wait, if it is one. */
  readonly endpoint?: string;
}

const createEndpoint = `POST ${paths.instances}`;
const listEndpoint = `GET ${paths.instances}`;
const accountEndpoint = `GET ${paths.account}`;

/** What the operations of this provider wait for. */
export const waits = {
  account: { what: `the answer to ${accountEndpoint}`, endpoint: accountEndpoint },
  listing: { what: `a listing of the instances (${listEndpoint})`, endpoint: listEndpoint },
  permit: { what: `the rate limit of ${createEndpoint}`, endpoint: createEndpoint },
  destroy: (destroyPath: string) => ({
    what: `the answer to DELETE ${destroyPath}`,
    endpoint: `DELETE ${destroyPath}`,
  }),
} as const;

/** The resource option that sets the time-out of an operation. */
type TimeoutOption =
  | "customTimeouts.create"
  | "customTimeouts.update"
  | "customTimeouts.delete"
  | "customTimeouts.read";

/** Whose operation it is, as far as it is a resource's. */
export interface OperationOwner {
  urn?: string;
  option?: TimeoutOption;
}

/** The last failed try of an endpoint. */
interface Trouble extends Retry {
  /** The clock time of the next try. */
  nextAt: number;
  /** The date of the next try. */
  until: Date;
}

/** One call of the engine, or one command: its time-out, and what it waits for. Disposing of it stops its timer. */
export class Operation implements Ending {
  readonly signal: AbortSignal;
  readonly #clock: ProviderContext["clock"];
  readonly #owner: OperationOwner;
  readonly #beginsAt: number;
  /** Describes what the operation does now, for the Info column. */
  activity: (() => string) | undefined;
  /** The waits under way, innermost last, each with the last failed try since it began. */
  readonly #waits = new Map<Wait, RequestError | undefined>();
  readonly #early = new AbortController();
  readonly #ending: Ending;
  readonly #onDispose: () => void;

  constructor(
    readonly seconds: number,
    owner: OperationOwner,
    clock: ProviderContext["clock"],
    canceled: AbortSignal,
    onDispose: () => void,
  ) {
    this.#clock = clock;
    this.#owner = owner;
    this.#beginsAt = clock.now();
    this.#onDispose = onDispose;
    const outer = AbortSignal.any([canceled, this.#early.signal]);
    this.#ending = deadline(clock, seconds, outer, () => this.#timedOut());
    this.signal = this.#ending.signal;
  }

  get urn(): string | undefined {
    return this.#owner.urn;
  }

  /** The clock time at which the operation times out. */
  get endsAt(): number {
    return this.#beginsAt + this.seconds * 1000;
  }

  /** The time so far, and the time-out: "30 s of 900 s". */
  get time(): string {
    return `${Math.round((this.#clock.now() - this.#beginsAt) / 1000)} s of ${this.seconds} s`;
  }

  begin(wait: Wait): Disposable {
    // A copy, because an operation may wait for the same twice.
    const own = { ...wait };
    this.#waits.set(own, undefined);
    return { [Symbol.dispose]: () => void this.#waits.delete(own) };
  }

  /** Whether the operation waits for an answer of this endpoint. */
  waitsFor(endpoint: string): boolean {
    return [...this.#waits.keys()].some((wait) => wait.endpoint === endpoint);
  }

  noteFailedTry(endpoint: string, error: RequestError): void {
    for (const wait of this.#waits.keys()) {
      if (wait.endpoint === endpoint) this.#waits.set(wait, error);
    }
  }

  /** Ends the operation, because this pause does not end before its time-out. */
  endBefore(pause: Pause): void {
    this.#early.abort(this.#timedOut(pause));
  }

  #timedOut(pause?: Pause): TimedOut {
    const all = [...this.#waits];
    // An operation may wait for the account and a listing at once, and only one of them fail.
    const [wait, error] = all.findLast(([, failure]) => failure) ?? all.at(-1) ?? [];
    const lastTry = error ? `, and the last try failed: ${error.message}` : "";
    const waitedFor = wait && wait.what + lastTry;
    return new TimedOut(this.seconds, { option: this.#owner.option, waitedFor, pause });
  }

  [Symbol.dispose](): void {
    this.#onDispose();
    this.#ending[Symbol.dispose]();
  }
}

const noWait: Disposable = { [Symbol.dispose]: () => undefined };

/** The operations of one session. */
export class Operations {
  readonly #ctx: ProviderContext;
  readonly #canceled: () => AbortSignal;
  /** By their signals, which all that they call gets. */
  readonly #underWay = new Map<AbortSignal, Operation>();
  /** By endpoint. */
  readonly #troubles = new Map<string, Trouble>();

  constructor(ctx: ProviderContext, canceled: () => AbortSignal) {
    this.#ctx = ctx;
    this.#canceled = canceled;
  }

  /** Begins an operation, which a cancel or this time-out ends. */
  begin(seconds: number, owner: OperationOwner = {}): Operation {
    const end = () => void this.#underWay.delete(operation.signal);
    const operation: Operation = new Operation(
      seconds,
      owner,
      this.#ctx.clock,
      this.#canceled(),
      end,
    );
    this.#underWay.set(operation.signal, operation);
    return operation;
  }

  /** Returns the operation with this signal. Undefined for a signal of another kind. */
  of(signal: AbortSignal): Operation | undefined {
    return this.#underWay.get(signal);
  }

  /**
   * Notes that the operation with this signal waits, until the result is disposed of. A pause that does not end before the
   * operation's time-out aborts the signal: at once if the endpoint is paused already.
   */
  waiting(signal: AbortSignal, wait: Wait): Disposable {
    const operation = this.of(signal);
    if (!operation) return noWait;
    const underWay = operation.begin(wait);
    const trouble = wait.endpoint === undefined ? undefined : this.#troubles.get(wait.endpoint);
    if (trouble && trouble.nextAt > this.#ctx.clock.now()) this.#apply(trouble, operation);
    return underWay;
  }

  /** Takes a failed try that is to be repeated. */
  retrying(retry: Retry): void {
    const { clock } = this.#ctx;
    const inMs = retry.inMs ?? 0;
    // Rounded up, because messages show whole seconds.
    const until = new Date(Math.ceil((clock.date().getTime() + inMs) / 1000) * 1000);
    const trouble = { ...retry, nextAt: clock.now() + inMs, until };
    const endpoint = `${retry.method} ${retry.path}`;
    this.#troubles.set(endpoint, trouble);
    for (const operation of [...this.#underWay.values()]) {
      if (!operation.waitsFor(endpoint)) continue;
      operation.noteFailedTry(endpoint, retry.error);
      this.#apply(trouble, operation);
    }
  }

  /** Sets what the Info column says of the operation with this signal when it is next shown. */
  setActivity(signal: AbortSignal, activity: (() => string) | undefined): void {
    const operation = this.of(signal);
    if (operation) operation.activity = activity;
  }

  /** Shows the activity of the operation with this signal, and before that why a request is repeated, if one is. */
  show(signal: AbortSignal): void {
    const operation = this.of(signal);
    if (!operation) return;
    const now = this.#ctx.clock.now();
    const trouble = [...this.#troubles.entries()].find(
      ([endpoint, { nextAt }]) => nextAt > now && operation.waitsFor(endpoint),
    );
    this.#showText(operation, trouble && this.#describe(trouble[1]));
  }

  #apply(trouble: Trouble, operation: Operation): void {
    const { error, until, isAsked, nextAt } = trouble;
    if (!isAsked || nextAt < operation.endsAt) {
      return this.#showText(operation, this.#describe(trouble));
    }
    this.#showText(
      operation,
      `the service answers ${error.status} and asks for a pause until ${secondOf(until)}, which is after the time-out`,
    );
    operation.endBefore({ error, until });
  }

  /** Says what a request got, and when it is sent again. */
  #describe({ error, inMs, isAsked, nextAt, until }: Trouble): string {
    const { kind, status, message } = error;
    const what = kind === "answered" ? `the service answers ${status}` : message;
    if (inMs === undefined) return `${what}; looking for a new token`;
    const seconds = Math.max(1, Math.ceil((nextAt - this.#ctx.clock.now()) / 1000));
    const asked = isAsked ? ` (Retry-After: until ${secondOf(until)})` : "";
    return `${what}; next try in ${seconds} s${asked}`;
  }

  /** A narrow terminal cuts off the end, so the text begins with the trouble. */
  #showText({ urn, activity }: Operation, trouble: string | undefined): void {
    const texts = [trouble, activity?.()].filter((text) => text !== undefined);
    if (urn !== undefined && texts.length > 0) this.#ctx.messages.status(urn, texts.join("; "));
  }
}
