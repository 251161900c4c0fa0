/**
 * The Create call of an Instance. It carries out what the create protocol (`protocol.ts`) decides, and then
 * waits until the instance is ready. Once the id is known, every error becomes an `InstanceUnfinished` that
 * carries the id, so that no created instance is lost (G1).
 */
import { grace, isEnded } from "../abort";
import { importAs } from "../advice";
import type { Accepted, ComputeApi, PostPermit } from "../api/client";
import { RequestError } from "../api/errors";
import { keyedFingerprint } from "../fingerprint";
import { displayName, recordedName, type LedgerRecord } from "../ledger/record";
import { recentMs, type Listing } from "../listing/listing";
import { originFromState, stamped, type Origin } from "../origin";
import { hasSecret, reveal } from "../propertyValue";
import type { CreateRequest, CreateResponse } from "../requests";
import { timeouts, type Session } from "../session/session";
import { createBodyOf, parseInstanceArgs, type InstanceArgs } from "./definition";
import { existenceOf } from "./existence";
import {
  failureError,
  leftoversNotice,
  describeLeftover,
  partialNotice,
  pendingNotice,
  resumedNotice,
  type CreateSubject,
} from "./messages";
import { nameKind, tagOf } from "./naming";
import { PostProgress } from "./progress";
import * as protocol from "./protocol";
import { unfinishedError, waitUntilReady, type PendingInstance } from "./ready";
import { outputsOfAccepted, previewOutputs } from "./state";

/** How long a POST may continue after Ctrl-C or a time-out, so that its response can still bring the id (G1). */
const graceMs = 10_000;
/** The time-out of the listing that a create fetches at its end, to find further instances. */
const lastListingSeconds = 30;

/**
 * The maximum age of the listing for a renewed baseline (the listing before the POST). Creates that the rate limit delays
 * share such a listing. Without that, each would fetch its own, and with 2,000 instances a listing takes 20 requests.
 */
const maxRenewedBaselineAgeMs = 15_000;

const heldBackMessage =
  "held back, because without compute:cursorParameter the service shows at most 100 instances in PROVISIONING";

/**
 * Creates the instance and waits until it is ready. In a preview, only returns the outputs.
 *
 * @throws InstanceUnfinished if the create fails after the id is known. Before that, OperationFailed,
 *   RequestError, or the error that ended the operation.
 */
export async function createInstance(
  session: Session,
  request: CreateRequest,
): Promise<CreateResponse> {
  if (request.preview) {
    return { id: "", outputs: previewOutputs(request.inputs, session.settings.tokenKind) };
  }
  using operation = session.operation(request.timeoutSeconds || timeouts.change);
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
  /** The create as the functions of `messages.ts` describe it. */
  readonly #subject: CreateSubject;
  readonly #progress: PostProgress;
  /** The input of the protocol. Set, like `#api`, before the protocol begins, unless the instance is known already. */
  #spec!: protocol.CreateSpec;
  #api!: ComputeApi;
  #permit: PostPermit | undefined;
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
    const { urn, inputs } = request;
    this.#args = parseInstanceArgs(reveal(inputs));
    this.#subject = {
      urn,
      provider: session.run.providerUrn,
      shownName: displayName(this.#args.name, hasSecret(inputs["name"])),
      settlingMs: session.settings.settlingMs,
      stateless: session.run.stateless,
    };
    this.#progress = new PostProgress(session.ctx, urn);
  }

  [Symbol.dispose](): void {
    this.#progress.stop();
    this.#permit?.release();
    this.#session.createSlots.leave(this.#request.urn);
  }

  async run(): Promise<CreateResponse> {
    const { ledger, creates } = this.#session;
    try {
      const { key, before } = await this.#obtainInstance();
      this.#progress.stop();
      const instance = this.#instance;
      if (!instance) throw new Error("an accepted create has no instance");
      try {
        const outputs = await waitUntilReady(this.#session, instance, this.#signal);
        this.#recordReply();
        return { id: instance.id, outputs };
      } finally {
        if (before) await this.#warnOfExtras(key, before);
      }
    } catch (error) {
      const instance = this.#instance;
      if (!instance) {
        if (this.#recordKey !== undefined) ledger.move(this.#recordKey, { ended: true });
        throw error;
      }
      const unfinished = unfinishedError(this.#session, error, instance);
      const { id, after } = instance;
      const { outputs } = unfinished.state;
      creates.unfinished.set(instance.urn, { key: this.#recordKey ?? "", id, outputs, after });
      this.#recordReply();
      throw unfinished;
    }
  }

  /**
   * Records that the create has ended. If no engine receives the reply, the record does not become `replied`,
   * so that the next run resumes the create.
   */
  #recordReply(): void {
    const { ledger, hasEngine } = this.#session;
    const stageChange = hasEngine ? { stage: "replied" as const } : {};
    if (this.#recordKey !== undefined)
      ledger.move(this.#recordKey, { ...stageChange, ended: true });
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
    this.#spec = this.#specAt(origin);
    const { name } = this.#args;
    // Creates with the same name run one after the other until their ids are known.
    return await creates.inTurn(name, this.#signal, () => this.#follow(protocol.begin()));
  }

  /** Returns the protocol's input for an instance of this origin. */
  #specAt(origin: Origin): protocol.CreateSpec {
    const { settings, run } = this.#session;
    const { scope, stateless } = run;
    const { urn, inputs } = this.#request;
    const { name } = this.#args;
    const kind = nameKind(inputs);
    return {
      urn,
      scope,
      stateless,
      origin,
      name,
      nameKind: kind,
      recordedName: recordedName(name, hasSecret(inputs["name"]), settings),
      tag: scope === undefined || stateless ? undefined : tagOf(urn, scope),
      digest: digestOf(settings.apiToken, this.#args, kind),
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
        throw failureError(result.failure, this.#subject);
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

  /** Does the work of the state, and returns its outcome. */
  async #perform(state: protocol.State): Promise<protocol.Event> {
    const { ctx, ledger, listings, createSlots } = this.#session;
    const { clock } = ctx;
    const signal = this.#signal;
    switch (state.phase) {
      case "readingLedger":
        // A create that gives way to another run's create returns its unused permit.
        this.#permit?.release();
        return { kind: "ledgerRead", entries: ledger.read(), now: clock.now() };
      case "sleeping":
        await clock.sleep(Math.max(0, state.wakeAt - clock.now()), signal);
        return { kind: "slept" };
      case "takingOver": {
        const { record } = state;
        const isTaken = ledger.take(record);
        if (isTaken) this.#recordKey = record.key;
        this.#postMark = listings.mark();
        return { kind: "takenOver", isTaken, settledBy: this.#settledBy(record) };
      }
      case "findingInstance": {
        const { id = "", at: acceptedAt } = state.record;
        const known = { recordedOrigin: state.record, acceptedAt };
        const { existence } = await existenceOf(this.#session, id, known, signal);
        return { kind: "searched", existence };
      }
      case "takingBaseline":
        this.#progress.show("listing the existing instances before the create");
        await createSlots.enter(this.#request.urn, signal, () =>
          this.#progress.show(heldBackMessage),
        );
        return this.#listedEvent(await this.#listBaseline(recentMs));
      case "renewingBaseline":
        return this.#listedEvent(await this.#listBaseline(maxRenewedBaselineAgeMs));
      case "searchingForRecord":
      case "searchingAfterPost": {
        const required = { after: this.#postMark, notBefore: clock.now() };
        return this.#listedEvent(await listings.get(required, signal));
      }
      case "awaitingPermit":
        this.#progress.show("waiting for the rate limit");
        this.#permit = await this.#api.acquirePostPermit(signal);
        return { kind: "permitted", now: clock.now() };
      case "writingRecord":
        this.#recordKey = await this.#writeRecord(state.attempt.baseline);
        return { kind: "recorded", key: this.#recordKey, entries: ledger.read() };
      case "posting":
        return await this.#post();
      case "ended":
        throw new Error("the protocol has ended");
    }
  }

  /** Returns the clock time from which every listing shows an instance that the record's POST created. */
  #settledBy({ stage, at }: LedgerRecord): number {
    // A killed run recorded only the time before its POST, which has perhaps taken as long as the time-out of a request.
    const maxRequestMs = stage === "sending" ? this.#session.settings.requestTimeoutMs : 0;
    return this.#session.settledBy(at) + maxRequestMs;
  }

  /**
   * Returns a listing, possibly shared, that began at most `maxAgeMs` ago and after the last turn (`inTurn`) of this
   * name.
   */
  #listBaseline(maxAgeMs: number): Promise<Listing> {
    const { creates, ctx, listings } = this.#session;
    const after = creates.turnEndMark(this.#args.name);
    return listings.get({ after, notBefore: ctx.clock.now() - maxAgeMs }, this.#signal);
  }

  /** Returns the event for a listing that has arrived. */
  #listedEvent(listing: Listing): protocol.Event {
    const now = this.#session.ctx.clock.now();
    return { kind: "listed", observation: this.#observationOf(listing), now };
  }

  /** Returns a listing together with what the session and the ledger know now. */
  #observationOf({ items, complete, begunAt }: Listing): protocol.Observation {
    const { creates, state, ledger, ctx } = this.#session;
    return {
      items,
      complete,
      begunAt,
      isOfThisSession: (id) => creates.has(id),
      isNamedByEngine: (id) => state.hasId(id),
      isInState: (id) => state.isProven(id),
      isSettling: ({ at }) => this.#session.settledBy(at) > ctx.clock.now(),
      entries: ledger.read(),
    };
  }

  /** Writes the record of this create, and returns its key once the record is on the disk. */
  #writeRecord({ sameNamedIds: before }: protocol.Baseline): Promise<string> {
    const { scope, stateless, origin, urn, recordedName, nameKind: kind, digest } = this.#spec;
    const { provider } = this.#subject;
    return this.#session.ledger.begin({
      ...origin,
      ...(scope === undefined ? {} : { scope }),
      ...(stateless ? { stateless } : {}),
      urn,
      ...(provider === undefined ? {} : { provider }),
      name: recordedName,
      kind,
      digest,
      before,
      at: this.#now(),
    });
  }

  /** Sends the POST, and returns its outcome. */
  async #post(): Promise<protocol.Event> {
    const { listings, ctx } = this.#session;
    const signal = this.#signal;
    if (!this.#permit) throw new Error("a POST without a permit");
    this.#progress.show("waiting for the service to accept the create");
    using graceEnd = grace(ctx.clock, graceMs, signal);
    const outcome = await this.#api.createInstance(createBodyOf(this.#args), this.#permit, {
      unsent: signal,
      grace: graceEnd.signal,
    });
    this.#postMark = listings.markWrite();
    if (outcome.kind === "notSent" && signal.aborted) {
      return { kind: "stopped", why: signal.reason as Error };
    }
    // From here on, every error carries the id (no created instance is lost: G1).
    if (outcome.kind === "accepted") this.#setInstance(outcome.accepted, this.#postMark);
    if (outcome.kind === "unclear") {
      this.#progress.stop();
      const activity = "the create has no clear answer; searching for its instance";
      ctx.messages.status(this.#request.urn, activity);
    }
    return { kind: "posted", outcome, now: ctx.clock.now() };
  }

  /**
   * Sets the instance and its first outputs.
   *
   * @param after Listings that began before this mark (`ListingSource.mark`) prove nothing about the instance.
   * @param acceptedAt When the service accepted the instance (ISO 8601). The default is now.
   */
  #setInstance(accepted: Accepted, after: number, acceptedAt = this.#now()): void {
    const { origin } = this.#spec;
    const { urn, inputs } = this.#request;
    const outputs = outputsOfAccepted(inputs, accepted, origin, new Date(acceptedAt));
    const { id } = accepted;
    this.#instance = {
      urn,
      id,
      inputs,
      outputs: stamped(outputs, this.#session.id),
      origin,
      after,
    };
  }

  /** Carries out a side effect of a transition. */
  #apply(effect: protocol.SideEffect): void {
    const { ctx, ledger, leftoverNotices } = this.#session;
    switch (effect.do) {
      case "updateRecord": {
        const { key, stage, id } = effect;
        ledger.move(key, {
          ...(stage && { stage, at: this.#now() }),
          ...(id !== undefined && { id }),
        });
        return;
      }
      case "accept":
        return this.#accept(effect);
      case "settleRecord":
        ledger.settle(effect.key, effect.as);
        this.#recordKey = undefined;
        return;
      case "dropRecord":
        ledger.move(effect.key, { stage: "settled", settled: "absent" });
        this.#recordKey = undefined;
        return;
      case "reportPending":
        if (!this.#session.isFirst("pending creates")) return;
        return ctx.messages.warning(pendingNotice(effect.records, effect.elsewhere, this.#spec));
      case "reportLeftovers": {
        if (effect.partial && this.#session.isFirst("partial listing")) {
          ctx.messages.info(partialNotice);
        }
        const leftovers = effect.items.map((item) => ({
          id: item.id,
          text: describeLeftover(item, this.#subject),
        }));
        return leftoverNotices.add(leftovers, leftoversNotice);
      }
    }
  }

  /** Notes in the session and in the ledger that the instance belongs to this create. */
  #accept({ key, accepted, from }: Extract<protocol.SideEffect, { do: "accept" }>): void {
    const { ledger, creates, ctx } = this.#session;
    const { id, name, createdAt, networks } = accepted;
    if (from === "answer") {
      creates.noteMade(id);
      const onlyInResponse = { ...(createdAt === undefined ? {} : { createdAt }), networks };
      ledger.move(key, { stage: "accepted", id, at: this.#now(), accepted: onlyInResponse });
      return;
    }
    creates.noteTakenOver(id);
    const at = ledger.read().find(({ record }) => record.key === key)?.record.at;
    this.#setInstance(accepted, 0, at);
    ledger.move(key, { stage: "accepted", id });
    if (from === "earlierRun") {
      const { shownName, urn } = this.#subject;
      // Only a name that is not secret is shown as the service lists it.
      const isPublic = shownName === this.#args.name;
      const messageName = isPublic ? (name ?? shownName) : shownName;
      ctx.messages.warning(resumedNotice(id, messageName), urn);
    }
  }

  /**
   * After an unclear POST, warns of each further instance that the POST may have created ("nothing is made twice", G2).
   */
  async #warnOfExtras(key: string, before: ReadonlySet<string>): Promise<void> {
    const listing = await this.#lastListing();
    if (!listing) return;
    const { ctx, run } = this.#session;
    const { urn, shownName } = this.#subject;
    const observation = this.#observationOf(listing);
    for (const id of protocol.findNewInstances(observation, this.#args.name, before, key)) {
      ctx.messages.warning(
        `there is another instance named "${shownName}", ${id}, which may come from a create without a clear answer. Remove it at the service if nothing else uses it, or take it over as a separate resource: \`${importAs("<name>", id, run.providerUrn)}\``,
        urn,
      );
    }
  }

  /** Returns a listing that begins now. If that fails, returns the newest earlier listing, if any. Never rejects. */
  async #lastListing(): Promise<Listing | undefined> {
    const { listings, ctx } = this.#session;
    using operation = this.#session.operation(lastListingSeconds);
    try {
      return await listings.get({ notBefore: ctx.clock.now() }, operation.signal);
    } catch {
      return listings.latest;
    }
  }

  /** Returns the present date and time (ISO 8601). */
  #now(): string {
    return this.#session.ctx.clock.date().toISOString();
  }
}

/**
 * Returns a digest of the request. Later runs compare it to see whether the program still asks for the same
 * instance. The digest is keyed with the token, since the user data it covers may be secret. It leaves out a
 * name that the program did not choose, because that name differs from run to run.
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
