/**
 * Warns if two resources of a stack hold one instance, as after a second import. A delete of either may then destroy the
 * server of both. The engine refuses no such import, and tells the provider nothing of the state.
 */
import { stateDeleteCommand } from "../advice";
import { isSamePlace } from "../origin";
import { isSameResource } from "../pulumiNames";
import type { Phase } from "../session/knownState";
import type { Session } from "../session/session";

/** A resource of the stack, and its instance. */
interface Holding {
  urn: string;
  id: string;
}

/** Warns if the resource that is being imported is not the first of its stack to hold the instance, as far as is known. */
export function warnOfSecondImport(session: Session, holding: Holding): void {
  const { urn, id } = holding;
  const known = session.state.hold(holding, "program");
  const other = known ?? recordedHolder(session, holding);
  if (other === undefined) return;
  const finding =
    known !== undefined
      ? `${other} of this stack has it already, so`
      : `a run on this machine created it for ${other} of this stack. Unless that resource has left the state since (see \`pulumi stack --show-urns --show-ids\`),`;
  warn(session, holding, `instance ${id} is imported as ${urn}, but ${finding}`);
}

/** Warns if another resource holds the instance that the engine's call says is this resource's. */
export function warnOfTwoHolders(session: Session, holding: Holding, phase: Phase): void {
  const { urn, id } = holding;
  const other = session.state.hold(holding, phase);
  if (other === undefined) return;
  warn(session, holding, `${other} and ${urn} of this stack both have instance ${id}, so`);
}

function warn(session: Session, { urn, id }: Holding, finding: string): void {
  if (!session.notices.isFirst(`holders of ${id}`)) return;
  const command = stateDeleteCommand(urn);
  session.ctx.messages.warning(
    `${finding} two resources manage one server, and a delete of either may destroy it. Keep one of them. Before the next \`pulumi up\`, take the other one out of the state, which leaves the server running, and out of the program: \`${command}\``,
    urn,
  );
}

/** Returns the URN of another resource of this stack for which a run on this machine created the instance. */
function recordedHolder(
  { ledger, run, settings }: Session,
  { urn, id }: Holding,
): string | undefined {
  if (run.scope === undefined || run.stateless) return undefined;
  const entry = ledger
    .read()
    .find(
      ({ record }) =>
        record.id === id &&
        record.scope === run.scope &&
        isSamePlace(record, settings) &&
        !isSameResource(record.urn, urn) &&
        (record.stage === "delivered" || record.settled === "state"),
    );
  return entry?.record.urn;
}
