/**
 * From an accepted instance to a ready one. ACTIVE and OFFLINE are ready, PROVISIONING is not; the
 * service may have further statuses ("Complete set of states: not shown"). Whatever ends the wait, id
 * and state reach the engine (G1).
 */
import { Canceled, TimedOut } from "../abort";
import { explain } from "../advice";
import type { ListItem } from "../api/contract";
import { RequestError } from "../api/errors";
import { InstanceUnfinished, OperationFailed } from "../errors";
import type { Origin } from "../origin";
import type { PropertyMap } from "../propertyValue";
import type { Session } from "../session/session";
import { knownInstanceOf, settlingEnd } from "./existence";
import { WaitProgress } from "./progress";
import { markFinished, outputsWithItem, textOf, markUnfinished, unfinishedKey } from "./state";

/** An instance that the service has accepted, and that may not be ready yet. */
export interface PendingInstance {
  urn: string;
  id: string;
  inputs: PropertyMap;
  /** The outputs as far as they are known. */
  outputs: PropertyMap;
  origin: Origin;
  /** Listings that began before this mark need not show the instance (`Listings.mark`). */
  after: number;
}

/**
 * Waits until the instance has left PROVISIONING, and returns the outputs.
 *
 * @throws InstanceUnfinished, and nothing else.
 */
export async function waitUntilReady(
  session: Session,
  instance: PendingInstance,
  signal: AbortSignal,
): Promise<PropertyMap> {
  const { id, urn, outputs } = instance;
  const progress = new WaitProgress(session.ctx, urn, id);
  try {
    const verdict = await session.poller.leaveProvisioning(id, {
      after: instance.after,
      settledAt: settlingEnd(session, knownInstanceOf(outputs).acceptedAt),
      signal,
      onLook: (snapshot, problem) => progress.update(snapshot, problem),
    });
    switch (verdict.kind) {
      case "settled":
        return readyOutputs(session, instance, verdict.item);
      case "notListed":
        return unlistedOutputs(session, instance, verdict.lastSeen);
      case "deleted":
        throw unfinishedInstance(
          instance,
          `instance ${id} was listed, and is now gone from two complete listings. Run \`pulumi up\` again to create it anew`,
        );
    }
  } catch (error) {
    throw unfinishedError(error, instance, progress);
  }
}

/**
 * The outputs of an instance that has left PROVISIONING.
 *
 * @throws InstanceUnfinished if this provider does not know the status.
 */
export function readyOutputs(
  session: Session,
  instance: PendingInstance,
  item: ListItem,
): PropertyMap {
  const outputs = outputsWithItem(instance.outputs, item, instance.origin);
  checkStatus(session, { ...instance, outputs }, markUnfinished(instance.outputs));
  return outputs;
}

/** The outputs of an instance that has left PROVISIONING, and that the listings can't show. */
function unlistedOutputs(
  session: Session,
  { id, urn, outputs: known, origin }: PendingInstance,
  lastSeen: ListItem | undefined,
): PropertyMap {
  const outputs = lastSeen ? outputsWithItem(known, lastSeen, origin) : known;
  const unknown = textOf(outputs, "ipv4") === undefined ? "ipv4" : "status";
  session.warnOnce(
    "notListed",
    `instance ${id} has left PROVISIONING, but the service's listings do not reach it: its ${unknown} is not known. Set compute:cursorParameter if the service has a cursor, then run \`pulumi refresh\``,
    urn,
  );
  return markFinished(outputs);
}

/**
 * Checks the status in the outputs, and warns if the instance is ready but does not run. `before`: the
 * outputs before the service was asked. Of an instance that was ready before, an unknown status is a warning.
 *
 * @throws InstanceUnfinished for an instance that is not ready.
 */
export function checkStatus(
  session: Session,
  instance: Pick<PendingInstance, "urn" | "id" | "inputs" | "outputs">,
  before: PropertyMap,
): void {
  const { id, urn, outputs } = instance;
  const { messages } = session.ctx;
  const status = textOf(outputs, "status");
  switch (status) {
    case "ACTIVE":
    case undefined:
      return;
    case "OFFLINE": {
      if (textOf(before, "status") === "OFFLINE") return;
      const billed = textOf(outputs, "tokenKind") === "live" ? ", and is billed," : "";
      messages.warning(
        `instance ${id} is OFFLINE: it exists${billed} but does not run. Start it at the service, then run \`pulumi refresh\``,
        urn,
      );
      return;
    }
    case "PROVISIONING":
      throw unfinishedInstance(
        instance,
        `instance ${id} is still PROVISIONING; \`pulumi up\` waits for it`,
      );
    default: {
      const unknown = `instance ${id} has the status "${status}", which this provider does not know`;
      if (before[unfinishedKey] === true) {
        throw unfinishedInstance(
          instance,
          `${unknown}. If it becomes ACTIVE or OFFLINE, the next \`pulumi up\` finishes it; to have it created again, remove it at the service first`,
        );
      }
      messages.warning(`${unknown}. \`pulumi refresh\` shows when it has another`, urn);
    }
  }
}

/** The error for whatever ends a create or a wait once the id is known, a defect included (G1). */
export function unfinishedError(
  error: unknown,
  instance: Pick<PendingInstance, "id" | "inputs" | "outputs">,
  progress: Pick<WaitProgress, "status" | "problem"> = {
    status: "PROVISIONING",
    problem: undefined,
  },
): InstanceUnfinished {
  if (error instanceof InstanceUnfinished) return error;
  const { id } = instance;
  return unfinishedInstance(
    instance,
    `${endOfWait(error, id, progress)} ${id} is kept in the state; the next \`pulumi up\` goes on waiting for it`,
  );
}

/** What ended the wait: a clause with a semicolon, or sentences. */
function endOfWait(
  error: unknown,
  id: string,
  { status, problem }: Pick<WaitProgress, "status" | "problem">,
): string {
  if (error instanceof Canceled) return `the wait for instance ${id} was canceled;`;
  if (error instanceof TimedOut) {
    const lastLook = problem ? `, and the last look failed: ${problem}` : "";
    return `instance ${id} was ${status} for ${error.seconds} s (customTimeouts)${lastLook};`;
  }
  if (error instanceof RequestError || error instanceof OperationFailed) {
    const reason = error instanceof RequestError ? explain(error) : error.message;
    return `the wait for instance ${id} ended: ${reason}`;
  }
  return `the wait for instance ${id} ended by a defect in the provider: ${String(error)};`;
}

/** The error that has the engine keep the instance as unfinished. */
export function unfinishedInstance(
  { id, inputs, outputs }: Pick<PendingInstance, "id" | "inputs" | "outputs">,
  reason: string,
): InstanceUnfinished {
  return new InstanceUnfinished(id, { inputs, outputs: markUnfinished(outputs) }, [reason]);
}
