/** Waits until an accepted instance is ready; whatever happens, id and state reach the engine (G1). */
import { Canceled, TimedOut } from "../abort";
import { explain } from "../advice";
import type { ListItem } from "../api/contract";
import { RequestError } from "../api/errors";
import { InstanceUnfinished, OperationFailed } from "../errors";
import type { PropertyMap } from "../propertyValue";
import type { Session } from "../session/session";
import { settlingEnd, knownInstanceOf } from "./existence";
import { WaitProgress } from "./progress";
import { finished, outputsWithItem, textOf } from "./state";
import { failure, settled, type PendingInstance } from "./status";

/** The finished outputs. Rejects with `InstanceUnfinished` alone. */
export async function finishInstance(
  session: Session,
  instance: PendingInstance,
  signal: AbortSignal,
): Promise<PropertyMap> {
  const progress = new WaitProgress(session.ctx, instance);
  try {
    const verdict = await session.poller.leaveProvisioning(instance.id, {
      after: instance.after,
      settledAt: settlingEnd(session, knownInstanceOf(instance.outputs).acceptedAt),
      signal,
      onLook: (listing, problem) => progress.looked(listing, problem),
    });
    switch (verdict.kind) {
      case "settled":
        return settled(session, instance, verdict.item);
      case "notListed":
        return hidden(session, instance, verdict.lastSeen);
      case "deleted":
        throw failure(
          instance,
          `instance ${instance.id} was listed, and is now gone from two complete listings. Run \`pulumi up\` again to create it anew`,
        );
    }
  } catch (error) {
    throw keepingId(error, instance, progress);
  }
}

/** It has left PROVISIONING, and there are too many instances to see it since. */
function hidden(
  session: Session,
  instance: PendingInstance,
  lastSeen: ListItem | undefined,
): PropertyMap {
  const outputs = lastSeen
    ? outputsWithItem(instance.outputs, lastSeen, instance.origin)
    : instance.outputs;
  const unknown = textOf(outputs, "ipv4") === undefined ? "ipv4" : "status";
  session.warnOnce(
    "notListed",
    `instance ${instance.id} has left PROVISIONING, but the service's listings do not reach it: its ${unknown} is not known. Set compute:cursorParameter if the service has a cursor, then run \`pulumi refresh\``,
    instance.urn,
  );
  return finished(outputs);
}

/** The error for whatever ends a create or a wait once the id is known, a defect of ours included (G1). */
export function keepingId(
  error: unknown,
  instance: Pick<PendingInstance, "id" | "inputs" | "outputs">,
  progress: Pick<WaitProgress, "status" | "problem"> = {
    status: "PROVISIONING",
    problem: undefined,
  },
): InstanceUnfinished {
  if (error instanceof InstanceUnfinished) return error;
  return failure(instance, whyStopped(error, instance.id, progress));
}

function whyStopped(
  error: unknown,
  id: string,
  progress: Pick<WaitProgress, "status" | "problem">,
): string {
  const goesOn = `${id} is kept in the state; the next \`pulumi up\` goes on waiting for it`;
  if (error instanceof Canceled) return `the wait for instance ${id} was canceled; ${goesOn}`;
  if (error instanceof TimedOut) {
    return `instance ${id} was ${progress.status} for ${error.seconds} s (customTimeouts)${progress.problem ? `, and the last look failed: ${progress.problem}` : ""}; ${goesOn}`;
  }
  if (error instanceof RequestError) {
    return `the wait for instance ${id} ended: ${explain(error)} ${goesOn}`;
  }
  if (error instanceof OperationFailed) {
    return `the wait for instance ${id} ended: ${error.message} ${goesOn}`;
  }
  return `the wait for instance ${id} ended by a defect in the provider: ${String(error)}; ${goesOn}`;
}
