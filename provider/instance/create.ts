/**
 * The Create call of an Instance. It carries out what the create protocol (`protocol.ts`) decides, and then waits until
 * the instance is ready. Once the id is known, every error carries it, so that no created instance is lost (G1).
 */
import { grace, isEnded } from "../abort";
import type { ComputeApi, Front, Permit } from "../api/client";
import { RequestError } from "../api/errors";
import { keyedFingerprint } from "../fingerprint";
import { recordedName } from "../ledger/record";
import { recentMs, type Listing } from "../evidence/listing";
import type { Origin } from "../origin";
import { hasSecret, reveal } from "../propertyValue";
import type { CreateRequest, CreateResponse } from "../requests";
import { waits } from "../session/operations";
import type { Session } from "../session/session";
import { createBodyOf, parseInstanceArgs, type InstanceArgs } from "./definition";
import { Instance, previewOutputs } from "./instance";
import {
  describeLeftover,
  adriftNotice,
  extraNotice,
  failureError,
  leftoversNotice,
  lostAnswerNotice,
  partialNotice,
  resumedNotice,
} from "./messages";
import { nameKind, tagOf } from "./naming";
import { announceEarlierCreates, pendingSubject } from "./pendingCreates";
import { PostProgress } from "./progress";
import * as protocol from "./protocol";
import { keepOrThrow, unfinishedError, waitUntilReady, type ReadyWait } from "./ready";
import { unpackedScript } from "./unpackedScript";
import { forgetText, inputsForService } from "./userData";

/** How long a POST may continue after Ctrl-C or a time-out, so that its response can still bring the id (G1). */
const graceMs = 10_000;
/** The time-out of the listing that a create fetches at its end, to find further instances. */
const lastListingSeconds = 30;
/**
 * How long after its end a listing can become a renewed baseline (the listing before the POST), at least. Creates that the rate
 * limit delays share such a listing. With 2,000 instances, each listing takes 20 requests.
 */
const minSharedMs = 30_000;

/** An instance that a create has obtained, and the key of the create's record. */
interface Obtained {
  key: string;
  wait: ReadyWait;
  /** How it was obtained. Undefined if an earlier call of this session has obtained it. */
  by?: { result: AcceptedResult; spec: protocol.CreateSpec };
}

type AcceptedResult = Extract<protocol.Result, { kind: "accepted" }>;

/**
 * Creates the instance and waits until it is ready. In a preview, only returns the outputs, and names earlier creates.
 *
 * @throws InstanceUnfinished if the create fails after the id is known, unless an error hook has repeated the call too often
 *   (`keepOrThrow`). Before that, OperationFailed, RequestError, or the error that ended the operation.
 */
export async function createInstance(
  session: Session,
  request: CreateRequest,
): Promise<CreateResponse> {
  if (request.preview) {
    forgetText(session, request.inputs);
    announceEarlierCreates(session, request.urn);
    return { id: "", outputs: previewOutputs(request.inputs, session.settings.tokenKind) };
  }
  session.creates.haveBegun = true;
  session.tries.count(request.urn);
  using operation = session.operationOf(request, "create");
  const { signal } = operation;
  const obtained = unfinishedOf(session, request) ?? (await obtain(session, request, signal));
  return await finish(session, obtained, signal);
}

/** Returns the instance that an earlier call of this session has left unfinished, if an error hook repeats the call. */
function unfinishedOf(session: Session, { urn, inputs }: CreateRequest): Obtained | undefined {
  const unfinished = session.creates.unfinished.get(urn);
  if (!unfinished) return undefined;
  const { key, id, outputs, after } = unfinished;
  const instance = new Instance({ urn, id, inputs, outputs });
  const origin = instance.origin ?? session.connection.place();
  return { key, wait: { instance, origin, after } };
}

/** Follows the protocol to an instance. @throws if there is none */
async function obtain(
  session: Session,
  request: CreateRequest,
  signal: AbortSignal,
): Promise<Obtained> {
  const { api, origin } = await session.connection.open(signal);
  using create = new Create(session, request, signal, api, origin);
  return await create.run();
}

/** Keeps the instance, and waits until it is ready. From here on, every error carries the id (G1). */
async function finish(
  session: Session,
  { key, wait, by }: Obtained,
  signal: AbortSignal,
): Promise<CreateResponse> {
  const { creates, ledger, state } = session;
  const { instance, after } = wait;
  const { urn, id } = instance;
  state.keep(urn, id);
  try {
    if (by) keep(session, instance, by);
    try {
      const { outputs } = await waitUntilReady(session, wait, signal);
      forgetText(session, instance.inputs);
      return { id, outputs };
    } finally {
      if (by?.result.unclearPost) await warnOfExtras(session, by.result.unclearPost, by.spec);
    }
  } catch (error) {
    const unfinished = unfinishedError(session, error, instance);
    const { outputs } = unfinished.state;
    // If an error hook repeats the create, it makes a new instance, from the same text, only in place of one that is gone.
    if (unfinished.isGone) creates.unfinished.delete(urn);
    else {
      creates.unfinished.set(urn, { key, id, outputs, after });
      forgetText(session, instance.inputs);
    }
    return { id, outputs: keepOrThrow(session, unfinished, instance).outputs };
  } finally {
    // If no engine receives the id, the next run resumes the create.
    ledger.move(key, { ...(session.hasEngine && { stage: "replied" as const }), ended: true });
  }
}

/** Notes in the session and in the ledger that the instance belongs to this create. */
function keep(
  { ledger, creates, ctx }: Session,
  { urn }: Instance,
  { result, spec }: NonNullable<Obtained["by"]>,
): void {
  const { key, from, accepted } = result;
  const { id, name: _name, status: _status, ...shownOnce } = accepted;
  creates.instances.set(id, from === "answer" ? "made" : "takenOver");
  if (from === "answer") {
    const at = ctx.clock.date().toISOString();
    ledger.move(key, { stage: "accepted", id, at, accepted: shownOnce });
  } else ledger.move(key, { stage: "accepted", id });
  if (from === "earlierRun") ctx.messages.warning(resumedNotice(accepted, spec), urn);
  const isAnswerLost = from !== "answer" && accepted.networks.length === 0;
  if (isAnswerLost) ctx.messages.warning(lostAnswerNotice(id), urn);
}

/** After an unclear POST, warns of each further instance that the POST may have created (G2). Never rejects. */
async function warnOfExtras(
  session: Session,
  post: protocol.SentPost,
  spec: protocol.CreateSpec,
): Promise<void> {
  const { ctx, listings } = session;
  using operation = session.operation(lastListingSeconds);
  const listing = await listings
    .get({ notBefore: ctx.clock.now() }, operation.signal)
    .catch(() => listings.latest);
  if (!listing) return;
  for (const id of protocol.findNewInstances(lookAt(session, listing, spec.own.urn), post)) {
    ctx.messages.warning(extraNotice(id, spec), spec.own.urn);
  }
}

/** Returns a listing together with what the session and the ledger know now. */
function lookAt(session: Session, listing: Listing, urn: string): protocol.Look {
  const { creates, state } = session;
  const { observedIds: named, proven: held, registered } = state;
  const entries = entriesOf(session);
  const heldByOthers = state.heldByOthers(urn);
  return { listing, ours: creates.instances, named, held, heldByOthers, entries, registered };
}

/**
 * How long after its begin the latest listing can become a renewed baseline. A listing that took long is used for as long again.
 * Otherwise, at a low limit, most requests would be those of listings, and few those of creates.
 */
function sharedMs(latest: Listing | undefined): number {
  const tookMs = latest ? latest.endedAt - latest.begunAt : 0;
  return tookMs + Math.max(minSharedMs, tookMs);
}

/** Reads the ledger, and adds until when the instance of each record need not be listed. */
function entriesOf(session: Session): protocol.Entry[] {
  const { requestTimeoutMs } = session.settings;
  // Read once: with a thousand creates, this function is called a thousand times for a thousand records.
  const clocks = session.clocks();
  return session.ledger.read().map((entry) => {
    const { at, stage } = entry.record;
    // A killed run recorded only the time before its POST, which may have taken as long as the time-out of a request.
    const maxRequestMs = stage === "sending" ? requestTimeoutMs : 0;
    return { ...entry, listedBy: session.settledBy(at, clocks) + maxRequestMs };
  });
}

/** One Create call, until its instance is known. */
class Create implements Disposable {
  readonly #session: Session;
  readonly #request: CreateRequest;
  readonly #signal: AbortSignal;
  readonly #api: ComputeApi;
  readonly #origin: Origin;
  /** The inputs without their `Secret` wrappers. */
  readonly #args: InstanceArgs;
  readonly #spec: protocol.CreateSpec;
  readonly #progress: PostProgress;
  /** From when this create is the next one to send, until it does. */
  #front: Front | undefined;
  #permit: Permit | undefined;
  /** The key of this create's record, or of the record that it resumes. */
  #recordKey: string | undefined;
  /** The mark (`ListingSource.mark`) of the end of the last POST or take-over. Later listings have higher marks. */
  #postMark = 0;
  /** When the last POST ended (ISO 8601). */
  #postedAt = "";

  constructor(
    session: Session,
    request: CreateRequest,
    signal: AbortSignal,
    api: ComputeApi,
    origin: Origin,
  ) {
    this.#session = session;
    this.#request = request;
    this.#signal = signal;
    this.#api = api;
    this.#origin = origin;
    this.#args = parseInstanceArgs(reveal(inputsForService(session, request.inputs)));
    this.#spec = this.#makeSpec();
    this.#progress = new PostProgress(session, signal);
  }

  [Symbol.dispose](): void {
    this.#progress.stop();
    this.#giveBack();
  }

  /**
   * Gives back what the phase must not hold, so that no create waits for what another one only holds. A create that waits for a
   * listing or for another run has no permit, since the listing may need the rest of the limit.
   */
  #giveBack(phase?: protocol.State["phase"]): void {
    if (phase !== "writingRecord" && phase !== "posting") this.#permit?.release();
    if (phase === "takingBaseline" || phase === "awaitingPermit") return;
    this.#front?.[Symbol.dispose]();
    this.#front = undefined;
  }

  /**
   * Carries out the protocol from its first transition to its end.
   *
   * @throws the error that `failureError` returns, if the protocol ends with a failure.
   */
  async run(): Promise<Obtained> {
    try {
      for (let current = protocol.begin(); ;) {
        const { state, effects } = current;
        const result = state.phase === "ended" ? state.result : undefined;
        // Nothing that could fail may come between the answer and the instance.
        if (result?.kind === "accepted") return this.#obtained(result);
        for (const effect of effects) this.#apply(effect);
        if (result) throw this.#errorOf(result.failure);
        current = protocol.step(this.#spec, state, await this.#eventAfter(state));
      }
    } catch (error) {
      if (this.#recordKey !== undefined)
        this.#session.ledger.move(this.#recordKey, { ended: true });
      throw error;
    }
  }

  #obtained(result: AcceptedResult): Obtained {
    const { urn, inputs } = this.#request;
    const { accepted, key, from, acceptedAt = this.#postedAt } = result;
    const origin = this.#origin;
    const made = Instance.accepted({ urn, inputs }, accepted, origin, acceptedAt);
    const instance = made.stampedBy(this.#session.id);
    const after = from === "answer" ? this.#postMark : 0;
    return { key, wait: { instance, origin, after }, by: { result, spec: this.#spec } };
  }

  #errorOf(failure: protocol.Failure): Error {
    if ("record" in failure) this.#session.notices.isFirst(pendingSubject(failure.record));
    return failureError(failure, this.#spec, this.#session);
  }

  #makeSpec(): protocol.CreateSpec {
    const { settings, run, addressName } = this.#session;
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
      addressName,
      tag: scope === undefined || stateless ? undefined : tagOf(urn, scope),
      leftovers: settings.leftovers,
      deleteFails: settings.deletePolicy === "fail",
      settlingMs: settings.settlingMs,
      pollIntervalMs: settings.pollIntervalMs,
      patienceMs: graceMs + settings.settlingMs,
    };
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
    const signal = this.#signal;
    const { wakeAt } = state;
    this.#giveBack(state.phase);
    if (wakeAt !== undefined) await clock.sleep(Math.max(0, wakeAt - clock.now()), signal);
    switch (state.phase) {
      case "readingLedger": {
        const { registered } = this.#session.state;
        return {
          kind: "ledgerRead",
          entries: entriesOf(this.#session),
          registered,
          now: clock.now(),
        };
      }
      case "takingOver": {
        const isTaken = ledger.take(state.record);
        if (isTaken) this.#recordKey = state.record.key;
        this.#postMark = listings.mark();
        return { kind: "takenOver", isTaken };
      }
      case "searching":
        return await this.#list(0, state.search);
      case "takingBaseline":
        this.#progress.show("listing the existing instances before the create");
        return await this.#list(state.attempt ? sharedMs(listings.latest) : recentMs);
      case "awaitingPermit": {
        this.#progress.show("waiting for the rate limit");
        using _wait = this.#session.operations.waiting(signal, waits.permit);
        this.#front ??= await this.#api.reachPostFront(signal);
        this.#permit = await this.#front.permit(signal, () =>
          protocol.isBaselineUsable(state, clock.now()),
        );
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

  /** Fetches a listing, possibly a shared one, that began after the last POST and at most `maxAgeMs` ago. */
  async #list(maxAgeMs: number, search?: protocol.Search): Promise<protocol.Event> {
    const { ctx, listings, state } = this.#session;
    const notBefore = ctx.clock.now() - maxAgeMs;
    const listing = await listings.get({ after: this.#postMark, notBefore }, this.#signal);
    const look = lookAt(this.#session, listing, this.#request.urn);
    if (search?.of === "record") {
      const { id = "" } = search.record;
      look.vouchers = state.vouchersOf({ id, origin: search.record }, this.#origin);
    }
    return { kind: "listed", look, now: ctx.clock.now() };
  }

  /** Sends the POST, and returns its outcome. */
  async #post(): Promise<protocol.Event> {
    const { listings, ctx, settings } = this.#session;
    const signal = this.#signal;
    if (!this.#permit) throw new Error("a POST without a permit");
    this.#progress.show("waiting for the service to accept the create");
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
    const name = outcome.kind === "accepted" ? outcome.accepted.name : undefined;
    const hashedName = name === undefined ? undefined : recordedName(name, true, settings);
    if (outcome.kind === "unclear") {
      this.#progress.show("the create has no clear answer; searching for its instance");
    }
    const look = lookAt(this.#session, listedBefore, this.#request.urn);
    return { kind: "posted", outcome, look, hashedName, now: ctx.clock.now() };
  }

  /** Carries out a side effect of a transition. */
  #apply(effect: protocol.SideEffect): void {
    const { ctx, ledger } = this.#session;
    switch (effect.do) {
      case "updateRecord": {
        const { key, change } = effect;
        return ledger.move(key, { ...change, ...(change.stage && { at: this.#now() }) });
      }
      case "settleRecord":
        ledger.settle(effect.key, effect.as);
        return;
      case "reportPending":
        for (const record of effect.records) {
          this.#session.notices.isFirst(pendingSubject(record));
          ctx.messages.warning(adriftNotice(record, this.#spec), this.#request.urn);
        }
        return;
      case "reportLeftovers": {
        if (effect.partial && this.#session.notices.isFirst("partial listing")) {
          ctx.messages.info(partialNotice);
        }
        const leftovers = effect.items.map((item) => ({
          id: item.id,
          text: describeLeftover(item, this.#spec),
        }));
        return this.#session.notices.reportLeftovers(leftovers, (descriptions) =>
          leftoversNotice(descriptions, this.#spec),
        );
      }
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
  const { name, ssh_keys, user_data = "", ...rest } = createBodyOf(args);
  const request = {
    ...rest,
    user_data: unpackedScript(Buffer.from(user_data, "base64")).toString("base64"),
    ssh_keys: [...(ssh_keys ?? [])].sort(),
    name: kind === "explicit" ? name : null,
  };
  return keyedFingerprint(apiToken, JSON.stringify(request), 32);
}
