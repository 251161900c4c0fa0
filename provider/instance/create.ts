/**
 * Create: carries out what the protocol asks for, then waits until the instance is ready. From the
 * moment the id is known, whatever goes wrong ends in `InstanceUnfinished` (G1).
 */
import { grace, isEnded } from "../abort";
import type { Accepted, ComputeApi, CreatePermit } from "../api/client";
import { RequestError } from "../api/errors";
import type { InstanceUnfinished } from "../errors";
import { keyedFingerprint } from "../fingerprint";
import { displayName, recordedName, type LedgerRecord } from "../ledger/record";
import { recentMs, type Listing } from "../listing/listing";
import { originFromState, type Origin } from "../origin";
import { hasSecret, reveal, type PropertyMap } from "../propertyValue";
import type { CreateRequest, CreateResponse } from "../requests";
import { timeouts, type Session } from "../session/session";
import { stamped } from "../stamp";
import { createBodyOf, parseInstanceArgs, type InstanceArgs } from "./definition";
import { finishInstance, keepingId } from "./finish";
import { lookOf, warnOfExtras } from "./look";
import { errorOf, resumedNotice, type About } from "./messages";
import { nameKind, tagOf } from "./naming";
import { existenceOf } from "./existence";
import { PostProgress } from "./progress";
import * as protocol from "./protocol";
import { outputsOfAccepted, previewOutputs } from "./state";

/** How long a POST under way may go on to bring its id back after Ctrl-C or a time-out (G1). */
const graceMs = 10_000;

const held =
  "held back: without compute:cursorParameter the service shows 100 instances in PROVISIONING at the most";

export async function createInstance(
  session: Session,
  request: CreateRequest,
): Promise<CreateResponse> {
  if (request.preview) {
    const outputs = previewOutputs(request.inputs, session.settings.tokenKind);
    return { id: "", outputs };
  }
  using operation = session.operation(request.timeoutSeconds || timeouts.change);
  using create = new Create(session, request, operation.signal);
  return await create.run();
}

/** An instance that the service has accepted, in this call or in an earlier one of this session. */
interface Made {
  key: string;
  id: string;
  outputs: PropertyMap;
  origin: Origin;
  /** Listings begun before this mark need not show the instance. */
  after: number;
}

class Create implements Disposable {
  readonly #args: InstanceArgs;
  readonly #about: About;
  readonly #progress: PostProgress;
  #order!: protocol.Order;
  #api!: ComputeApi;
  #permit: CreatePermit | undefined;
  /** The record of this create, or the one that it resumes. */
  #key: string | undefined;
  /** Set as soon as the id is known. */
  #made: Made | undefined;
  /** Listings begun after this mark know of the POST. */
  #sent = 0;

  constructor(
    private readonly session: Session,
    private readonly request: CreateRequest,
    private readonly signal: AbortSignal,
  ) {
    const { urn, inputs } = request;
    this.#args = parseInstanceArgs(reveal(inputs));
    this.#about = {
      urn,
      provider: session.provider,
      shownName: displayName(this.#args.name, hasSecret(inputs["name"])),
      settlingMs: session.settings.settlingMs,
    };
    this.#progress = new PostProgress(session.ctx, urn);
  }

  [Symbol.dispose](): void {
    this.#progress.stop();
    this.#permit?.release();
    this.session.createSlots.leave(this.request.urn);
  }

  async run(): Promise<CreateResponse> {
    const { session, request } = this;
    const { ledger, creates } = session;
    try {
      const result = await this.#decide();
      this.#progress.stop();
      const made = this.#made;
      if (!made) throw new Error("an accepted create has no instance");
      const { urn, inputs } = request;
      try {
        const outputs = await finishInstance(session, { urn, inputs, ...made }, this.signal);
        this.#noteAnswer(made.key);
        return { id: made.id, outputs };
      } finally {
        const { unclear } = result;
        if (unclear) {
          await warnOfExtras(session, this.#about, this.#args.name, made.key, unclear.before);
        }
      }
    } catch (error) {
      const made = this.#made;
      if (!made) {
        if (this.#key !== undefined) ledger.move(this.#key, { ended: true });
        throw error;
      }
      const unfinished: InstanceUnfinished = keepingId(error, {
        id: made.id,
        inputs: request.inputs,
        outputs: made.outputs,
      });
      creates.noteUnfinished(request.urn, { ...made, outputs: unfinished.state.outputs });
      this.#noteAnswer(made.key);
      throw unfinished;
    }
  }

  /** `replied` only while there is an engine to hear the answer: else the next run resumes the create. */
  #noteAnswer(key: string): void {
    const { ledger, isHeard } = this.session;
    ledger.move(key, { ...(isHeard ? { stage: "replied" as const } : {}), ended: true });
  }

  /** From the call to an accepted instance. */
  async #decide(): Promise<Extract<protocol.Result, { kind: "accepted" }>> {
    const { session, request } = this;
    const unfinished = session.creates.unfinished(request.urn);
    if (unfinished) {
      this.#made = {
        ...unfinished,
        origin: originFromState(unfinished.outputs) ?? session.connection.place(),
      };
      const { key, id } = unfinished;
      return this.#follow(protocol.begin({ key, accepted: { id, networks: [] } }));
    }
    const { api, origin } = await session.connection.open(this.signal);
    this.#api = api;
    this.#order = this.#orderAt(origin);
    const { name } = this.#args;
    return await session.creates.inTurn(name, this.signal, async () => {
      try {
        return await this.#follow(protocol.begin());
      } finally {
        session.creates.noteSettled(name);
      }
    });
  }

  #orderAt(origin: Origin): protocol.Order {
    const { settings, owner } = this.session;
    const { scope, stateless } = owner;
    const { urn, inputs } = this.request;
    const { name } = this.#args;
    const kind = nameKind(inputs);
    return {
      urn,
      scope,
      stateless,
      origin,
      name,
      kind,
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

  async #follow(first: protocol.Step): Promise<Extract<protocol.Result, { kind: "accepted" }>> {
    let current = first;
    for (;;) {
      for (const note of current.notes) this.#carryOut(note);
      const { ask, state } = current;
      if (ask.do === "end") {
        if (ask.result.kind === "accepted") return ask.result;
        throw errorOf(ask.result.failure, this.#about);
      }
      current = protocol.step(this.#order, state, await this.#perform(ask));
    }
  }

  /** Does what is asked; Ctrl-C and the time-out are events, not errors. */
  async #perform(ask: protocol.Ask): Promise<protocol.Event> {
    try {
      return await this.#do(ask);
    } catch (error) {
      if (isEnded(error)) return { kind: "stopped", why: error };
      if (error instanceof RequestError) {
        return { kind: "lookFailed", failure: error, now: this.session.ctx.clock.now() };
      }
      throw error;
    }
  }

  async #do(ask: protocol.Ask): Promise<protocol.Event> {
    const { session, signal } = this;
    const { clock } = session.ctx;
    switch (ask.do) {
      case "read":
        // One that gives way to another run has a permit that it does not use.
        this.#permit?.release();
        return { kind: "read", entries: session.ledger.read(), now: clock.now() };
      case "sleep":
        await clock.sleep(Math.max(0, ask.until - clock.now()), signal);
        return { kind: "slept", now: clock.now() };
      case "take": {
        const ok = session.ledger.take(ask.record.key);
        if (ok) this.#key = ask.record.key;
        this.#sent = session.listings.mark();
        return { kind: "taken", ok, settledBy: this.#settledBy(ask.record) };
      }
      case "search":
        return await this.#search(ask.record);
      case "enter":
        await session.createSlots.enter(this.request.urn, signal, () => this.#progress.is(held));
        this.#progress.is("listing what is there before the create");
        return this.#looked(await session.listings.get(this.#freshBaseline(), signal));
      case "look": {
        const need = { after: this.#sent, notBefore: clock.now() };
        return this.#looked(await session.listings.get(need, signal));
      }
      case "permit":
        this.#progress.is("waiting for the rate limit");
        this.#permit = await this.#api.createPermit(signal);
        return { kind: "permitted", now: clock.now() };
      case "begin":
        this.#key = await this.#begin(ask);
        return { kind: "begun", key: this.#key, entries: session.ledger.read() };
      case "post":
        return await this.#post();
      case "end":
        throw new Error("the protocol has ended");
    }
  }

  /** Clock time by which an instance of that record's POST is in every listing. */
  #settledBy({ stage, at }: LedgerRecord): number {
    const { settings } = this.session;
    // Killed under way: the POST may have taken as long as a request may.
    const longest = stage === "sending" ? settings.requestTimeoutMs : 0;
    return this.session.settledBy(at) + longest;
  }

  async #search(record: LedgerRecord): Promise<protocol.Event> {
    const { id = "", at } = record;
    const { existence } = await existenceOf(
      this.session,
      id,
      { kept: record, acceptedAt: at },
      this.signal,
    );
    switch (existence.kind) {
      case "found":
        return { ...existence.item, kind: "found" };
      case "gone":
        return { kind: "gone" };
      case "unproven":
        return { kind: "unproven", why: existence.why };
    }
  }

  #freshBaseline() {
    const { creates, ctx } = this.session;
    return {
      after: creates.settledAt(this.#args.name),
      notBefore: ctx.clock.now() - recentMs,
    };
  }

  #looked(listing: Listing): protocol.Event {
    const { session } = this;
    return { kind: "looked", look: lookOf(session, listing), now: session.ctx.clock.now() };
  }

  #begin({ before, beforeComplete }: Extract<protocol.Ask, { do: "begin" }>): Promise<string> {
    const { scope, stateless, origin, urn, recordedName, kind, digest } = this.#order;
    return this.session.ledger.begin({
      ...origin,
      ...(scope === undefined ? {} : { scope }),
      ...(stateless ? { stateless } : {}),
      urn,
      ...(this.#about.provider === undefined ? {} : { provider: this.#about.provider }),
      name: recordedName,
      kind,
      digest,
      before,
      beforeComplete,
      at: this.#now(),
    });
  }

  async #post(): Promise<protocol.Event> {
    const { session, signal } = this;
    const { clock } = session.ctx;
    const permit = this.#permit;
    if (!permit) throw new Error("a POST without a permit");
    this.#progress.is("waiting for the service to accept the create");
    using ending = grace(clock, graceMs, signal);
    const signals = { unsent: signal, grace: ending.signal };
    const outcome = await this.#api.createInstance(createBodyOf(this.#args), permit, signals);
    this.#sent = session.listings.markWrite();
    if (outcome.kind === "notSent" && signal.aborted) {
      return { kind: "stopped", why: signal.reason as Error };
    }
    // Before anything else can go wrong: from here on the id is never lost.
    if (outcome.kind === "accepted") this.#accept(this.#key ?? "", outcome.accepted, this.#sent);
    return { kind: "posted", outcome, now: clock.now() };
  }

  #accept(key: string, accepted: Accepted, after: number, acceptedAt?: string): void {
    const { origin } = this.#order;
    const date = acceptedAt === undefined ? this.session.ctx.clock.date() : new Date(acceptedAt);
    const outputs = stamped(
      outputsOfAccepted(this.request.inputs, accepted, origin, date),
      this.session.id,
    );
    this.#made = { key, id: accepted.id, outputs, origin, after };
  }

  #carryOut(note: protocol.Note): void {
    const { ledger, creates } = this.session;
    switch (note.do) {
      case "move":
        ledger.move(note.key, { stage: note.stage, at: this.#now() });
        return;
      case "accept": {
        const { key, accepted, resumed } = note;
        const { id, createdAt, networks } = accepted;
        if (resumed) {
          creates.noteTakenOver(id);
          const { at } = ledger.read().find(({ record }) => record.key === key)?.record ?? {};
          this.#accept(key, accepted, 0, at);
          ledger.move(key, { stage: "accepted", id });
        } else {
          creates.noteMade(id);
          ledger.move(key, {
            stage: "accepted",
            id,
            at: this.#now(),
            accepted: { ...(createdAt === undefined ? {} : { createdAt }), networks },
          });
        }
        return;
      }
      case "found":
        ledger.move(note.key, { id: note.id });
        return;
      case "settle":
        ledger.settle(note.key, note.how);
        this.#key = undefined;
        return;
      case "drop":
        ledger.drop(note.key);
        this.#key = undefined;
        return;
      case "tell":
        return this.#tell(note.what);
    }
  }

  #tell(what: protocol.Told): void {
    const { ctx, notices } = this.session;
    switch (what.kind) {
      case "pending":
        return notices.pending(what.records, what.elsewhere, this.#order);
      case "leftovers":
        return notices.leftovers(this.#about, what.items, what.partial);
      case "resumed": {
        const shown =
          this.#about.shownName === this.#args.name
            ? (what.name ?? this.#args.name)
            : this.#about.shownName;
        return ctx.messages.warning(resumedNotice(what.id, shown), this.request.urn);
      }
      case "lookingAfterFailure":
        this.#progress.stop();
        return ctx.messages.status(
          this.request.urn,
          "the create has no clear answer; looking for its instance",
        );
    }
  }

  #now(): string {
    return this.session.ctx.clock.date().toISOString();
  }
}

/**
 * Keyed with the token, since it covers the user data. A name that the program did not choose is left
 * out: the next run makes another.
 */
function digestOf(apiToken: string, args: InstanceArgs, kind: protocol.NameKind): string {
  const { name, ssh_keys, ...rest } = createBodyOf(args);
  const asked = {
    ...rest,
    ssh_keys: [...(ssh_keys ?? [])].sort(),
    name: kind === "explicit" ? name : null,
  };
  return keyedFingerprint(apiToken, JSON.stringify(asked), 32);
}
