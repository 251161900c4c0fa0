/** Asks the service step by step: each step is bounded in requests and in time, and its cost is noted. */
import { Canceled, isEnded } from "../../provider/abort";
import type { DestroyPath, ProbeApi } from "../../provider/api/client";
import type { CreateBody } from "../../provider/api/contract";
import { RequestError } from "../../provider/api/requestError";
import type { ClientOptions } from "../../provider/api/options";
import type { PostOutcome } from "../../provider/api/postOutcome";
import { pageLimit } from "../../provider/api/serviceConstants";
import { OperationFailed } from "../../provider/errors";
import type { Evidence } from "../../provider/evidence/listing";
import { waits, type Operation, type Wait } from "../../provider/session/operations";
import { runPatienceMs, type Session } from "../../provider/session/session";
import { beginSession, explainError } from "../listings";
import type { FoundSettings } from "../settings";
import type { Terminal } from "../terminal";
import {
  foundOut,
  open,
  stepBounds,
  type Answer,
  type StepResult,
  type RefusedAnswer,
  type StepCost,
  type StepName,
} from "./facts";

/** One page with up to 100 instances, in its order, and what stands where their addresses belong. */
export interface ProbeListing extends Evidence {
  readonly addresses: ReadonlyMap<string, unknown>;
}

/** The first pause between two looks. Each further one is longer, up to `compute:pollIntervalSeconds`. */
const firstPauseMs = 250;
const pauseGrowth = 1.3;

/** The steps of one run of `probe`. */
export class Steps {
  readonly costs: StepCost[] = [];
  readonly session: Session;
  readonly api: ProbeApi;
  readonly #requests: () => number;

  private constructor(session: Session, api: ProbeApi, requests: () => number) {
    this.session = session;
    this.api = api;
    this.#requests = requests;
  }

  /**
   * Begins a session with these settings. `cancel` ends its requests.
   *
   * @throws RequestError if no client can be made with the settings
   */
  static async begin(
    settings: FoundSettings,
    io: Terminal,
  ): Promise<{ steps: Steps; cancel: () => void }> {
    const { createClient } = await import("../../provider/api/client.js");
    let requests = 0;
    const made = Promise.withResolvers<ProbeApi>();
    const createApi = (options: ClientOptions) => {
      const log = (line: string) => {
        requests++;
        options.log(line);
      };
      const api = createClient({ ...options, log });
      made.resolve(api);
      return api;
    };
    const { session, cancel } = beginSession(settings, { ...io, createApi }, runPatienceMs);
    await session.connection.api();
    return { steps: new Steps(session, await made.promise, () => requests), cancel };
  }

  /** Does a step. @throws what `act` throws, and OperationFailed or TimedOut if the step goes beyond its bounds */
  async run<T>(step: StepName, act: (asking: Inquiry) => Promise<T>): Promise<T> {
    const { clock } = this.session.ctx;
    const begunAt = clock.now();
    const before = this.#requests();
    const spent = () => this.#requests() - before;
    using operation = this.session.operations.begin(stepBounds[step].seconds);
    try {
      return await act(new Inquiry(this, operation, step, spent));
    } finally {
      const seconds = Math.round((clock.now() - begunAt) / 100) / 10;
      this.costs.push({ step, requests: spent(), seconds });
    }
  }

  /** Does a step, whose failure is a fact like others. @throws Canceled, and a defect of the plugin */
  async find<T>(step: StepName, act: (asking: Inquiry) => Promise<T>): Promise<StepResult<T>> {
    try {
      return foundOut(await this.run(step, act));
    } catch (error) {
      return open(whyStepEnded(error));
    }
  }
}

/**
 * Says in one line why a step has failed.
 *
 * @throws the error itself if it is Canceled, or a defect of the plugin
 */
export function whyStepEnded(error: unknown): string {
  const [line] = explainError(error) ?? [];
  if (line === undefined || error instanceof Canceled) throw error;
  return isEnded(error) ? error.message : line;
}

/** What a step may ask. */
export class Inquiry {
  readonly #steps: Steps;
  readonly #operation: Operation;
  readonly #step: StepName;
  readonly #spent: () => number;
  #pauseMs = firstPauseMs;

  constructor(steps: Steps, operation: Operation, step: StepName, spent: () => number) {
    this.#steps = steps;
    this.#operation = operation;
    this.#step = step;
    this.#spent = spent;
  }

  /** Now, in clock time. */
  now(): number {
    return this.#steps.session.ctx.clock.now();
  }

  /** GET /v2/account. */
  account(): Promise<unknown> {
    return this.#ask(waits.account, (api, signal) => api.account(signal));
  }

  /** One page of GET /v2/instances with this query. */
  page(query: Readonly<Record<string, string>>) {
    return this.#ask(waits.listing, (api, signal) => api.listBy(query, signal));
  }

  /** The first page of up to 100 instances. */
  async look(): Promise<ProbeListing> {
    const begunAt = this.now();
    const { items, hasMore, unreadable, addresses } = await this.page({
      limit: String(pageLimit.max),
    });
    const byId = new Map(items.map((item) => [item.id, item]));
    const complete = !hasMore && unreadable === 0;
    const endedAt = this.now();
    const seen = { items: byId, complete, unreadable, addresses };
    return { ...seen, completeStatuses: new Set(), begunAt, endedAt };
  }

  /** Waits before the next look. */
  pause(): Promise<void> {
    const { settings, ctx } = this.#steps.session;
    const pauseMs = Math.min(this.#pauseMs, settings.pollIntervalMs);
    this.#pauseMs *= pauseGrowth;
    return ctx.clock.sleep(pauseMs, this.#operation.signal);
  }

  /** Sends a POST once the rate limit allows it. `grace` ends the wait for its answer. Resolves also to how long it took. */
  async post(body: CreateBody, grace: AbortSignal): Promise<{ outcome: PostOutcome; ms: number }> {
    const unsent = this.#operation.signal;
    const permit = await this.#ask(waits.permit, (api, signal) => api.permitForPost(signal));
    const begunAt = this.now();
    const outcome = await this.#steps.api.createInstance(body, permit, { unsent, grace });
    return { outcome, ms: this.now() - begunAt };
  }

  /** Sends DELETE for one instance. */
  destroy(path: DestroyPath, id: string): Promise<Answer<number>> {
    return answerOf(
      this.#ask(waits.destroy(path), (api, signal) => api.destroyAt(path, id, signal)),
    );
  }

  async #ask<T>(wait: Wait, send: (api: ProbeApi, signal: AbortSignal) => Promise<T>): Promise<T> {
    const { requests } = stepBounds[this.#step];
    if (this.#spent() >= requests)
      throw new OperationFailed([`${requests} requests have not been enough`]);
    using _waiting = this.#operation.waiting(wait);
    return await send(this.#steps.api, this.#operation.signal);
  }
}

/**
 * Resolves to the answer of the service, also if it refuses.
 *
 * @throws Error if there is no answer, or if the token is refused
 */
export async function answerOf<T>(sending: Promise<T>): Promise<Answer<T>> {
  try {
    return { kind: "answered", value: await sending };
  } catch (error) {
    if (!(error instanceof RequestError && error.isFinalNo)) throw error;
    return { kind: "refused", refusal: refusedAnswerOf(error) };
  }
}

/** Returns what the table needs of a refused request. */
export function refusedAnswerOf(error: RequestError): RefusedAnswer {
  const { status, service, hasEnvelope, about, mayHaveActed } = error;
  return {
    status,
    code: service.code,
    message: service.message ?? error.message,
    isEnvelope: hasEnvelope,
    isNoCall: about === "elsewhere",
    isScopeMissing: about === "scope",
    mayHaveActed,
  };
}
