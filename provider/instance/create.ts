/**
 * The Create call of an Instance. It carries out what the create protocol (`protocol.ts`) decides, and then waits until
 * the instance is ready. Once the id is known, every error carries it, so that no created instance is lost (G1).
 */
import { grace, isEnded } from "../abort";
import type { ComputeApi, Permit } from "../api/client";
import type { Accepted } from "../api/contract";
import { RequestError } from "../api/errors";
import { keyedFingerprint } from "../fingerprint";
import { isPending, recordedName } from "../ledger/record";
import { recentMs, type Listing } from "../evidence/listing";
import { whyOpen } from "../evidence/why";
import { isSamePlace, originFromState, stamped, type Origin } from "../origin";
import { hasSecret, reveal } from "../propertyValue";
import type { CreateRequest, CreateResponse } from "../requests";
import { waits } from "../session/operations";
import type { Session } from "../session/session";
import { createBodyOf, parseInstanceArgs, type InstanceArgs } from "./definition";
import { lookFor } from "./existence";
import {
  describeLeftover,
  adriftNotice,
  extraNotice,
  failureError,
  leftoversNotice,
  partialNotice,
  resumedNotice,
} from "./messages";
import { nameKind, tagOf } from "./naming";
import { pendingSubject } from "./pendingCreates";
import { PostProgress } from "./progress";
import * as protocol from "./protocol";
import { unfinishedError, waitUntilReady, type PendingInstance } from "./ready";
import { outputsOfAccepted, previewOutputs } from "./state";

/** How long a POST may continue after Ctrl-C or a time-out, so that its response can still bring the id (G1). */
const graceMs = 10_000;
/** The time-out of the listing that a create fetches at its end, to find further instances. */
const lastListingSeconds = 30;
/**
 * The maximum age of the listing for a renewed baseline (the listing before the POST). Creates that the rate limit
 * delays share such a listing. With 2,000 instances, each listing takes 20 requests.
 */
const maxRenewedBaselineAgeMs = 15_000;

const heldBackMessage =
  "held back, because without compute:cursorParameter the service shows at most 100 instances in PROVISIONING";

/**
 * Creates the instance and waits until it is ready. In a preview, only returns the outputs.
 *
 * @throws InstanceUnfinished if the create fails after the id is known. Before that, OperationFailed, RequestError, or
 *   the error that ended the operation.
 */
export async function createInstance(
  session: Session,
  request: CreateRequest,
): Promise<CreateResponse> {
  if (request.preview) {
    return { id: "", outputs: previewOutputs(request.inputs, session.settings.tokenKind) };
  }
  using operation = session.operationOf(request, "create");
  using create = new Create(session, request, operation.signal);
  return await create.run();
}

type AcceptedResult = Extract<protocol.Result, { kind: "accepted" }>;

/** One Create call, from its request to its reply. */
class Create implements Disposable {
  readonly #session: Session;
  readonly #request: CreateRequest;
  readonly #signal: AbortSignal;
  /** The inputs without their `Secret` wrappers. */
  readonly #args: InstanceArgs;
  readonly #progress: PostProgress;
  /** What the protocol needs. Not set if the instance of an earlier call is known. */
  #spec!: protocol.CreateSpec;
  #api!: ComputeApi;
  #origin!: Origin;
  #permit: Permit | undefined;
  /** The key of this create's record, or of the record that it resumes. */
  #recordKey: string | undefined;
  /** The created instance. Set as soon as its id is known. */
  #instance: PendingInstance | undefined;
  /** The mark (`ListingSource.mark`) of the end of the last POST or take-over. Later listings have higher marks. */
  #postMark = 0;

  constructor(session: Session, request: CreateRequest, signal: AbortSignal) {
    this.#session = session;
    this.#request = request;
    this.#signal = signal;
    this.#args = parseInstanceArgs(reveal(request.inputs));
    this.#progress = new PostProgress(session, signal);
    session.creates.haveBegun = true;
  }

  [Symbol.dispose](): void {
    this.#progress.stop();
    this.#permit?.release();
    this.#session.createSlots.leave(this.#request.urn);
  }

  async run(): Promise<CreateResponse> {
    const { creates, ledger } = this.#session;
    try {
      const { id, unclearPost } = await this.#obtainInstance();
      this.#progress.stop();
      if (!this.#instance) throw new Error("an accepted create has no instance");
      try {
        return { id, outputs: await waitUntilReady(this.#session, this.#instance, this.#signal) };
      } finally {
        if (unclearPost) await this.#warnOfExtras(unclearPost);
      }
    } catch (error) {
      if (!this.#instance) throw error;
      const { urn, id, after } = this.#instance;
      const unfinished = unfinishedError(this.#session, error, this.#instance);
      const { outputs } = unfinished.state;
      creates.unfinished.set(urn, { key: this.#recordKey ?? "", id, outputs, after });
      throw unfinished;
    } finally {
      // If no engine receives the id, the next run resumes the create.
      const isReplied = this.#instance !== undefined && this.#session.hasEngine;
      const end = { ...(isReplied && { stage: "replied" as const }), ended: true as const };
      if (this.#recordKey !== undefined) ledger.move(this.#recordKey, end);
    }
  }

  /** Returns the unfinished instance of an earlier call of this session, or follows the protocol to an instance. */
  async #obtainInstance(): Promise<AcceptedResult> {
    const { creates, connection } = this.#session;
    const { urn, inputs } = this.#request;
    const unfinished = creates.unfinished.get(urn);
    if (unfinished) {
      const { key, id, outputs, after } = unfinished;
      const origin = originFromState(outputs) ?? connection.place();
      this.#recordKey = key;
      this.#instance = { urn, id, inputs, outputs, origin, after };
      return this.#follow(protocol.begin({ key, id }));
    }
    const { api, origin } = await connection.open(this.#signal);
    this.#api = api;
    this.#origin = origin;
    this.#spec = this.#makeSpec();
    const { name } = this.#args;
    // Creates with the same name run one after the other until their ids are known.
    return await creates.inTurn(name, this.#signal, () => this.#follow(protocol.begin()));
  }

  #makeSpec(): protocol.CreateSpec {
    const { settings, run } = this.#session;
    const { scope, stateless } = run;
    const { urn, inputs } = this.#request;
    const { name } = this.#args;
    const kind = nameKind(inputs);
    return {
      own: {
        ...this.#origin,
        scope,
        stateless: stateless || undefined,
        urn,
        provider: run.providerUrn,
        name: recordedName(name, hasSecret(inputs["name"]), settings),
        kind,
        digest: digestOf(settings.apiToken, this.#args, kind),
      },
      name,
      session: this.#session.id,
      tag: scope === undefined || stateless ? undefined : tagOf(urn, scope),
      leftovers: settings.leftovers,
      deleteFails: settings.deletePolicy === "fail",
      settlingMs: settings.settlingMs,
      pollIntervalMs: settings.pollIntervalMs,
      patienceMs: graceMs + settings.settlingMs,
    };
  }

  /**
   * Carries out the protocol from its first transition to its end.
   *
   * @throws the error that `failureError` returns, if the protocol ends with a failure.
   */
  async #follow(first: protocol.Transition): Promise<AcceptedResult> {
    let current = first;
    for (;;) {
      const { state, effects } = current;
      for (const effect of effects) this.#apply(effect);
      if (state.phase === "ended") {
        const { result } = state;
        if (result.kind === "accepted") return result;
        const { failure } = result;
        if ("record" in failure) this.#session.isFirst(pendingSubject(failure.record));
        throw failureError(failure, this.#spec);
      }
      current = protocol.step(this.#spec, state, await this.#eventAfter(state));
    }
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
    const { ctx, ledger, listings, creates, createSlots, settings } = this.#session;
    const { registered } = this.#session.state;
    const { clock } = ctx;
    const signal = this.#signal;
    const { wakeAt } = state;
    if (wakeAt !== undefined) await clock.sleep(Math.max(0, wakeAt - clock.now()), signal);
    switch (state.phase) {
      case "readingLedger":
        // A create that gives way to another run's create returns its unused permit.
        this.#permit?.release();
        return { kind: "ledgerRead", entries: ledger.read(), registered, now: clock.now() };
      case "takingOver": {
        const { key, stage, at } = state.record;
        const isTaken = ledger.take(state.record);
        if (isTaken) this.#recordKey = key;
        this.#postMark = listings.mark();
        // A killed run recorded only the time before its POST, which may have taken as long as the time-out of a request.
        const maxRequestMs = stage === "sending" ? settings.requestTimeoutMs : 0;
        const settledBy = this.#session.settledBy(at) + maxRequestMs;
        return { kind: "takenOver", isTaken, settledBy };
      }
      case "findingInstance": {
        const { id = "", at: acceptedAt } = state.record;
        const instance = { id, origin: state.record, acceptedAt };
        const { verdict } = await lookFor(this.#session, instance, signal);
        const why = verdict.kind === "open" ? whyOpen(verdict, this.#session) : undefined;
        return { kind: "searched", verdict, why };
      }
      case "takingBaseline": {
        this.#progress.show("listing the existing instances before the create");
        const showHeldBack = () => this.#progress.show(heldBackMessage);
        await createSlots.enter(this.#request.urn, signal, showHeldBack);
        const maxAgeMs = state.attempt ? maxRenewedBaselineAgeMs : recentMs;
        return await this.#list(creates.turnEndMark(this.#args.name), maxAgeMs);
      }
      case "searchingForRecord":
      case "searchingAfterPost":
        return await this.#list(this.#postMark, 0);
      case "awaitingPermit": {
        this.#progress.show("waiting for the rate limit");
        using _wait = this.#session.operations.waiting(signal, waits.permit);
        this.#permit = await this.#api.acquirePostPermit(signal);
        return { kind: "permitted", now: clock.now() };
      }
      case "writingRecord": {
        const key = await ledger.begin({ ...state.fields, at: this.#now() });
        this.#recordKey = key;
        return { kind: "recorded", key, entries: ledger.read() };
      }
      case "posting":
        return await this.#post();
      case "ended":
        throw new Error("the protocol has ended");
    }
  }

  /** Fetches a listing, possibly a shared one, that began after this mark and at most `maxAgeMs` ago. */
  async #list(after: number, maxAgeMs: number): Promise<protocol.Event> {
    const { ctx, listings } = this.#session;
    const notBefore = ctx.clock.now() - maxAgeMs;
    const observation = this.#observationOf(await listings.get({ after, notBefore }, this.#signal));
    return { kind: "listed", observation, now: ctx.clock.now() };
  }

  /** Returns a listing together with what the session and the ledger know now. */
  #observationOf({ items, complete, begunAt }: Listing): protocol.Observation {
    const { creates, state, ledger } = this.#session;
    return {
      items,
      complete,
      begunAt,
      isOfThisSession: (id) => creates.instances.has(id),
      isNamedByEngine: (id) => state.hasId(id),
      isInState: (id) => state.proven.has(id),
      isSettling: ({ at }) => this.#session.settledBy(at) > begunAt,
      entries: ledger.read(),
      registered: state.registered,
    };
  }

  /** Sends the POST, and returns its outcome. */
  async #post(): Promise<protocol.Event> {
    const { listings, ctx } = this.#session;
    const signal = this.#signal;
    if (!this.#permit) throw new Error("a POST without a permit");
    this.#progress.show("waiting for the service to accept the create");
    const listedBefore = listings.latest?.items;
    using graceEnd = grace(ctx.clock, graceMs, signal);
    const outcome = await this.#api.createInstance(createBodyOf(this.#args), this.#permit, {
      unsent: signal,
      grace: graceEnd.signal,
    });
    this.#postMark = listings.markWrite();
    if (outcome.kind === "notSent" && signal.aborted) {
      return { kind: "stopped", why: signal.reason as Error };
    }
    const isKnownId =
      outcome.kind === "accepted" &&
      (listedBefore?.has(outcome.accepted.id) === true || this.#isOfAnother(outcome.accepted));
    if (outcome.kind === "unclear") {
      this.#progress.show("the create has no clear answer; searching for its instance");
    }
    return { kind: "posted", outcome, isKnownId, now: ctx.clock.now() };
  }

  /** Whether the instance that a 202 describes is of another create, whose own 202 may be still to come, or in a state. */
  #isOfAnother({ id, name }: Accepted): boolean {
    const { creates, state, ledger, settings } = this.#session;
    if (creates.instances.has(id) || state.hasId(id)) return true;
    // Without another create of this name, a name that differs is just another spelling.
    const isOwnName = name === undefined || name === this.#args.name;
    const names = isOwnName ? [] : [name, recordedName(name, true, settings)];
    return ledger.read().some(({ record }) => {
      if (record.key === this.#recordKey || !isSamePlace(record, this.#origin)) return false;
      if (record.id !== undefined) return record.id === id && record.settled !== "gone";
      return isPending(record) && names.includes(record.name);
    });
  }

  /**
   * Sets the instance and its first outputs.
   *
   * @param after Listings that began before this mark (`ListingSource.mark`) prove nothing about the instance.
   * @param acceptedAt When the service accepted the instance (ISO 8601). The default is now.
   */
  #setInstance(accepted: Accepted, after: number, acceptedAt = this.#now()): void {
    const { urn, inputs } = this.#request;
    const origin = this.#origin;
    const unstamped = outputsOfAccepted(inputs, accepted, origin, acceptedAt);
    const outputs = stamped(unstamped, this.#session.id);
    this.#instance = { urn, id: accepted.id, inputs, outputs, origin, after };
  }

  /** Carries out a side effect of a transition. */
  #apply(effect: protocol.SideEffect): void {
    const { ctx, ledger } = this.#session;
    switch (effect.do) {
      case "updateRecord": {
        const { key, change } = effect;
        return ledger.move(key, { ...change, ...(change.stage && { at: this.#now() }) });
      }
      case "accept":
        return this.#accept(effect);
      case "settleRecord":
        ledger.settle(effect.key, effect.as);
        return;
      case "reportPending":
        for (const record of effect.records) {
          this.#session.isFirst(pendingSubject(record));
          ctx.messages.warning(adriftNotice(record, this.#spec), this.#request.urn);
        }
        return;
      case "reportLeftovers": {
        if (effect.partial && this.#session.isFirst("partial listing")) {
          ctx.messages.info(partialNotice);
        }
        const leftovers = effect.items.map((item) => ({
          id: item.id,
          text: describeLeftover(item, this.#spec),
        }));
        return this.#session.reportLeftovers(leftovers, leftoversNotice);
      }
    }
  }

  /** Notes in the session and in the ledger that the instance belongs to this create. */
  #accept({ key, accepted, from }: Extract<protocol.SideEffect, { do: "accept" }>): void {
    const { ledger, creates, ctx } = this.#session;
    const { id, createdAt, networks } = accepted;
    if (from === "answer") {
      // From here on, every error carries the id (G1).
      this.#setInstance(accepted, this.#postMark);
      creates.instances.set(id, "made");
      const onlyInResponse = { createdAt, networks };
      ledger.move(key, { stage: "accepted", id, at: this.#now(), accepted: onlyInResponse });
      return;
    }
    creates.instances.set(id, "takenOver");
    const at = ledger.read().find(({ record }) => record.key === key)?.record.at;
    this.#setInstance(accepted, 0, at);
    ledger.move(key, { stage: "accepted", id });
    if (from === "earlierRun") {
      ctx.messages.warning(resumedNotice(accepted, this.#spec), this.#request.urn);
    }
  }

  /** After an unclear POST, warns of each further instance that the POST may have created (G2). Never rejects. */
  async #warnOfExtras(post: protocol.SentPost): Promise<void> {
    const { ctx, listings } = this.#session;
    using operation = this.#session.operation(lastListingSeconds);
    const listing = await listings
      .get({ notBefore: ctx.clock.now() }, operation.signal)
      .catch(() => listings.latest);
    if (!listing) return;
    for (const id of protocol.findNewInstances(this.#observationOf(listing), post)) {
      ctx.messages.warning(extraNotice(id, this.#spec), this.#request.urn);
    }
  }

  /** Returns the present date and time (ISO 8601). */
  #now(): string {
    return this.#session.ctx.clock.date().toISOString();
  }
}

/**
 * Returns a digest of the request, by which later runs see whether the program still asks for the same instance. It is
 * keyed with the token, since the user data may be secret. A name that the program did not choose is left out, because
 * it differs from run to run.
 */
function digestOf(apiToken: string, args: InstanceArgs, kind: protocol.NameKind): string {
  const { name, ssh_keys, ...rest } = createBodyOf(args);
  const request = {
    ...rest,
    ssh_keys: [...(ssh_keys ?? [])].sort(),
    name: kind === "explicit" ? name : null,
  };
  return keyedFingerprint(apiToken, JSON.stringify(request), 32);
}
