/**
 * Waits until an accepted instance is ready, which is ACTIVE or OFFLINE, and judges its status. Whatever ends the wait,
 * the id and the state of the instance reach the engine, so that no created instance is lost (G1).
 */
import { Canceled, TimedOut } from "../abort";
import { importAs } from "../advice";
import type { ListItem } from "../api/contract";
import { RequestError } from "../api/errors";
import { InstanceUnfinished, OperationFailed } from "../errors";
import type { Origin } from "../origin";
import { timeouts, type Session } from "../session/session";
import { listedBy } from "./existence";
import type { Instance } from "./instance";
import { reasonOf } from "./messages";
import { WaitProgress } from "./progress";

/** An accepted instance, for which an operation waits. */
export interface Wait {
  instance: Instance;
  /** The service and the token with which it was created or found. */
  origin: Origin;
  /**
   * The mark (`ListingSource.mark`) of the end of the POST. Listings with a lower mark began before, and prove nothing.
   * 0 if a listing or the state has already shown the instance: then every listing counts.
   */
  after: number;
}

/**
 * Waits until the instance has left PROVISIONING, and returns it as it is then.
 *
 * @throws InstanceUnfinished for every failure.
 */
export async function waitUntilReady(
  session: Session,
  wait: Wait,
  signal: AbortSignal,
): Promise<Instance> {
  const { instance, after } = wait;
  const { id } = instance;
  const progress = new WaitProgress(session, signal, id);
  try {
    const result = await session.poller.waitWhileProvisioning(id, {
      after,
      // Until then, a listing may lack the instance although it exists (compute:settlingSeconds).
      listedBy: listedBy(session, instance),
      signal,
      onLook: (listing, problem) => progress.update(listing, problem),
    });
    if (result.kind === "provisioned") return readyInstance(session, wait, result.item);
    if (result.kind === "notListed") return unlistedInstance(session, wait, result.lastSeen);
    throw unfinishedInstance(
      instance,
      `instance ${id} was listed before, and is now missing from two complete listings. Run \`pulumi up\` again to create it anew`,
    );
  } catch (error) {
    throw unfinishedError(session, error, instance, progress);
  }
}

/**
 * Returns an instance that has left PROVISIONING, as it is listed.
 *
 * @throws InstanceUnfinished if this provider does not know the status. The service's document does not list all statuses.
 */
export function readyInstance(
  session: Session,
  { instance, origin }: Wait,
  item: ListItem,
): Instance {
  const after = instance.seenAs(item, origin);
  // With this mark, an unknown status is an error. Without it, only a warning.
  checkStatus(session, after, instance.unfinished());
  return after;
}

/**
 * Returns an instance that has left PROVISIONING, but is not in the listings, whose ACTIVE or OFFLINE
 * part is cut off. `lastSeen` is from the last listing that showed it. Warns once in a session.
 */
function unlistedInstance(
  session: Session,
  { instance, origin }: Wait,
  lastSeen: ListItem | undefined,
): Instance {
  const { id, urn } = instance;
  const after = lastSeen ? instance.seenAs(lastSeen, origin) : instance;
  const unknownOutputs = after.ipv4 === undefined ? "its status and ipv4 are" : "its status is";
  session.notices.warnOnce(
    "notListed",
    `instance ${id} has left PROVISIONING, but the service's listings are cut off before they show it: ${unknownOutputs} not known. Set compute:cursorParameter if the service has a cursor, then run \`pulumi refresh --run-program\``,
    urn,
  );
  return after.finished();
}

/**
 * Checks the status. Warns of an instance that is OFFLINE, unless `before` shows that, and of a status that this provider
 * does not know.
 *
 * @param before The instance before the listing, if a state held it.
 * @throws InstanceUnfinished for PROVISIONING, and for an unknown status if `before` is marked as unfinished.
 */
export function checkStatus(session: Session, instance: Instance, before?: Instance): void {
  const { id, urn, status } = instance;
  const { messages } = session.ctx;
  if (status === undefined || status === "ACTIVE") return;
  if (status === "PROVISIONING") {
    const reason = `instance ${id} is still PROVISIONING. \`pulumi up\` waits until it is ready`;
    throw unfinishedInstance(instance, reason);
  }
  if (status === "OFFLINE") {
    if (before?.status === "OFFLINE") return;
    const billed = instance.tokenKind === "live" ? ", and is billed," : "";
    const text = `instance ${id} is OFFLINE: it exists${billed} but does not run. Start it at the service, then run \`pulumi refresh\``;
    return messages.warning(text, urn);
  }
  const unknown = `instance ${id} has the status "${status}", which this provider does not know`;
  if (before?.isUnfinished) {
    const next =
      "If it becomes ACTIVE or OFFLINE, the next `pulumi up` finishes it. To have it created again, remove it at the service first";
    throw unfinishedInstance(instance, `${unknown}. ${next}`);
  }
  const next = "Run `pulumi refresh` later to see whether the status has changed";
  messages.warning(`${unknown}. ${next}`, urn);
}

/** Turns any error after the id was known, even a defect, into one that carries the id (G1). */
export function unfinishedError(
  { run }: Session,
  error: unknown,
  instance: Instance,
  progress?: WaitProgress,
): InstanceUnfinished {
  if (error instanceof InstanceUnfinished) return error;
  const { id } = instance;
  // Stateless is `pulumi do` without a stack: the engine saves no state.
  const isPaused = error instanceof TimedOut && error.pause !== undefined;
  const nextUp = isPaused ? "next `pulumi up` after that time" : "next `pulumi up`";
  const next = run.stateless
    ? `${id} exists, and no state holds it. To take it over, run \`${importAs("<name>", id)}\``
    : `${id} is kept in the state; the ${nextUp} goes on waiting for it, for as long as customTimeouts.update says (default ${timeouts.change} s)`;
  return unfinishedInstance(instance, `${endOfWait(error, id, progress)} ${next}`);
}

/** Says what ended the wait. The result ends with a semicolon or a full stop, because a sentence follows it. */
function endOfWait(error: unknown, id: string, progress?: WaitProgress): string {
  if (error instanceof Canceled) return `the wait for instance ${id} was canceled;`;
  if (error instanceof TimedOut && error.pause) {
    return `the wait for instance ${id} ended early: ${error.message}.`;
  }
  if (error instanceof TimedOut) {
    const { status, problem } = progress ?? {};
    const found =
      status === undefined
        ? `no listing had shown instance ${id} yet`
        : `instance ${id} was still ${status}`;
    const lastLook = problem ? `, and the last look failed: ${problem}` : "";
    return `${found} when the operation's ${error.limit} were over${lastLook};`;
  }
  if (error instanceof RequestError || error instanceof OperationFailed) {
    return `the wait for instance ${id} ended: ${reasonOf(error)}`;
  }
  return `the wait for instance ${id} ended by a defect in the provider: ${String(error)};`;
}

/** Returns the error that makes the engine keep the instance as unfinished. */
export function unfinishedInstance(instance: Instance, reason: string): InstanceUnfinished {
  const { id, inputs, outputs } = instance.unfinished();
  return new InstanceUnfinished(id, { inputs, outputs }, [reason]);
}
