/**
 * Waits until an accepted instance is ready: OFFLINE, or ACTIVE with the address that others use, and with `waitForPort` with a
 * port that answers. Whatever ends the wait, the id and the state of the instance reach the engine, so that no created
 * instance is lost (G1).
 */
import { Canceled, deadline, notNeeded, pauseLines, TimedOut } from "../abort";
import { importAs, pageAt, requestReport, stateDeleteCommand } from "../advice";
import type { ListItem } from "../api/contract";
import { RequestError } from "../api/errors";
import type { Unfinished } from "../engineRun";
import { InstanceUnfinished, OperationFailed, type Report } from "../errors";
import { hasLeftProvisioning, type LookOptions, type WaitResult } from "../evidence/poller";
import type { Notices } from "../session/notices";
import { waits, type Operation } from "../session/operations";
import type { Session } from "../session/session";
import { isAddressDue, lacksAddress, noAddressFinding } from "./address";
import { listedBy } from "./existence";
import { Instance } from "./instance";
import {
  addressOf,
  describePort,
  failureOf,
  portStatus,
  waitUntilAnswered,
  type AwaitedPort,
} from "./port";

/** What a wait begins with. */
export interface ReadyWait extends Unfinished {
  /** The instance as a listing has shown it just now. */
  listed?: ListItem | undefined;
}

/** What an instance does from the 202 on, until a listing shows otherwise. */
const accepted = "PROVISIONING";

/** What a wait has seen so far. */
interface Progress {
  /** The status in the last listing that showed the instance. */
  status: string | undefined;
  /** The port that is awaited, once the instance has left PROVISIONING. */
  port?: AwaitedPort | undefined;
  /** Whether the public address is awaited, once the instance is ACTIVE. */
  isAddressAwaited?: boolean;
}

/**
 * Waits until the instance has left PROVISIONING, and then for its public address and, if the program names one, until its port
 * answers. Returns the instance as it is then.
 *
 * @throws InstanceUnfinished for every failure.
 */
export function waitUntilReady(
  session: Session,
  wait: ReadyWait,
  operation: Operation,
): Promise<Instance> {
  return new WaitUntilReady(session, wait, operation).run();
}

/** One wait, which follows the instance through the listings. */
class WaitUntilReady {
  readonly #session: Session;
  readonly #wait: ReadyWait;
  readonly #operation: Operation;
  readonly #progress: Progress;
  #instance: Instance;

  constructor(session: Session, wait: ReadyWait, operation: Operation) {
    this.#session = session;
    this.#wait = wait;
    this.#operation = operation;
    this.#progress = { status: wait.listed?.status };
    this.#instance = wait.instance;
  }

  /** @throws InstanceUnfinished for every failure */
  async run(): Promise<Instance> {
    const session = this.#session;
    session.state.unfinished.add(this.#instance.id);
    this.#show();
    try {
      const item = this.#take(await this.#waitWhileProvisioning());
      const isDue = item !== undefined && isAddressDue(session, this.#instance);
      await Promise.all([this.#waitForPort(item), isDue && this.#waitForAddress(item)]);
      if (isDue) this.#noteAddress();
      return this.#instance;
    } catch (error) {
      throw unfinishedError(session, error, this.#instance, this.#progress);
    }
  }

  /**
   * Takes the end of a wait for the listings, and returns the instance as the last listing that showed it.
   *
   * @throws InstanceUnfinished if the instance is gone, if this provider does not know its status (the service's document does
   *   not list all statuses), or if the instance is OFFLINE and its port is awaited.
   */
  #take(result: WaitResult): ListItem | undefined {
    if (result.kind === "deleted") throw goneInstance(this.#instance);
    const item = result.kind === "left" ? result.item : result.lastSeen;
    if (item) this.#instance = this.#instance.seenAs(item, this.#wait.origin);
    if (result.kind === "left")
      checkStatus(this.#session.notices, this.#instance, this.#wait.instance.unfinished());
    else this.#warnOfCutOff();
    return item;
  }

  /** Counts an instance as finished that has left PROVISIONING, but whose list is cut off before it. */
  #warnOfCutOff(): void {
    const { id, urn } = this.#instance;
    this.#instance = this.#instance.finished();
    this.#session.notices.warnOnce(
      "notListed",
      `instance ${id} has left PROVISIONING, but the service's listings are cut off before they show it, so its present status is not known. Set compute:cursorParameter if the service has a cursor, then run \`pulumi refresh --run-program\``,
      urn,
    );
  }

  /** Takes what the wait has seen, and shows it. */
  #note(seen: Partial<Progress>): void {
    Object.assign(this.#progress, seen);
    this.#show();
  }

  /** Shows in the Info column what is awaited. */
  #show(): void {
    const { port, isAddressAwaited, status = accepted } = this.#progress;
    const awaited = isAddressAwaited ? `${status}, awaiting its address` : status;
    const what = port ? portStatus(port) : awaited;
    this.#operation.show({ what, id: this.#instance.id });
  }

  /** Takes what a listing shows of the instance, or why there is no listing. */
  #noteLook(item: ListItem | undefined, problem: RequestError | undefined): void {
    this.#operation.noteLook(problem);
    this.#note(item ? { status: item.status ?? accepted } : {});
  }

  async #waitWhileProvisioning(): Promise<WaitResult> {
    const { listed, after, instance } = this.#wait;
    if (listed && hasLeftProvisioning(listed)) return { kind: "left", item: listed };
    using _wait = this.#operation.waiting(waits.listing);
    return await this.#session.poller.waitWhileProvisioning(instance.id, {
      after,
      // Until then, a listing may lack the instance although it exists (compute:settlingSeconds).
      listedBy: listedBy(this.#session, instance),
      signal: this.#operation.signal,
      onLook: (listing, problem) => this.#noteLook(listing?.items.get(instance.id), problem),
    });
  }

  /**
   * Waits until a listing has the public address, for at most the settling time. Since the instance is ACTIVE, only a cancel, or
   * the proof that it is gone, makes this wait fail.
   */
  async #waitForAddress(item: ListItem): Promise<void> {
    const session = this.#session;
    if (session.isAddressMissed) return;
    this.#note({ isAddressAwaited: true });
    const { signal } = this.#operation;
    using end = deadline(session.ctx.clock, session.settings.settlingMs / 1000, signal);
    try {
      const result = await session.poller.waitForAddress(item, this.#looksUntil(end.signal));
      if (result.kind === "deleted") throw goneInstance(this.#instance);
    } catch (error) {
      const isTimeOut = error instanceof TimedOut;
      if (!(isTimeOut || error instanceof RequestError || error instanceof OperationFailed))
        throw error;
      session.isAddressMissed ||= isTimeOut && !signal.aborted;
    }
  }

  /** Warns of an address that did not come, or of the status that the instance has instead of ACTIVE. */
  #noteAddress(): void {
    const { notices } = this.#session;
    checkStatus(notices, this.#instance);
    if (lacksAddress(this.#instance)) notices.warnOfFinding(noAddressFinding, this.#instance.urn);
  }

  /**
   * Waits until the port answers, if the program names one. Meanwhile the instance follows the listings, and the wait ends at a
   * status other than ACTIVE and PROVISIONING.
   */
  async #waitForPort(item: ListItem | undefined): Promise<void> {
    const number = this.#instance.waitForPort;
    if (number === undefined) return;
    this.#note({ status: this.#instance.status, port: { number } });
    const end = new AbortController();
    const until = AbortSignal.any([this.#operation.signal, end.signal]);
    try {
      const answered = waitUntilAnswered(
        this.#session.ctx,
        number,
        () => addressOf(this.#instance),
        until,
        (failed) => this.#note({ port: { number, failed } }),
      );
      const watched = async () => {
        const { poller } = this.#session;
        // An instance that no listing has shown can't be watched: the listings are cut off before it.
        if (item) this.#take(await poller.waitWhileActive(item, this.#looksUntil(until)));
        await answered;
      };
      await Promise.race([answered, watched()]);
      this.#note({ port: undefined });
    } finally {
      end.abort(notNeeded);
    }
  }

  /** Returns what the looks at an ACTIVE instance need. The instance follows the listings. */
  #looksUntil(signal: AbortSignal): LookOptions {
    return {
      listedBy: listedBy(this.#session, this.#instance),
      signal,
      onLook: (listing, problem) => {
        const latest = listing?.items.get(this.#instance.id);
        if (latest && hasLeftProvisioning(latest))
          this.#instance = this.#instance.seenAs(latest, this.#wait.origin);
        this.#noteLook(latest, problem);
      },
    };
  }
}

/** Returns the error for an instance that was listed, and is then proven gone (G3). */
export function goneInstance(instance: Instance): InstanceUnfinished {
  const own = `instance ${instance.id} was listed before, and is now missing from two complete listings`;
  return unfinishedInstance(instance, own, ". Run `pulumi up` again to create it anew", true);
}

/**
 * Checks the status. Warns of an instance that is OFFLINE, unless `before` shows that, and of a status that this provider
 * does not know.
 *
 * @param before The instance before the listing, if a state held it.
 * @throws InstanceUnfinished for PROVISIONING, and if `before` is marked as unfinished for an unknown status, and for OFFLINE
 *   if a port is awaited.
 */
export function checkStatus(notices: Notices, instance: Instance, before?: Instance): void {
  const { id, urn, status, waitForPort: port, tokenKind } = instance;
  if (status === undefined || status === "ACTIVE") return;
  if (status === "PROVISIONING") {
    const own = `instance ${id} was still PROVISIONING when this run began`;
    throw unfinishedInstance(instance, own, ". `pulumi up` waits until it is ready");
  }
  if (status === "OFFLINE") {
    const own = `instance ${id} is OFFLINE`;
    if (before?.isUnfinished && port !== undefined) {
      const next = `, so its port ${port} can't answer. Start it at the service, then run \`pulumi up\`, or leave waitForPort out`;
      throw unfinishedInstance(instance, own, next);
    }
    if (before?.status === "OFFLINE") return;
    const billed = tokenKind === "live" ? ", and is billed," : "";
    const next = `: it exists${billed} but does not run. Start it at the service, then run \`pulumi refresh\``;
    return notices.tell("warning", { own, shared: [next] }, urn);
  }
  const own = `instance ${id} has the status "${status}", which this provider does not know`;
  if (before?.isUnfinished) {
    const next =
      ". If it becomes ACTIVE or OFFLINE, the next `pulumi up` finishes it. To have it created again, remove it at the service first";
    throw unfinishedInstance(instance, own, next);
  }
  const next = `. \`pulumi refresh\` shows whether it has changed. If the instance is gone: \`${stateDeleteCommand(urn)}\``;
  notices.tell("warning", { own, shared: [next] }, urn);
}

/** Turns any error after the id was known, even a defect, into one that carries the id (G1). */
export function unfinishedError(
  { engine }: Pick<Session, "engine">,
  error: unknown,
  instance: Instance,
  progress?: Progress,
): InstanceUnfinished {
  if (error instanceof InstanceUnfinished) return error;
  const { id } = instance;
  // Stateless is `pulumi do` without a stack: the engine saves no state.
  const next =
    engine.kind === "stateless"
      ? `${id} exists, and no state holds it. To take it over, run \`${importAs("<name>", id)}\`.`
      : "It is kept in the state, and the next `pulumi up` goes on waiting for it.";
  const report = endOfWait(error, instance, progress);
  const [end = ".", ...ways] = report.shared;
  const { inputs, outputs } = instance.unfinished();
  const says = { ...report, shared: [end, next, ...ways] };
  return new InstanceUnfinished(id, { inputs, outputs }, says);
}

/**
 * Returns the instance for an answer that calls the operation a success, if an error hook makes the engine repeat it too often to
 * keep what an error says (`EngineRun.mustSucceed`). It stays marked as not ready, so that the next run goes on waiting for it, and the
 * reasons are a warning.
 *
 * @throws the error otherwise
 */
export function keepOrThrow(
  { engine, ctx }: Pick<Session, "engine" | "ctx">,
  unfinished: InstanceUnfinished,
  { urn, id }: Instance,
): Instance {
  if (!engine.mustSucceed(urn)) {
    engine.resource(urn).wasUnfinished = true;
    throw unfinished;
  }
  const why =
    "This counts as a success because an error hook keeps asking for another try, and Pulumi forgets the id after 100 failures.";
  ctx.messages.warning([...unfinished.lines, why], urn);
  // Other resources may now be made with its outputs, so none may be missing.
  return new Instance({ urn, id, ...unfinished.state }).complete();
}

/** Says what ended the wait. */
function endOfWait(error: unknown, instance: Instance, progress?: Progress): Report {
  const { status, port } = progress ?? {};
  const what = port ? describePort(port, instance) : `instance ${instance.id}`;
  const ended = `the wait for ${what} ended`;
  if (error instanceof Canceled) return { own: `the wait for ${what} was canceled`, shared: ["."] };
  if (error instanceof RequestError) return requestReport(ended, error);
  if (error instanceof OperationFailed) return { own: ended, shared: [`: ${error.message}`] };
  if (!(error instanceof TimedOut))
    return { own: ended, shared: [` by a defect in the provider: ${String(error)}.`] };
  const { pause, failed, limit } = error;
  const requests = failed ? [failed] : [];
  if (pause) return { own: ended, shared: pauseLines(pause, limit), requests };
  const over = `the operation's ${limit} were over`;
  if (port) {
    const lastTry = port.failed ? `: ${failureOf(port.failed)}` : "";
    const page = `More: ${pageAt("waiting.md#until-a-port-answers")}`;
    return { own: `${what} did not answer`, shared: [` before ${over}${lastTry}.`, page] };
  }
  const lastLook = failed ? `, and the last look failed: ${failed.message}` : "";
  const own =
    status === undefined ? `no listing had shown ${what} yet` : `${what} was still ${status}`;
  return { own, shared: [` when ${over}${lastLook}.`], requests };
}

/** Returns the error that makes the engine keep the instance as unfinished. `own`: as in `Report`. `next`: its shared part. */
export function unfinishedInstance(
  instance: Instance,
  own: string,
  next: string,
  isGone = false,
): InstanceUnfinished {
  const { id, inputs, outputs } = instance.unfinished();
  return new InstanceUnfinished(id, { inputs, outputs }, { own, shared: [next] }, isGone);
}
