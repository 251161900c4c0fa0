/** From an accepted instance to one that is ready; whatever happens, id and state are kept (G1). */
import { Canceled, TimedOut } from "../../abort";
import { explain } from "../../advice";
import type { ListItem } from "../../api/contract";
import { RequestError } from "../../api/errors";
import { InstanceUnfinished, OperationFailed } from "../../errors";
import type { Origin } from "../../origin";
import type { PropertyMap } from "../../property/value";
import type { Snapshot } from "../../listing/snapshot";
import type { Session } from "../../session";
import { finished, outputsWithItem, textOf, unfinished } from "./state";

export interface Unready {
  urn: string;
  id: string;
  inputs: PropertyMap;
  /** As far as they are known. */
  outputs: PropertyMap;
  origin: Origin;
  /** Listings begun before this mark need not show the instance. */
  after: number;
}

/** How often the Info column is refreshed when nothing changes. */
export const progressMs = 10_000;

/** The finished outputs. Rejects with `InstanceUnfinished` alone. */
export async function finishInstance(
  session: Session,
  instance: Unready,
  signal: AbortSignal,
): Promise<PropertyMap> {
  const progress = new Progress(session, instance);
  try {
    const verdict = await session.poller.leaveProvisioning(instance.id, {
      after: instance.after,
      signal,
      onLook: (snapshot, problem) => progress.looked(snapshot, problem),
    });
    switch (verdict.kind) {
      case "settled":
        return settled(session, instance, verdict.item);
      case "hidden":
        return hidden(session, instance, verdict.lastSeen);
      case "vanished":
        throw failure(
          instance,
          `instance ${instance.id} was listed, and is now gone from two complete listings. Run \`pulumi up\` again to create it anew`,
        );
    }
  } catch (error) {
    if (error instanceof InstanceUnfinished) throw error;
    throw failure(instance, whyStopped(error, instance.id, progress));
  }
}

/** It has left PROVISIONING, and there are too many instances to see it since. */
function hidden(session: Session, instance: Unready, lastSeen: ListItem | undefined): PropertyMap {
  const outputs = lastSeen
    ? outputsWithItem(instance.outputs, lastSeen, instance.origin)
    : instance.outputs;
  const unknown = textOf(outputs, "ipv4") === undefined ? "ipv4" : "status";
  session.warnOnce(
    "hidden",
    `instance ${instance.id} has left PROVISIONING, but the service's listings do not reach it: its ${unknown} is not known. Set compute:cursorParameter if the service has a cursor, then run \`pulumi refresh\``,
    instance.urn,
  );
  return finished(outputs);
}

/** A status of a listing, judged: ACTIVE and OFFLINE are finished, a status unknown to us is not. */
export function settled(session: Session, instance: Unready, item: ListItem): PropertyMap {
  const outputs = outputsWithItem(instance.outputs, item, instance.origin);
  if (item.status === "OFFLINE") {
    session.around.messages.warning(
      `instance ${instance.id} is OFFLINE: it exists${instance.origin.tokenKind === "live" ? ", and is billed," : ""} but does not run. Start it at the service, then run \`pulumi refresh\``,
      instance.urn,
    );
  } else if (item.status !== "ACTIVE") {
    throw failure(
      { ...instance, outputs },
      `instance ${instance.id} has the status "${item.status}", which this provider does not know. If it becomes ACTIVE or OFFLINE, the next \`pulumi up\` finishes it; to have it made anew, remove it at the service first`,
    );
  }
  return outputs;
}

export function failure(
  { id, inputs, outputs }: Pick<Unready, "id" | "inputs" | "outputs">,
  reason: string,
): InstanceUnfinished {
  return new InstanceUnfinished(id, { inputs, outputs: unfinished(outputs) }, [reason]);
}

function whyStopped(error: unknown, id: string, progress: Progress): string {
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

/** The Info column: the status and the time so far, on a change or every ten seconds. */
class Progress {
  status = "PROVISIONING";
  problem: string | undefined;
  readonly #start: number;
  #last = -Infinity;

  constructor(
    private readonly session: Session,
    private readonly instance: Unready,
  ) {
    this.#start = session.around.clock.now();
    this.#say();
  }

  looked(snapshot: Snapshot | undefined, problem: string | undefined): void {
    const status = snapshot
      ? (snapshot.items.get(this.instance.id)?.status ?? this.status)
      : this.status;
    const changed =
      status !== this.status || (problem === undefined) !== (this.problem === undefined);
    this.status = status;
    this.problem = problem;
    if (changed || this.session.around.clock.now() - this.#last >= progressMs) this.#say();
  }

  #say(): void {
    const now = this.session.around.clock.now();
    this.#last = now;
    const seconds = Math.round((now - this.#start) / 1000);
    const time = seconds > 0 ? `, ${seconds} s` : "";
    // First, since a narrow terminal cuts the end off.
    const problem = this.problem ? "last look failed, trying again: " : "";
    const text = `${problem}${this.instance.id} ${this.status}${time}`;
    this.session.around.messages.status(this.instance.urn, text);
  }
}
