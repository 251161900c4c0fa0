/**
 * Create: does what the protocol decides, then waits until the instance is ready. Once the id is known,
 * any error becomes an `InstanceUnfinished` that carries it (G1).
 */
import { grace, isEnded } from "../abort";
import { importAs } from "../advice";
import type { Accepted, ComputeApi, CreatePermit } from "../api/client";
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
  leftoverText,
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

/** How long a POST under way may go on after Ctrl-C or a time-out, to bring its id back (G1). */
const graceMs = 10_000;
/** How long the last listing of a create may take. */
const lastListingSeconds = 30;

/**
 * How old the listing of a renewed baseline may be. Creates that the rate limit lets go one after the other
 * share one listing: with 2,000 instances it takes 20 requests.
 */
const renewalMs = 15_000;

const heldBack =
  "held back: without compute:cursorParameter the service shows 100 instances in PROVISIONING at the most";

/**
 * Creates the instance and waits until it is ready.
 *
 * @throws InstanceUnfinished once the id is known, and OperationFailed before.
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

class Create implements Disposable {
  readonly #session: Session;
  readonly #request: CreateRequest;
  readonly #signal: AbortSignal;
  readonly #args: InstanceArgs;
  readonly #subject: CreateSubject;
  readonly #progress: PostProgress;
  #spec!: protocol.CreateSpec;
  #api!: ComputeApi;
  #permit: CreatePermit | undefined;
  /** The record of this create, or the one that it resumes. */
  #key: string | undefined;
  /** Set as soon as the id is known. */
  #instance: PendingInstance | undefined;
  /** A listing that began after this mark is later than the last POST. */
  #postMark = 0;

  constructor(session: Session, request: CreateRequest, signal: AbortSignal) {
    this.#session = session;
    this.#request = request;
    this.#signal = signal;
    const { urn, inputs } = request;
    this.#args = parseInstanceArgs(reveal(inputs));
    this.#subject = {
      urn,
      provider: session.providerUrn,
      shownName: displayName(this.#args.name, hasSecret(inputs["name"])),
      settlingMs: session.settings.settlingMs,
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
      const { key, before } = await this.#decide();
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
        if (this.#key !== undefined) ledger.move(this.#key, { ended: true });
        throw error;
      }
      const unfinished = unfinishedError(error, instance);
      const { id, after } = instance;
      const { outputs } = unfinished.state;
      creates.noteUnfinished(instance.urn, { key: this.#key ?? "", id, outputs, after });
      this.#recordReply();
      throw unfinished;
    }
  }

  /** The create ends. If no engine hears the reply, the record stays open, and the next run resumes it. */
  #recordReply(): void {
    const { ledger, hasEngine } = this.#session;
    const stage = hasEngine ? { stage: "replied" as const } : {};
    if (this.#key !== undefined) ledger.move(this.#key, { ...stage, ended: true });
  }

  /** Goes on with the instance of an earlier call of this session, or follows the protocol. */
  async #decide(): Promise<AcceptedResult> {
    const { creates, connection } = this.#session;
    const { urn, inputs } = this.#request;
    const unfinished = creates.unfinished(urn);
    if (unfinished) {
      const { key, id, outputs, after } = unfinished;
      const origin = originFromState(outputs) ?? connection.place();
      this.#key = key;
      this.#instance = { urn, id, inputs, outputs, origin, after };
      return this.#follow(protocol.begin({ key, id }));
    }
    const { api, origin } = await connection.open(this.#signal);
    this.#api = api;
    this.#spec = this.#specAt(origin);
    const { name } = this.#args;
    return await creates.inTurn(name, this.#signal, async () => {
      try {
        return await this.#follow(protocol.begin());
      } finally {
        creates.noteSettled(name);
      }
    });
  }

  #specAt(origin: Origin): protocol.CreateSpec {
    const { settings, owner } = this.#session;
    const { scope, stateless } = owner;
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

  /** The event that follows a state. Ctrl-C, the time-out and failed requests are events, not errors. */
  async #eventAfter(state: protocol.State): Promise<protocol.Event> {
    try {
      return await this.#perform(state);
    } catch (error) {
      if (isEnded(error)) return { kind: "stopped", why: error };
      if (!(error instanceof RequestError)) throw error;
      return { kind: "listingFailed", error, now: this.#session.ctx.clock.now() };
    }
  }

  /** Does what the state asks for. */
  async #perform(state: protocol.State): Promise<protocol.Event> {
    const { ctx, ledger, listings, createSlots } = this.#session;
    const { clock } = ctx;
    const signal = this.#signal;
    switch (state.phase) {
      case "readingLedger":
        // A create that gives way to another run's does not use its permit.
        this.#permit?.release();
        return { kind: "ledgerRead", entries: ledger.read(), now: clock.now() };
      case "sleeping":
        await clock.sleep(Math.max(0, state.wakeAt - clock.now()), signal);
        return { kind: "slept" };
      case "takingOver": {
        const { record } = state;
        const ok = ledger.take(record.key);
        if (ok) this.#key = record.key;
        this.#postMark = listings.mark();
        return { kind: "takenOver", ok, settledBy: this.#settledBy(record) };
      }
      case "findingInstance": {
        const { id = "", at: acceptedAt } = state.record;
        const known = { recordedOrigin: state.record, acceptedAt };
        const { existence } = await existenceOf(this.#session, id, known, signal);
        return { kind: "searched", existence };
      }
      case "takingBaseline":
        this.#progress.show("listing what is there before the create");
        await createSlots.enter(this.#request.urn, signal, () => this.#progress.show(heldBack));
        return this.#listed(await this.#listBaseline(recentMs));
      case "renewingBaseline":
        return this.#listed(await this.#listBaseline(renewalMs));
      case "searchingForRecord":
      case "searchingAfterPost": {
        const need = { after: this.#postMark, notBefore: clock.now() };
        return this.#listed(await listings.get(need, signal));
      }
      case "awaitingPermit":
        this.#progress.show("waiting for the rate limit");
        this.#permit = await this.#api.createPermit(signal);
        return { kind: "permitted", now: clock.now() };
      case "writingRecord":
        this.#key = await this.#writeRecord(state.attempt.baseline);
        return { kind: "recorded", key: this.#key, entries: ledger.read() };
      case "posting":
        return await this.#post();
      case "ended":
        throw new Error("the protocol has ended");
    }
  }

  /** Clock time at which every listing has an instance that the record's POST made. */
  #settledBy({ stage, at }: LedgerRecord): number {
    // A POST that was cut off by a kill may have taken as long as a request may.
    const longestMs = stage === "sending" ? this.#session.settings.requestTimeoutMs : 0;
    return this.#session.settledBy(at) + longestMs;
  }

  /** A listing that was begun at most `maxAgeMs` ago: the creates that wait together share it. */
  #listBaseline(maxAgeMs: number): Promise<Listing> {
    const { creates, ctx, listings } = this.#session;
    const after = creates.settledMark(this.#args.name);
    return listings.get({ after, notBefore: ctx.clock.now() - maxAgeMs }, this.#signal);
  }

  #listed(listing: Listing): protocol.Event {
    const now = this.#session.ctx.clock.now();
    return { kind: "listed", observed: this.#observe(listing), now };
  }

  #observe({ items, complete, begunAt }: Listing): protocol.Observation {
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

  #writeRecord({ sameNamed: before }: protocol.Baseline): Promise<string> {
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

  async #post(): Promise<protocol.Event> {
    const { listings, ctx } = this.#session;
    const signal = this.#signal;
    if (!this.#permit) throw new Error("a POST without a permit");
    this.#progress.show("waiting for the service to accept the create");
    using ending = grace(ctx.clock, graceMs, signal);
    const outcome = await this.#api.createInstance(createBodyOf(this.#args), this.#permit, {
      unsent: signal,
      grace: ending.signal,
    });
    this.#postMark = listings.markWrite();
    if (outcome.kind === "notSent" && signal.aborted) {
      return { kind: "stopped", why: signal.reason as Error };
    }
    // Before anything else can go wrong: from here on, any error carries the id.
    if (outcome.kind === "accepted") this.#setInstance(outcome.accepted, this.#postMark);
    if (outcome.kind === "unclear") {
      this.#progress.stop();
      const text = "the create has no clear answer; looking for its instance";
      ctx.messages.status(this.#request.urn, text);
    }
    return { kind: "posted", outcome, now: ctx.clock.now() };
  }

  /** `after`: the mark before which no listing need show the instance. `at`: ISO 8601; left out, now. */
  #setInstance(accepted: Accepted, after: number, at = this.#now()): void {
    const { origin } = this.#spec;
    const { urn, inputs } = this.#request;
    const outputs = outputsOfAccepted(inputs, accepted, origin, new Date(at));
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

  #apply(effect: protocol.SideEffect): void {
    const { ledger, notices } = this.#session;
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
        this.#key = undefined;
        return;
      case "dropRecord":
        ledger.drop(effect.key);
        this.#key = undefined;
        return;
      case "reportPending":
        return notices.pending(pendingNotice(effect.records, effect.elsewhere, this.#spec));
      case "reportLeftovers": {
        if (effect.partial) notices.partialListing(partialNotice);
        const found = effect.items.map((item) => ({
          id: item.id,
          text: leftoverText(item, this.#subject),
        }));
        return notices.leftovers(found, leftoversNotice);
      }
    }
  }

  #accept({ key, accepted, from }: Extract<protocol.SideEffect, { do: "accept" }>): void {
    const { ledger, creates, ctx } = this.#session;
    const { id, name, createdAt, networks } = accepted;
    if (from === "answer") {
      creates.noteMade(id);
      const shownOnlyHere = { ...(createdAt === undefined ? {} : { createdAt }), networks };
      ledger.move(key, { stage: "accepted", id, at: this.#now(), accepted: shownOnlyHere });
      return;
    }
    creates.noteTakenOver(id);
    const at = ledger.read().find(({ record }) => record.key === key)?.record.at;
    this.#setInstance(accepted, 0, at);
    ledger.move(key, { stage: "accepted", id });
    if (from === "earlierRun") {
      const { shownName, urn } = this.#subject;
      // A secret name is shown redacted, as the listed one would not be.
      const isShown = shownName === this.#args.name;
      const shown = isShown ? (name ?? shownName) : shownName;
      ctx.messages.warning(resumedNotice(id, shown), urn);
    }
  }

  /** After an unclear POST, warns of each further instance that it may have created (G2). */
  async #warnOfExtras(key: string, before: ReadonlySet<string>): Promise<void> {
    const listing = await this.#lastListing();
    if (!listing) return;
    const { ctx, providerUrn } = this.#session;
    const { urn, shownName } = this.#subject;
    const observed = this.#observe(listing);
    for (const id of protocol.findNewInstances(observed, this.#args.name, before, key)) {
      ctx.messages.warning(
        `there is another instance named "${shownName}", ${id}: it may come from a create that was not answered. Remove it at the service if nothing else uses it, or take it over as a resource of its own: \`${importAs("<name>", id, providerUrn)}\``,
        urn,
      );
    }
  }

  /** A listing that begins now or, if that fails, the newest there is. Never rejects. */
  async #lastListing(): Promise<Listing | undefined> {
    const { listings, ctx } = this.#session;
    using operation = this.#session.operation(lastListingSeconds);
    try {
      return await listings.get({ notBefore: ctx.clock.now() }, operation.signal);
    } catch {
      return listings.latest;
    }
  }

  #now(): string {
    return this.#session.ctx.clock.date().toISOString();
  }
}

/**
 * Digest of the request, to tell whether the program still asks for the same. It is keyed with the token,
 * since it covers the user data. A name that the program did not choose differs from run to run, and is
 * left out.
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
