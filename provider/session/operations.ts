/**
 * The operations of a session that are under way, what each of them waits for, and what it meets. If the service asks for a pause
 * (429 or 503 with Retry-After) that does not end before an operation's time-out, the operation ends at once (G6).
 */
import { deadline, TimedOut, type Ending, type Pause } from "../abort";
import type { RequestError } from "../api/requestError";
import type { Retry } from "../api/options";
import { paths } from "../api/serviceConstants";
import type { ProviderContext } from "../context";
import { Once } from "../once";
import { InfoColumn, type Activity, type FailedRequest, type Line } from "./infoColumn";

/** What an operation waits for. */
export interface Wait {
  /** As the object of "waiting for". */
  readonly what: string;
  /** The method and path whose answer ends the wait. */
  readonly endpoint: string;
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

/** The default time-outs in seconds: `change` for operations that change an instance, `look` for those that only read. */
export const timeouts = { change: 15 * 60, look: 5 * 60 } as const;

/** Whose operation it is, as far as it is a resource's. */
interface OperationOwner {
  urn?: string;
  /** The instance, if the call names it. */
  id?: string | undefined;
  /** The resource option that sets the time-out. */
  option?: string;
}

/** The last failed try of an endpoint, which is to be repeated. */
type Repeated = Required<FailedRequest> & Pick<Retry, "isAsked">;

/** What the operations of a session share. */
interface Shared {
  readonly ctx: ProviderContext;
  readonly column: InfoColumn;
  readonly underWay: Set<Operation>;
  /** By endpoint. */
  readonly repeated: Map<string, Repeated>;
}

/** One call, or one command: its time-out, and what it waits for. Disposing of it stops its timer. */
export class Operation implements Ending {
  readonly signal: AbortSignal;
  /** Its line in the Info column. Undefined if it is no resource's. */
  readonly #line: Line | undefined;
  readonly #option: string | undefined;
  /** The clock time at which the operation times out. */
  readonly #endsAt: number;
  /** What the operation waits for now: one thing at a time. */
  #wait: Wait | undefined;
  /** The last try of the wait, if it failed. */
  #failed: FailedRequest | undefined;
  readonly #early = new AbortController();
  readonly #ending: Ending;
  readonly #shared: Shared;

  constructor(
    readonly seconds: number,
    { urn, id, option }: OperationOwner,
    canceled: AbortSignal,
    shared: Shared,
  ) {
    const { clock } = shared.ctx;
    const beginsAt = clock.now();
    this.#endsAt = beginsAt + seconds * 1000;
    this.#option = option;
    this.#line =
      urn === undefined ? undefined : shared.column.begin({ urn, id, beginsAt, seconds });
    this.#shared = shared;
    const outer = AbortSignal.any([canceled, this.#early.signal]);
    this.#ending = deadline(clock, seconds, outer, () => this.#timedOut());
    this.signal = this.#ending.signal;
    shared.underWay.add(this);
  }

  /**
   * Notes what the operation waits for, until the result is disposed of. A pause that does not end before the time-out aborts
   * the signal: at once if the endpoint is paused already.
   */
  waiting(wait: Wait): Disposable {
    this.#wait = wait;
    const { ctx, repeated } = this.#shared;
    const last = repeated.get(wait.endpoint);
    if (last && last.nextAt > ctx.clock.now()) this.meet(wait.endpoint, last);
    return {
      [Symbol.dispose]: () => {
        this.#note(undefined);
        this.#wait = undefined;
      },
    };
  }

  /** Whether a person sees in the Info column what it waits for. */
  get hasLine(): boolean {
    return this.#line !== undefined;
  }

  /** Takes a failed try that is to be repeated, if the operation waits for this endpoint. Returns whether it goes on waiting. */
  meet(endpoint: string, failed: Repeated): boolean {
    if (this.#wait?.endpoint !== endpoint) return false;
    this.#note(failed);
    const { error, until, isAsked, nextAt } = failed;
    if (isAsked && nextAt >= this.#endsAt) {
      const seconds = Math.ceil((nextAt - this.#shared.ctx.clock.now()) / 1000);
      this.#early.abort(this.#timedOut({ error, seconds, until }));
    }
    return !this.signal.aborted;
  }

  /** Takes the outcome of a listing, if the operation waits for one: an answer or an error. It goes on waiting. */
  noteLook(error: RequestError | undefined): void {
    if (this.#wait === waits.listing) this.#note(error && { error });
  }

  /** Shows in the Info column what the operation does. */
  show(activity: Activity): void {
    this.#line?.show(activity);
  }

  #note(failed: FailedRequest | undefined): void {
    this.#failed = failed;
    this.#line?.meet(failed);
  }

  #timedOut(pause?: Pause): TimedOut {
    const failed = this.#failed?.error;
    const details = { option: this.#option, waitedFor: this.#wait?.what, failed, pause };
    return new TimedOut(this.seconds, details);
  }

  [Symbol.dispose](): void {
    this.#line?.[Symbol.dispose]();
    this.#shared.underWay.delete(this);
    this.#ending[Symbol.dispose]();
  }
}

/** From such a pause on, a person asks what the run is waiting for. */
const noticeableMs = 3000;

/** The operations of one session. */
export class Operations {
  readonly #canceled: () => AbortSignal;
  readonly #shared: Shared;
  /** The endpoints of which a message has said that they are tried again. */
  readonly #said = new Once();

  constructor(ctx: ProviderContext, canceled: () => AbortSignal) {
    this.#canceled = canceled;
    const column = new InfoColumn(ctx);
    this.#shared = { ctx, column, underWay: new Set(), repeated: new Map() };
  }

  /** Begins an operation, which a cancel or this time-out ends. */
  begin(seconds: number, owner: OperationOwner = {}): Operation {
    return new Operation(seconds, owner, this.#canceled(), this.#shared);
  }

  /** Begins the operation of a resource, with the time-out in the request or else the default one. */
  of(
    { urn, id, timeoutSeconds }: { urn: string; id?: string; timeoutSeconds: number },
    kind: "create" | "update" | "delete" | "read",
  ): Operation {
    const seconds = timeoutSeconds || timeouts[kind === "read" ? "look" : "change"];
    return this.begin(seconds, { urn, id, option: `customTimeouts.${kind}` });
  }

  /** Takes a failed try that is to be repeated. */
  retrying({ method, path, error, inMs, isAsked }: Retry): void {
    const { ctx, underWay, repeated } = this.#shared;
    const { clock, messages } = ctx;
    // Rounded up, because messages show whole seconds.
    const until = new Date(Math.ceil((clock.date().getTime() + inMs) / 1000) * 1000);
    const failed = { error, isAsked, nextAt: clock.now() + inMs, until };
    const endpoint = `${method} ${path}`;
    repeated.set(endpoint, failed);
    for (const operation of underWay) {
      const isUnseen = operation.meet(endpoint, failed) && !operation.hasLine;
      if (isUnseen && inMs >= noticeableMs && this.#said.markSaid(endpoint))
        messages.info(`${error.message}; trying again`);
    }
  }
}
