/**
 * The operations of a session that are under way, what each of them waits for, and what it meets. If the service asks for a pause
 * (429 or 503 with Retry-After) that does not end before an operation's time-out, the operation ends at once (G6).
 */
import { deadline, TimedOut, type Ending, type Pause } from "../abort";
import type { RequestError } from "../api/errors";
import type { Retry } from "../api/options";
import { paths } from "../api/serviceConstants";
import type { ProviderContext } from "../context";
import { Once } from "../once";
import { InfoColumn, type Activity, type FailedRequest, type Line } from "./infoColumn";

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
  /** The instance, if the call names it. */
  id?: string | undefined;
  option?: TimeoutOption;
}

/** The last failed try of an endpoint, which is to be repeated. */
type Repeated = Required<FailedRequest> & Pick<Retry, "isAsked">;

/** One call of the engine, or one command: its time-out, and what it waits for. Disposing of it stops its timer. */
export class Operation implements Ending {
  readonly signal: AbortSignal;
  /** Its line in the Info column. Undefined if it is no resource's. */
  readonly #line: Line | undefined;
  readonly #option: TimeoutOption | undefined;
  /** The clock time at which the operation times out. */
  readonly endsAt: number;
  /** The waits under way, innermost last, each with the last failed try since the service last answered. */
  readonly #waits = new Map<Wait, FailedRequest | undefined>();
  readonly #early = new AbortController();
  readonly #ending: Ending;
  readonly #onDispose: () => void;

  constructor(
    readonly seconds: number,
    { urn, id, option }: OperationOwner,
    { ctx, column, canceled, onDispose }: OperationParts,
  ) {
    const beginsAt = ctx.clock.now();
    this.endsAt = beginsAt + seconds * 1000;
    this.#option = option;
    this.#line = urn === undefined ? undefined : column.begin({ urn, id, beginsAt, seconds });
    this.#onDispose = onDispose;
    const outer = AbortSignal.any([canceled, this.#early.signal]);
    this.#ending = deadline(ctx.clock, seconds, outer, () => this.#timedOut());
    this.signal = this.#ending.signal;
  }

  begin(wait: Wait): Disposable {
    // A copy, because an operation may wait for the same twice.
    const own = { ...wait };
    this.#waits.set(own, undefined);
    return {
      [Symbol.dispose]: () => {
        this.#waits.delete(own);
        this.#showTrouble();
      },
    };
  }

  /** Whether a person sees in the Info column what it waits for. */
  get hasLine(): boolean {
    return this.#line !== undefined;
  }

  /** Whether the operation waits for an answer of this endpoint. */
  waitsFor(endpoint: string): boolean {
    return [...this.#waits.keys()].some((wait) => wait.endpoint === endpoint);
  }

  /** Takes a failed try of what it waits for. */
  noteFailedTry(endpoint: string, failed: FailedRequest): void {
    for (const wait of this.#waits.keys()) {
      if (wait.endpoint === endpoint) this.#waits.set(wait, failed);
    }
    this.#showTrouble();
  }

  /** Takes an answer: what it waits for has no trouble any more. */
  noteAnswer(): void {
    for (const wait of this.#waits.keys()) this.#waits.set(wait, undefined);
    this.#showTrouble();
  }

  /** Shows in the Info column what the operation does. */
  show(activity: Activity): void {
    this.#line?.show(activity);
  }

  /** Ends the operation, because this pause does not end before its time-out. */
  endBefore(pause: Pause): void {
    this.#early.abort(this.#timedOut(pause));
  }

  /** The innermost wait. A wait that fails comes first, since of a wait for the account and one for a listing only one may. */
  get #awaited(): [wait?: Wait, failed?: FailedRequest | undefined] {
    const all = [...this.#waits];
    return all.findLast(([, failed]) => failed) ?? all.at(-1) ?? [];
  }

  #showTrouble(): void {
    const [, failed] = this.#awaited;
    this.#line?.meet(failed);
  }

  #timedOut(pause?: Pause): TimedOut {
    const [wait, failed] = this.#awaited;
    const lastTry = failed ? `, and the last try failed: ${failed.error.message}` : "";
    const waitedFor = wait && wait.what + lastTry;
    return new TimedOut(this.seconds, { option: this.#option, waitedFor, pause });
  }

  [Symbol.dispose](): void {
    this.#line?.[Symbol.dispose]();
    this.#onDispose();
    this.#ending[Symbol.dispose]();
  }
}

/** What an operation is given by its session. */
interface OperationParts {
  ctx: ProviderContext;
  column: InfoColumn;
  canceled: AbortSignal;
  onDispose: () => void;
}

/** From such a pause on, a person asks what the run is waiting for. */
const noticeableMs = 3000;

const noWait: Disposable = { [Symbol.dispose]: () => undefined };

/** The operations of one session. */
export class Operations {
  readonly #ctx: ProviderContext;
  readonly #canceled: () => AbortSignal;
  readonly #column: InfoColumn;
  /** By their signals, which all that they call gets. */
  readonly #underWay = new Map<AbortSignal, Operation>();
  /** The endpoints of which a message has said that they are tried again. */
  readonly #said = new Once();
  /** By endpoint. */
  readonly #repeated = new Map<string, Repeated>();

  constructor(ctx: ProviderContext, canceled: () => AbortSignal) {
    this.#ctx = ctx;
    this.#canceled = canceled;
    this.#column = new InfoColumn(ctx);
  }

  /** Begins an operation, which a cancel or this time-out ends. */
  begin(seconds: number, owner: OperationOwner = {}): Operation {
    const operation: Operation = new Operation(seconds, owner, {
      ctx: this.#ctx,
      column: this.#column,
      canceled: this.#canceled(),
      onDispose: () => void this.#underWay.delete(operation.signal),
    });
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
    const { endpoint } = wait;
    const repeated = endpoint === undefined ? undefined : this.#repeated.get(endpoint);
    if (endpoint !== undefined && repeated && repeated.nextAt > this.#ctx.clock.now()) {
      meet(operation, endpoint, repeated);
    }
    return underWay;
  }

  /** Takes a failed try that is to be repeated. */
  retrying({ method, path, error, inMs, isAsked }: Retry): void {
    const { clock, messages } = this.#ctx;
    // Rounded up, because messages show whole seconds.
    const until = new Date(Math.ceil((clock.date().getTime() + inMs) / 1000) * 1000);
    const repeated = { error, isAsked, nextAt: clock.now() + inMs, until };
    const endpoint = `${method} ${path}`;
    this.#repeated.set(endpoint, repeated);
    for (const operation of [...this.#underWay.values()]) {
      if (!operation.waitsFor(endpoint)) continue;
      meet(operation, endpoint, repeated);
      const isUnseen = !operation.hasLine && !operation.signal.aborted && inMs >= noticeableMs;
      if (isUnseen && this.#said.add(endpoint)) messages.info(`${error.message}; trying again`);
    }
  }

  /** Shows in the Info column what the operation with this signal does. */
  show(signal: AbortSignal, activity: Activity): void {
    this.of(signal)?.show(activity);
  }

  /** Takes the outcome of a listing for the operation with this signal, which goes on waiting: an answer or an error. */
  noteLook(signal: AbortSignal, error: RequestError | undefined): void {
    const operation = this.of(signal);
    if (error) operation?.noteFailedTry(listEndpoint, { error });
    else operation?.noteAnswer();
  }
}

/** Tells an operation of a try that is to be repeated, and ends it if the pause before that is too long for it. */
function meet(operation: Operation, endpoint: string, repeated: Repeated): void {
  operation.noteFailedTry(endpoint, repeated);
  const { error, until, isAsked, nextAt } = repeated;
  if (isAsked && nextAt >= operation.endsAt) operation.endBefore({ error, until });
}
