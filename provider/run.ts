/** A run of an engine: the one configuration that it has, and how it ends. */
import * as crypto from "node:crypto";
import { Canceled } from "./abort";
import { Engine } from "./engine";
import { explicitProvider } from "./pulumi/urn";
import { resolveSettings, settingVariables } from "./config/configuration";
import { decideForRun, wordsForRun } from "./config/oneRun";
import type { Settings } from "./config/settings";
import type { ProviderContext } from "./context";
import { OperationFailed, type Said } from "./errors";
import { reportInDoubt } from "./create/inDoubt";
import type { CancelReason, ConfigureRequest } from "./pulumi/calls";
import { Notices } from "./session/notices";
import { runPatienceMs, Session } from "./session/session";

/** What holds until the next run begins in this process. */
export class Run {
  readonly #ctx: ProviderContext;
  readonly #cancellation = new AbortController();
  /** The id of the session. */
  readonly #id: string;
  /** What the calls are about. */
  readonly engine: Engine;
  /** What it says of several instances, also if it has no session. */
  readonly notices: Notices;
  #session: Session | undefined;
  /** Why the recorded settings make no session. */
  #refusal: Said | undefined;
  #configurationKey = "";
  /** The variables that decide for one run, as assignments. */
  #assignments: readonly string[] = [];
  #hasFailed = false;

  constructor(ctx: ProviderContext) {
    const { randomBytes = crypto.randomBytes } = ctx;
    this.#ctx = ctx;
    // With its process id, a person finds a run that is in the way (`displayRun`).
    this.#id = `${process.pid}_${Buffer.from(randomBytes(6)).toString("hex")}`;
    this.notices = new Notices(ctx);
    this.engine = new Engine(ctx, "recorded", this.#id, this.notices);
  }

  /** Undefined until Configure, and if the recorded settings can't work. */
  get session(): Session | undefined {
    return this.#session;
  }

  /** @throws OperationFailed if there is no session */
  needSession(): Session {
    if (this.#session) return this.#session;
    throw new OperationFailed(
      this.#refusal ?? "the compute provider was called before it was configured",
    );
  }

  /**
   * Takes the settings, which can't be changed any more. `pulumi do` without a stack is no run that a person could decide for.
   *
   * From engine 3.274 on, an error ends the run, also for other providers. So recorded settings that can't work are refused by the
   * first call that needs them.
   *
   * @throws OperationFailed if the settings of a program or a variable of this run can't work, or if the run has other settings already
   */
  configure({ urn, scope, args }: ConfigureRequest): void {
    const { engine } = this;
    engine.configure(urn);
    const providerUrn = explicitProvider(urn);
    const places = { variables: settingVariables(args, this.#ctx.env), providerUrn, engine };
    const env = engine.kind === "stateless" ? {} : this.#ctx.env;
    const words = wordsForRun(env);
    let resolved: Settings;
    try {
      resolved = resolveSettings(args, this.#ctx, places);
    } catch (error) {
      const isForLater = engine.kind === "recorded" && !this.#session;
      if (!isForLater || !(error instanceof OperationFailed)) throw error;
      this.#refusal = error.says;
      return;
    }
    const { settings, variables, assignments } = decideForRun(resolved, words);
    // A token from a file may be replaced between two calls.
    const apiToken = settings.apiTokenFile ?? settings.apiToken;
    const configurationKey = JSON.stringify({ ...settings, apiToken, urn, scope });
    // With PULUMI_DEBUG_PROVIDERS, the engine configures all providers of the program in this one process.
    if (this.#configurationKey === configurationKey) return;
    if (this.#session ?? this.#refusal) throw new OperationFailed(secondConfiguration);
    const { signal } = this.#cancellation;
    engine.configured(settings);
    this.#session = new Session(settings, this.#ctx, () => signal, {
      sessionId: this.#id,
      notices: this.notices,
      ...places,
      scope,
      variables: { ...places.variables, ...variables },
      patienceMs: runPatienceMs,
    });
    this.#assignments = assignments;
    this.#configurationKey = configurationKey;
  }

  /** Notes that a call of the run has failed. */
  noteFailure(): void {
    this.#hasFailed = true;
  }

  /** Ends the waits (`Provider.cancel`), and says what the run leaves behind or in doubt. */
  cancel(reason: CancelReason): void {
    this.engine.end(reason);
    if (reason !== "engineGone") this.#report(reason, this.#session);
    this.#cancellation.abort(new Canceled());
  }

  #report(reason: CancelReason, session: Session | undefined): void {
    session?.retained.report();
    this.notices.reportFindings();
    if (!session) return;
    // A preview that goes on to an `up` leaves this to it.
    const set = this.engine.isActing || this.#hasFailed ? this.#assignments.join(", ") : "";
    if (set !== "" && this.notices.markSaid(set))
      this.#ctx.messages.info(
        `set in this run: ${set}. Unset what you did not type with the command`,
      );
    // After an interrupt, a second Ctrl-C may end the engine before it saves the replies. So `finished` then proves
    // nothing.
    if (reason === "finished") {
      if (!this.#cancellation.signal.aborted) session.ledger.endInOrder();
      reportInDoubt(session);
      // What is left in doubt is free for the next run, even if this process serves it (PULUMI_DEBUG_PROVIDERS).
      void session.ledger.close();
    }
  }

  /** Ends what the run still holds, once another one begins. */
  close(): void {
    // The engine was killed, or its version sends no Cancel: whether it has saved its state is not known.
    if (!this.#cancellation.signal.aborted) this.cancel("engineGone");
    void this.#session?.close();
  }
}

const secondConfiguration =
  "this process already serves another configuration of the provider, and it can't tell the calls of the two configurations apart. Two providers of a program have two, and so have the recorded and the present settings of one after a change. Run without PULUMI_DEBUG_PROVIDERS";
