/**
 * Warns if two resources of a stack hold one instance, as after a second import. A delete of either may then destroy the
 * server of both. The engine refuses no such import, and tells the provider nothing of the state.
 */
import { stateDeleteCommand, withDependents, withWaysOut } from "../advice";
import type { LedgerRecord } from "../ledger/record";
import { isSamePlace } from "../origin";
import { isSameResource, stackOf } from "../pulumiNames";
import type { Phase } from "../session/knownState";
import type { Session } from "../session/session";
import { hasTag, tagOf } from "./naming";

/** A resource of the stack, and its instance. */
interface Holding {
  urn: string;
  id: string;
  /** The name of the instance at the service. */
  name: string | undefined;
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
  warn(session, holding, other, `instance ${id} is imported as ${urn}, but ${finding}`);
}

/** Warns if another resource holds the instance that the engine's call says is this resource's. */
export function warnOfTwoHolders(session: Session, holding: Holding, phase: Phase): void {
  const { urn, id } = holding;
  const other = session.state.hold(holding, phase);
  if (other === undefined) return;
  warn(session, holding, other, `${other} and ${urn} of this stack both have instance ${id}, so`);
}

function warn(session: Session, holding: Holding, other: string, finding: string): void {
  const { urn, id } = holding;
  if (!session.notices.isFirst(`holders of ${id}`)) return;
  const maker = [urn, other].find((holder) => isFor(session, holding, holder));
  const first = maker ?? other;
  const second = first === urn ? other : urn;
  const known = maker
    ? `The instance was created for ${maker}`
    : "Keep the one that the instance was created for: in `pulumi stack export`, an imported one has no createdAt";
  const keep = (kept: string, dropped: string) =>
    `to keep ${kept}: \`${stateDeleteCommand(dropped)}\` (${withDependents})`;
  session.ctx.messages.warning(
    withWaysOut(
      `${finding} two resources manage one server, and a delete of either may destroy it. Before the next \`pulumi up\`, take one of them out of the state, which leaves the server running, and out of the program. ${known}`,
      [keep(first, second), keep(second, first)],
    ),
    urn,
  );
}

/** Whether the instance was created for this resource: its generated name has the resource's tag, or the ledger says so. */
function isFor(session: Session, { id, name }: Holding, urn: string): boolean {
  const { scope, stateless } = session.run;
  if (scope === undefined || stateless) return false;
  if (hasTag(name, tagOf(urn, scope))) return true;
  return recordsOf(session, id).some((record) => isSameResource(record.urn, urn));
}

/** Returns the URN of another resource of this stack for which a run on this machine created the instance. */
function recordedHolder(session: Session, { urn, id }: Holding): string | undefined {
  return recordsOf(session, id).find(
    (record) =>
      record.urn !== urn &&
      stackOf(record.urn) === stackOf(urn) &&
      (record.stage === "delivered" || record.settled === "state"),
  )?.urn;
}

/** Returns the ledger's records of the instance, as far as runs of this stack made them. */
function recordsOf({ ledger, run, settings }: Session, id: string): LedgerRecord[] {
  const { scope, stateless } = run;
  if (scope === undefined || stateless) return [];
  return ledger
    .read()
    .map(({ record }) => record)
    .filter(
      (record) => record.id === id && record.scope === scope && isSamePlace(record, settings),
    );
}
