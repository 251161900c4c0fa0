/** Names, in a preview and at the end of a run, the pending creates that earlier runs have left and this run has not settled. */
import { isPending, type LedgerRecord } from "../ledger/record";
import { projectOf } from "../pulumiNames";
import type { Session } from "../session/session";
import { earlierCreateNotice, pendingNotice } from "./messages";
import { isInTheWay } from "./protocol";

/** The subject (`Notices.isFirst`) under which a run names a pending create, so that it does so once. */
export function pendingSubject({ key }: LedgerRecord): string {
  return `pending ${key}`;
}

/** Names, in the preview of a create, the earlier creates that the `up` has to settle first. The engine shows a create only. */
export function announceEarlierCreates(session: Session, urn: string): void {
  const { ctx, ledger, run } = session;
  const own = {
    ...session.connection.place(),
    urn,
    scope: run.scope,
    stateless: run.stateless || undefined,
  };
  for (const entry of ledger.read()) {
    if (entry.liveness !== "alive" && isInTheWay({ own }, entry))
      ctx.messages.info(earlierCreateNotice(entry.record), urn);
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
