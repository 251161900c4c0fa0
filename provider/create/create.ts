/**
 * The Create call of an Instance. It carries out what the create protocol (`protocol.ts`) decides, and then waits until
 * the instance is ready. Once the id is known, every error carries it, so that no created instance is lost (G1).
 */
import { grace, isEnded } from "../abort";
import type { ComputeApi, Permit } from "../api/client";
import { RequestError } from "../api/requestError";
import { recentMs, type Listing } from "../evidence/listing";
import type { LedgerRecord } from "../ledger/record";
import type { Origin } from "../origin";
import type { CreateRequest, CreateResponse, UpdateRequest } from "../pulumi/calls";
import type { ChangeOccasion, Unfinished } from "../engine";
import { waits, type Operation } from "../session/operations";
import type { Session } from "../session/session";
import { argsOf, claimOf, graceMs, lookOf, specOf } from "./spec";
import { createBodyOf, type InstanceArgs } from "../instance/definition";
import { hasSecretFlavor, heldBy, Instance, previewOutputs } from "../instance/instance";
import { retainReplaced } from "../instance/retained";
import {
  failureError,
  lostAnswerReport,
  noFlavorError,
  refusedFlavorsNotice,
  reportLeftovers,
  resumedReport,
  type RefusedFlavor,
} from "./reports";
import { previewCreate } from "./preview";
import * as protocol from "./protocol";
import { askAbout, noneOfOursMs } from "../instance/existence";
import {
  goneInstance,
  succeedOrThrow,
  unfinishedError,
  waitUntilReady,
  type ReadyWait,
} from "../instance/ready";
import { forgetText } from "../instance/userData";

/** For how long after its end, at least, a listing can become the renewed baseline (the listing before the POST). */
const minSharedMs = 30_000;

/** An instance that a create has obtained. */
interface Obtained {
  wait: ReadyWait;
  /** Notes it in the session and in the ledger. Undefined if an earlier call of this session has done so. */
  note?: () => void;
}

type AcceptedResult = Extract<protocol.Result, { kind: "accepted" }>;

/**
 * Creates the instance and waits until it is ready. In a preview, returns the outputs, and refuses what the `up` would refuse as
 * far as one listing shows it (G10).
 *
 * @throws InstanceUnfinished if the create fails after the id is known, unless an error hook has repeated the call too often
 *   (`succeedOrThrow`). Before that, OperationFailed, RequestError, or the error that ended the operation.
 */
export async function createInstance(
  session: Session,
  request: CreateRequest,
  occasion: ChangeOccasion,
): Promise<CreateResponse> {
  if (occasion.is === "preview") {
    await previewCreate(session, request);
    await retainReplaced(session, request.urn);
    forgetText(session.engine, request.inputs);
    return { id: "", outputs: previewOutputs(request.inputs, session.settings.tokenKind) };
  }
  using operation = session.operations.of(request, "create");
  const wait = occasion.is === "repeat" ? occasion.unfinished : undefined;
  const obtained = wait ? { wait } : await obtain(session, request, operation);
  return await finish(session, obtained, operation);
}

/**
 * Goes on with a Create that has failed with an id, which an error hook repeats as an Update from engine 3.274 on. `unfinished` is
 * undefined if the instance was proven gone, which this run can't replace any more.
 *
 * @throws InstanceUnfinished for each failure that `succeedOrThrow` throws: after any other error, the engine would drop the instance
 */
export async function repeatCreate(
  session: Session,
  request: UpdateRequest,
  unfinished: Unfinished | undefined,
): Promise<CreateResponse> {
  using operation = session.operations.of(request, "create");
  const origin = session.connection.origin();
  const wait = unfinished ?? { instance: heldBy(request), origin, after: 0 };
  return await answer(session, wait, async () => {
    const { verdict } = await askAbout(session, wait.instance, operation);
    if (verdict.kind === "absent") throw goneInstance(wait.instance);
    const listed = verdict.kind === "listed" ? verdict.items[0] : undefined;
    return await waitUntilReady(session, { ...wait, listed }, operation);
  });
}

/** Follows the protocol to an instance. @throws if there is none */
async function obtain(
  session: Session,
  request: CreateRequest,
  operation: Operation,
): Promise<Obtained> {
  const { api, origin } = await session.connection.open(operation);
  // A create whose engine is gone makes no record.
  operation.signal.throwIfAborted();
  const args = argsOf(session.engine, request.inputs);
  const flavors = [...new Set([args.flavorId, ...(args.fallbackFlavorIds ?? [])])];
  const refused: RefusedFlavor[] = [];
  for (;;) {
    const flavor = flavors.shift() ?? "";
    using create = new Create({ session, request, operation, api, origin, args, flavor });
    const result = await create.follow();
    if (result.kind === "accepted") return create.obtained(result, refused);
    const error = refusalOf(result.failure);
    if (error) refused.push({ flavor, error });
    if (error && flavors.length > 0) continue;
    throw error && refused.length > 1
      ? noFlavorError(refused, error)
      : create.errorOf(result.failure);
  }
}

/** Returns the answer by which the service has refused what the create asks for. Then another flavor may be accepted. */
function refusalOf(failure: protocol.Failure): RequestError | undefined {
  const error = failure.kind === "postFailed" ? failure.error : undefined;
  return error instanceof RequestError && error.isRefusal ? error : undefined;
}

/** Notes the instance, and waits until it is ready. */
function finish(
  session: Session,
  { wait, note }: Obtained,
  operation: Operation,
): Promise<CreateResponse> {
  return answer(session, wait, () => {
    note?.();
    return waitUntilReady(session, wait, operation);
  });
}

/** Returns the answer to a create, once its instance is ready. Every error carries the id (G1). */
async function answer(
  session: Session,
  wait: Unfinished,
  ready: () => Promise<Instance>,
): Promise<CreateResponse> {
  const { engine, ledger } = session;
  const { instance } = wait;
  const { urn, id } = instance;
  try {
    const { outputs } = await ready();
    forgetText(engine, instance.inputs);
    return { id, outputs };
  } catch (error) {
    const unfinished = unfinishedError(session, error, instance);
    // The text of an instance that is gone stays: the Create that an error hook repeats (before engine 3.274) needs the text.
    if (unfinished.isGone) {
      engine.resource(urn).unfinished = undefined;
      ledger.remove(urn);
    } else {
      const left = new Instance({ urn, id, ...unfinished.state });
      engine.resource(urn).unfinished = { ...wait, instance: left };
      forgetText(engine, instance.inputs);
    }
    return { id, outputs: succeedOrThrow(session, unfinished, instance).outputs };
  } finally {
    // If no engine receives the id, the next run resumes the create.
    if (engine.ending !== "engineGone") ledger.update(urn, { givenBy: session.id });
  }
}

/**
 * The greatest age, since its begin, of a listing that becomes a renewed baseline: its duration, and then 30 s, or its duration again.
 * Creates that the rate limit delays share the listing. Otherwise, at a low limit, most requests would be those of listings.
 */
function sharedMs(latest: Listing | undefined): number {
  const tookMs = latest ? latest.endedAt - latest.begunAt : 0;
  return tookMs + Math.max(minSharedMs, tookMs);
}

/** What a create is made of. */
interface CreateParts {
  session: Session;
  request: CreateRequest;
  operation: Operation;
  api: ComputeApi;
  origin: Origin;
  args: InstanceArgs;
  /** The flavor of `args`, or one of its fallbacks. */
  flavor: string;
}

/** One Create call with one flavor, until its instance is known. */
class Create implements Disposable {
  readonly #session: Session;
  readonly #request: CreateRequest;
  readonly #operation: Operation;
  readonly #api: ComputeApi;
  readonly #origin: Origin;
  readonly #args: InstanceArgs;
  readonly #spec: protocol.CreateSpec;
  /** Not given back while an old baseline is renewed, so that the new baseline is not too old for the POST. */
  #permit: Permit | undefined;
  /** The mark (`ListingSource.mark`) of the end of the last POST or take-over. Later listings have higher marks. */
  #postMark = 0;
  /** When the last POST ended (ISO 8601). */
  #postedAt = "";
  /** The ids of the instances that had the chosen name before the last POST. Empty for a generated name. */
  #namesakes: readonly string[] = [];

  constructor({ session, request, operation, api, origin, args, flavor }: CreateParts) {
    const { urn, inputs } = request;
    this.#session = session;
    this.#request = request;
    this.#operation = operation;
    this.#api = api;
    this.#origin = origin;
    this.#args = { ...args, flavorId: flavor };
    this.#spec = {
      ...specOf(session, { urn, inputs, origin }, args),
      noneOfOursMs: noneOfOursMs(session, { origin }, operation),
      flavor,
    };
  }

  [Symbol.dispose](): void {
    this.#permit?.release();
  }

  /** Carries out the protocol from its first transition to its end. */
  async follow(): Promise<protocol.Result> {
    const { ledger } = this.#session;
    const { urn } = this.#request;
    try {
      for (let current = protocol.begin(); ;) {
        const { state, effects } = current;
        const result = state.phase === "ended" ? state.result : undefined;
        // Nothing that could fail may come between the answer and the instance.
        if (result?.kind === "accepted") return result;
        for (const effect of effects) this.#apply(effect);
        if (result) return result;
        current = protocol.step(this.#spec, state, await this.#eventAfter(state));
      }
    } finally {
      // If no POST was sent, or the POST surely made nothing, nothing is in doubt.
      if (ledger.recordOf(urn)?.at === undefined) ledger.remove(urn);
    }
  }

  /** Returns the error of a create that has ended with a failure. */
  errorOf(failure: protocol.Failure): Error {
    if (failure.kind === "inDoubt")
      this.#session.engine.resource(this.#request.urn).isDoubtSaid = true;
    return failureError(failure, this.#spec, this.#session, this.#namesakes);
  }

  /** Returns the instance of a create that has ended with one. `refused`: the flavors that were tried before. */
  obtained(result: AcceptedResult, refused: readonly RefusedFlavor[]): Obtained {
    const { urn, inputs } = this.#request;
    const { accepted, from, flavor: flavorIdUsed, known, acceptedAt = this.#postedAt } = result;
    const origin = this.#origin;
    const created = { urn, inputs, flavorIdUsed, known };
    const made = Instance.accepted(created, accepted, origin, acceptedAt);
    const instance = made.stampedBy(this.#session.id);
    const after = from === "answer" ? this.#postMark : 0;
    return { wait: { instance, origin, after }, note: () => this.#note(result, refused) };
  }

  #note({ accepted, from, acceptedAt }: AcceptedResult, refused: readonly RefusedFlavor[]): void {
    const { ledger, engine, ctx, notices } = this.#session;
    const { urn } = this.#request;
    const { id, name: _name, status: _status, ...postOnly } = accepted;
    engine.ours.add(id);
    const answer = { at: acceptedAt ?? this.#postedAt, accepted: postOnly };
    ledger.update(urn, { id, ...(from === "answer" && answer) });
    if (from === "earlierRun") notices.tell("warning", resumedReport(id), urn);
    if (refused.length > 0)
      ctx.messages.info(refusedFlavorsNotice(refused, this.#spec.flavor), urn);
    const isAnswerLost = from !== "answer" && accepted.networks.length === 0;
    if (isAnswerLost) notices.tell("warning", lostAnswerReport(id), urn);
  }

  /** Returns the event that follows a state. Ctrl-C, the time-out and failed listings become events. */
  async #eventAfter(state: protocol.State): Promise<protocol.Event> {
    try {
      return await this.#perform(state);
    } catch (error) {
      if (isEnded(error)) return { kind: "stopped", why: error };
      if (!(error instanceof RequestError)) throw error;
      return { kind: "listingFailed", error, now: this.#session.ctx.clock.now() };
    }
  }

  /** Waits until `wakeAt`, does the work of the state, and returns its outcome. */
  async #perform(state: protocol.State): Promise<protocol.Event> {
    const { ctx, ledger, listings } = this.#session;
    const { clock } = ctx;
    const { signal } = this.#operation;
    const { wakeAt } = state;
    if (state.phase === "claiming" && wakeAt !== undefined) this.#show("another run creates it");
    if (wakeAt !== undefined) await clock.sleep(Math.max(0, wakeAt - clock.now()), signal);
    switch (state.phase) {
      case "claiming": {
        const claimed = ledger.claim(this.#spec.identity);
        const claim = claimed.kind === "made" ? claimed : claimOf(this.#session, claimed);
        return { kind: "claimed", claim, now: clock.now() };
      }
      case "takingOver": {
        const isTaken = ledger.takeOver(state.waiting.record);
        this.#postMark = listings.mark();
        return { kind: "takenOver", isTaken, now: clock.now() };
      }
      case "searching":
        this.#show(state.search.error ? "no clear answer, searching" : "in doubt, searching");
        return await this.#list(0, state.search.record);
      case "takingBaseline":
        this.#show("listing instances");
        return await this.#list(state.attempt ? sharedMs(listings.latest) : recentMs);
      case "awaitingPermit": {
        this.#show("awaiting the rate limit");
        using _wait = this.#operation.waiting(waits.permit);
        this.#permit = await this.#api.permitForPost(signal);
        return { kind: "permitted", now: clock.now() };
      }
      case "recording":
        await ledger.prepare(this.#request.urn, {
          at: this.#now(),
          before: state.before,
          // The ledger holds no secrets (G8).
          flavor: hasSecretFlavor(this.#request.inputs) ? undefined : this.#spec.flavor,
        });
        return { kind: "recorded" };
      case "posting":
        return await this.#post(state.before);
      case "ended":
        throw new Error("the protocol has ended");
    }
  }

  /** Fetches a listing, possibly a shared one, that began after the last POST and at most `maxAgeMs` ago. */
  async #list(maxAgeMs: number, record?: LedgerRecord): Promise<protocol.Event> {
    const { ctx } = this.#session;
    const required = { after: this.#postMark, notBefore: ctx.clock.now() - maxAgeMs };
    const listing = await this.#session.list(this.#operation, required);
    return { kind: "looked", look: lookOf(this.#session, listing, record), now: ctx.clock.now() };
  }

  /** Sends the POST, and returns its outcome. */
  async #post(before: string[]): Promise<protocol.Event> {
    const { listings, ctx } = this.#session;
    const { signal } = this.#operation;
    if (!this.#permit) throw new Error("a POST without a permit");
    this.#show("create sent");
    this.#namesakes = this.#spec.identity.kind === "generated" ? [] : before;
    const listedBefore = listings.latest;
    if (!listedBefore) throw new Error("a POST without a listing before it");
    using graceEnd = grace(ctx.clock, graceMs, signal);
    const outcome = await this.#api.createInstance(createBodyOf(this.#args), this.#permit, {
      unsent: signal,
      grace: graceEnd.signal,
    });
    this.#postMark = listings.markWrite();
    this.#postedAt = this.#now();
    if (outcome.kind === "notSent" && signal.aborted) {
      return { kind: "stopped", why: signal.reason as Error };
    }
    const look = lookOf(this.#session, listedBefore);
    const { identity, flavor } = this.#spec;
    const record = { ...identity, before, flavor, at: this.#postedAt };
    return { kind: "posted", outcome, look, record, now: ctx.clock.now() };
  }

  /** Shows in the Info column what the create waits for. */
  #show(what: string): void {
    this.#operation.show({ what });
  }

  /** Carries out a side effect of a transition. */
  #apply(effect: protocol.SideEffect): void {
    switch (effect.do) {
      case "clear":
        return this.#session.ledger.clear(this.#spec.identity);
      case "reportLeftovers":
        return reportLeftovers(this.#session, effect, this.#spec);
    }
  }

  /** Returns the present date and time (ISO 8601). */
  #now(): string {
    return this.#session.ctx.clock.date().toISOString();
  }
}
