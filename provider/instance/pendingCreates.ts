/** Names, at the end of a run, the pending creates that earlier runs have left and this run has not settled. */
import { displayRecordedName, isPending, type LedgerRecord } from "../ledger/record";
import { discardCommand, importCommand, withStack } from "../advice";
import { isSameResource, projectOf } from "../pulumiNames";
import type { Session } from "../session/session";

/** The subject (`Session.isFirst`) under which a run names a pending create, so that it does so once. */
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
    stage === "sending" && session.state.hasFrom(maker, urn);
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

/** `elsewhere` counts the pending creates of other projects. */
function pendingNotice(
  records: readonly LedgerRecord[],
  elsewhere: number,
  { run, settings, state }: Session,
): string {
  const lines = records.map((record) => {
    const { urn, id, key, name, scope, baseUrl, stage, at } = record;
    const instance = id === undefined ? "" : `, instance ${id}`;
    const isOfStack = scope !== undefined && scope === run.scope;
    // The stack may have another name since then.
    const [ownUrn = urn] = isOfStack ? state.registered : [];
    const stack = { urn: ownUrn, stateless: record.stateless };
    const isRegistered = [...state.registered].some((it) => isSameResource(it, urn));
    const isResumed = isOfStack && baseUrl === settings.baseUrl && stage !== "replied";
    const missing =
      isOfStack && !isRegistered
        ? "this run's program has not registered that resource (if it has renamed it, import under the new name); "
        : "";
    const resumes = isResumed ? "the next create of that resource searches for it; or " : "";
    return `"${displayRecordedName(name)}"${instance} at ${baseUrl} (${at}) for ${urn}: ${missing}${resumes}take it over with ${withStack(importCommand(record, id ?? "<id>"), stack)}, or forget it with \`${discardCommand(key)}\` once you know that it left no running instance`;
  });
  const others = elsewhere
    ? `. Other projects have ${elsewhere} more. The plugin's command \`discard\` lists them`
    : "";
  return `earlier runs left pending creates, and this run has seen no state that holds their instances: ${lines.join("; ")}${others}`;
}
