/** Names, in a preview and at the end of a run, the pending creates that earlier runs have left and this run has not settled. */
import { isPending, type LedgerRecord } from "../ledger/record";
import { isSameResource, projectOf } from "../pulumiNames";
import type { Session } from "../session/session";
import { pendingNotice, resumeNotice } from "./messages";

/** The subject (`Notices.isFirst`) under which a run names a pending create, so that it does so once. */
export function pendingSubject({ key }: LedgerRecord): string {
  return `pending ${key}`;
}

/** Names, in the preview of a create, the pending creates of its resource: the engine shows only that it will be created. */
export function announceResume({ ctx, ledger, run }: Session, urn: string): void {
  if (run.scope === undefined || run.stateless) return;
  for (const { record, liveness } of ledger.read()) {
    const isOfResource = record.scope === run.scope && isSameResource(record.urn, urn);
    if (isOfResource && isPending(record) && liveness !== "alive")
      ctx.messages.info(resumeNotice(record), urn);
  }
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
