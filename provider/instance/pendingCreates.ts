/** Names, at the end of a run, the pending creates that earlier runs have left and this run has not settled. */
import { isPending, type LedgerRecord } from "../ledger/record";
import { projectOf } from "../pulumiNames";
import type { Session } from "../session/session";
import { pendingNotice } from "./messages";

/** The subject (`Notices.isFirst`) under which a run names a pending create, so that it does so once. */
export function pendingSubject({ key }: LedgerRecord): string {
  return `pending ${key}`;
}

/**
 * Warns of the pending creates of this project, if the run has asked for a create. At the end of the run, what its states
 * held is settled. Before that, a warning could be about an instance that this very state holds.
 */
export function reportPendingCreates(session: Session): void {
  const { creates, ledger, ctx } = session;
  if (!creates.haveBegun) return;
  // After a full disk, a record may lack all that came after its first line, also the id.
  const isInState = ({ stage, session: maker, urn }: LedgerRecord) =>
    stage === "sending" && session.state.heldOneStampedBy(maker, urn);
  const abandoned = ledger
    .read()
    .filter(({ record, liveness }) => isPending(record) && liveness !== "alive")
    .map(({ record }) => record)
    .filter((record) => !isInState(record));
  const projects = new Set([...session.state.registered].map(projectOf));
  const ofProject = abandoned.filter(({ urn }) => projects.has(projectOf(urn)));
  const unnamed = ofProject.filter((record) => session.notices.isFirst(pendingSubject(record)));
  if (unnamed.length === 0) return;
  const elsewhere = abandoned.length - ofProject.length;
  ctx.messages.warning(pendingNotice(unnamed, elsewhere, session));
}
