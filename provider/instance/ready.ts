/**
 * Waits until an accepted instance is ready: ACTIVE, with a public address, and with `waitForPort` with a port that
 * answers. Whatever ends the wait, the id and the state of the instance reach the engine, so that no created
 * instance is lost (G1).
 */
import { Canceled, notNeeded, pauseLines, TimedOut } from "../abort";
import { importAs, pageAt, requestReport, stateDeleteCommand, wayToCursor } from "../advice";
import type { ListItem } from "../api/contract";
import { RequestError } from "../api/requestError";
import type { Unfinished } from "../engine";
import { InstanceUnfinished, OperationFailed, type Report } from "../errors";
import { noCursor } from "../evidence/collect";
import { statusOf, type Next, type WaitEnd } from "../evidence/poller";
import type { Notices } from "../session/notices";
import { waits, type Operation } from "../session/operations";
import type { Session } from "../session/session";
import { missingOf, noAddressFinding, type Missing } from "./address";
import { questionOf } from "./existence";
import { Instance } from "./instance";
import {
  addressOf,
  describePort,
  failureOf,
  portStatus,
  waitUntilAnswered,
  type AwaitedPort,
} from "./port";
import { refusalReport } from "./refusals";

/** What a wait begins with. */
export interface ReadyWait extends Unfinished {
  /** The instance as a listing has shown it just now. */
  listed?: ListItem | undefined;
}

/** What a wait has seen so far. */
interface Progress {
  /** The status in the last listing that showed the instance. */
  status?: string;
  /** What the instance lacks in that listing, unless waited for long enough. */
  missing?: Missing | undefined;
  /** The port, from the first try until it has answered. */
  port?: AwaitedPort | undefined;
}

/**
 * Waits until a listing shows the instance as ACTIVE with an address and, if the program names a port, until the port answers. What
 * else follows PROVISIONING counts once it was listed for long enough (`missingOf`), or when the time is out. Returns the instance then.
 *
 * @throws InstanceUnfinished for every failure.
 */
export function waitUntilReady(
  session: Session,
  wait: ReadyWait,
  operation: Operation,
): Promise<Instance> {
  return new WaitUntilReady(session, wait, operation).untilEnd();
}

/** One wait, which follows the instance through the listings. */
class WaitUntilReady {
  readonly #session: Session;
  readonly #wait: ReadyWait;
  readonly #operation: Operation;
  readonly #progress: Progress = {};
  #instance: Instance;
  /** The instance as last listed. */
  #item: ListItem | undefined;
  #port: Promise<void> | undefined;
  /** Ends the looks and the tries: with `notNeeded` once nothing is missing, or with the error of a try. */
  readonly #end = new AbortController();
  readonly #until: AbortSignal;

  constructor(session: Session, wait: ReadyWait, operation: Operation) {
    this.#session = session;
    this.#wait = wait;
    this.#operation = operation;
    this.#instance = wait.instance;
    this.#until = AbortSignal.any([operation.signal, this.#end.signal]);
  }

  /** @throws InstanceUnfinished for every failure */
  async untilEnd(): Promise<Instance> {
    this.#session.state.unfinished.add(this.#instance.id);
    this.#note({});
    try {
      const end = await this.#follow();
      if (end === "gone") throw goneInstance(this.#instance);
      if (end === "cutOff") {
        this.#takeCutOff();
        await (this.#port ?? this.#tryPort());
      } else this.#takeAsListed();
      return this.#instance;
    } catch (error) {
      throw unfinishedError(this.#session, error, this.#instance, this.#progress);
    } finally {
      this.#end.abort(notNeeded);
    }
  }

  /** Follows the listings until the instance is ready, or what it lacks was awaited for long enough, or the time is out. */
  async #follow(): Promise<WaitEnd> {
    const { poller, ours } = this.#session;
    using looking = this.#operation.waiting(waits.listing);
    try {
      return await poller.wait({
        question: questionOf(this.#session, this.#instance, this.#operation),
        after: this.#wait.after,
        listed: this.#wait.listed,
        signal: this.#until,
        known: () => ({ ours }),
        onLook: (problem) => {
          this.#operation.noteLook(problem);
          this.#note({});
        },
        onListed: (item, forMs) => {
          const next = this.#take(item, forMs);
          if (next === "watch") looking[Symbol.dispose]();
          return next;
        },
      });
    } catch (error) {
      if (error === notNeeded) return "over";
      const { status, missing, port } = this.#progress;
      const isPortMissing = status === "ACTIVE" && port !== undefined;
      // At the end of the operation's time, what is listed counts.
      const mayCount = missing !== undefined && missing.countsAfterMs < Infinity && !isPortMissing;
      if (error instanceof TimedOut && !error.pause && mayCount) return "over";
      throw error;
    }
  }

  /** Takes what a listing shows, and says what comes next. `forMs`: for how long it has shown this status. */
  #take(item: ListItem, forMs: number): Next {
    this.#item = item;
    const status = statusOf(item);
    if (status !== "PROVISIONING") this.#instance = this.#instance.seenAs(item, this.#wait.origin);
    const lacks = missingOf(this.#session, status, this.#instance);
    const missing = lacks && forMs < lacks.countsAfterMs ? lacks : undefined;
    this.#note({ status, missing });
    if (status === "ACTIVE" && !this.#port) {
      this.#port = this.#tryPort();
      this.#port.catch((error: unknown) => this.#end.abort(error));
    }
    if (missing) return "look";
    return status === "ACTIVE" && this.#progress.port ? "watch" : "end";
  }

  /**
   * Takes the instance as it is listed, and warns of what it lacks.
   *
   * @throws InstanceUnfinished if its status is unknown, or if it is OFFLINE and a port is awaited
   */
  #takeAsListed(): void {
    const { notices } = this.#session;
    const { id, status, ipv4, urn, waitForPort: port } = this.#instance;
    if (status === "ACTIVE") {
      if (ipv4 === undefined) notices.warnOfFinding(noAddressFinding, urn);
      return;
    }
    if (status !== "OFFLINE")
      throw unfinishedInstance(
        this.#instance,
        unknownStatus(this.#instance),
        ". If it becomes ACTIVE or OFFLINE, the next `pulumi up` finishes it. To have it created again, remove it at the service first",
      );
    if (port !== undefined)
      throw unfinishedInstance(
        this.#instance,
        `instance ${id} is OFFLINE`,
        `, so its port ${port} can't answer. Start it at the service, then run \`pulumi up\`, or leave waitForPort out`,
      );
    warnOfStatus(notices, this.#instance, this.#wait.instance);
  }

  /**
   * Takes an instance that has left PROVISIONING, but that no listing can show.
   *
   * @throws InstanceUnfinished, unless `compute:cursorParameter` is "none"
   */
  #takeCutOff(): void {
    const { notices, settings, places } = this.#session;
    const { id, urn } = this.#instance;
    if (settings.cursorParameter !== noCursor) {
      const own = `instance ${id} ${cutOffText}`;
      const { shared } = refusalReport({
        what: own,
        ways: [
          `with the name of the service's cursor: ${wayToCursor("NAME", places)}`,
          `without a cursor (ipv4 is then empty): ${wayToCursor(noCursor, places)}`,
        ],
        page: "scaling.md#a-thousand-instances-without-a-cursor",
      });
      throw unfinishedInstance(this.#instance, own, shared);
    }
    this.#instance = this.#item
      ? this.#instance.seenAs(this.#item, this.#wait.origin)
      : this.#instance.finished();
    notices.warnOfFinding(cutOffFinding, urn);
  }

  /** Takes what the wait has seen, and shows in the Info column what is awaited. */
  #note(seen: Partial<Progress>): void {
    Object.assign(this.#progress, seen);
    const { port, missing, status = "PROVISIONING" } = this.#progress;
    const what = missing?.is ?? (port ? portStatus(port) : status);
    this.#operation.show({ what, id: this.#instance.id });
  }

  /** Tries the port until it answers, if the program names one. That ends the looks if nothing else is missing. */
  async #tryPort(): Promise<void> {
    const number = this.#instance.waitForPort;
    if (number === undefined) return;
    this.#note({ port: { number } });
    await waitUntilAnswered(
      this.#session.ctx,
      number,
      () => addressOf(this.#instance),
      this.#until,
      (failed) => this.#note({ port: { number, failed } }),
    );
    this.#note({ port: undefined });
    if (!this.#progress.missing) this.#end.abort(notNeeded);
  }
}

/** What is true of an instance past the first page of listings without a cursor. */
const cutOffText =
  "has left PROVISIONING, but the service's listings are cut off before they show it";
const cutOffFinding: Report = {
  own: `the instance ${cutOffText}`,
  shared: [
    ", so its status and its address are not known. `pulumi refresh` records them once it is listed",
  ],
};

/** Returns the error for an instance that is proven gone (G3). */
export function goneInstance(instance: Instance): InstanceUnfinished {
  const own = `instance ${instance.id} is gone: it is now missing from two complete listings`;
  return unfinishedInstance(instance, own, ". Run `pulumi up` again to create it anew", true);
}

/** Warns of an instance that is not ACTIVE. `before`: the instance before the listing, if this is no import. */
export function warnOfStatus(notices: Notices, instance: Instance, before?: Instance): void {
  const { id, urn, status, tokenKind } = instance;
  if (status === undefined || status === "ACTIVE") return;
  if (status !== "OFFLINE") {
    const next = `. \`pulumi refresh\` shows whether it has changed. If the instance is gone: \`${stateDeleteCommand(urn)}\``;
    return notices.tell("warning", { own: unknownStatus(instance), shared: [next] }, urn);
  }
  if (before?.status === "OFFLINE") return;
  const billed = tokenKind === "live" ? ", and is billed," : "";
  const next = `: it exists${billed} but does not run. Start it at the service, then run \`pulumi refresh\``;
  notices.tell("warning", { own: `instance ${id} is OFFLINE`, shared: [next] }, urn);
}

const unknownStatus = ({ id, status }: Instance) =>
  `instance ${id} has the status "${status}", which this provider does not know`;

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
 * Returns the instance if the engine must be told success (`Engine.mustSucceed`). The instance stays marked as not ready, so that the
 * next run goes on waiting, and the reasons are a warning.
 *
 * @throws the error otherwise
 */
export function succeedOrThrow(
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
  const { status } = progress ?? {};
  const port = status === "ACTIVE" ? progress?.port : undefined;
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

/** Returns the error that makes the engine keep the instance as unfinished. `own`, `shared`: as in `Report`. */
export function unfinishedInstance(
  instance: Instance,
  own: string,
  shared: string | readonly string[],
  isGone = false,
): InstanceUnfinished {
  const { id, inputs, outputs } = instance.unfinished();
  return new InstanceUnfinished(id, { inputs, outputs }, { own, shared: [shared].flat() }, isGone);
}
