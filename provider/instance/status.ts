/**
 * What a status makes of an instance. ACTIVE and OFFLINE are finished; PROVISIONING is not; of others the
 * document does not tell ("Complete set of states: not shown").
 */
import type { ListItem } from "../api/contract";
import { InstanceUnfinished } from "../errors";
import type { Origin } from "../origin";
import type { PropertyMap } from "../propertyValue";
import type { Session } from "../session/session";
import { outputsWithItem, textOf, unfinished, unfinishedKey } from "./state";

export interface PendingInstance {
  urn: string;
  id: string;
  inputs: PropertyMap;
  /** As far as they are known. */
  outputs: PropertyMap;
  origin: Origin;
  /** Listings begun before this mark need not show the instance. */
  after: number;
}

/** No longer PROVISIONING: the finished outputs, unless the status is unknown to us. */
export function settled(session: Session, instance: PendingInstance, item: ListItem): PropertyMap {
  const outputs = outputsWithItem(instance.outputs, item, instance.origin);
  if (item.status === "OFFLINE") {
    session.ctx.messages.warning(offline(instance.id, outputs), instance.urn);
  } else if (item.status !== "ACTIVE") {
    throw failure({ ...instance, outputs }, unfinishedBy(instance.id, item.status));
  }
  return outputs;
}

/** Seen by a Read: `before` is what the state had. Only what is not finished ends it. */
export function judgeRead(
  session: Session,
  instance: Pick<PendingInstance, "urn" | "id" | "inputs" | "outputs">,
  before: PropertyMap,
): void {
  const { id, urn, outputs } = instance;
  const { messages } = session.ctx;
  const status = textOf(outputs, "status");
  switch (status) {
    case "PROVISIONING":
      throw failure(instance, `instance ${id} is still PROVISIONING; \`pulumi up\` waits for it`);
    case "OFFLINE":
      if (textOf(before, "status") !== "OFFLINE") messages.warning(offline(id, outputs), urn);
      return;
    case "ACTIVE":
    case undefined:
      return;
    default:
      if (before[unfinishedKey] === true) throw failure(instance, unfinishedBy(id, status));
      messages.warning(
        `${unknownStatus(id, status)}. \`pulumi refresh\` shows when it has another`,
        urn,
      );
  }
}

function offline(id: string, outputs: PropertyMap): string {
  const billed = textOf(outputs, "tokenKind") === "live" ? ", and is billed," : "";
  return `instance ${id} is OFFLINE: it exists${billed} but does not run. Start it at the service, then run \`pulumi refresh\``;
}

function unfinishedBy(id: string, status: string | undefined): string {
  return `${unknownStatus(id, status)}. If it becomes ACTIVE or OFFLINE, the next \`pulumi up\` finishes it; to have it created again, remove it at the service first`;
}

const unknownStatus = (id: string, status: string | undefined) =>
  `instance ${id} has the status "${status}", which this provider does not know`;

export function failure(
  { id, inputs, outputs }: Pick<PendingInstance, "id" | "inputs" | "outputs">,
  reason: string,
): InstanceUnfinished {
  return new InstanceUnfinished(id, { inputs, outputs: unfinished(outputs) }, [reason]);
}
