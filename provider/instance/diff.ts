/** Diff: which inputs changed (G5), and what a replacement would leave behind, before it happens (G4). */
import type { Settings } from "../config/settings";
import type { DiffRequest, DiffResponse } from "../requests";
import type { Session } from "../session/session";
import { stampOf } from "../origin";
import { changedInputs, replaces, surelyReplaces } from "./changes";
import { refuseStuckReplacement } from "./replacement";
import { staysBehind } from "./retain";

/** @throws OperationFailed for a replacement whose Delete would fail (see replacement.ts). */
export async function diffInstance(session: Session, request: DiffRequest): Promise<DiffResponse> {
  const detailed = changedInputs(request);
  const { deletePolicy } = session.settings;
  if (isOfUpdate(session, request) && replaces(detailed)) {
    const isSure = surelyReplaces(detailed, request.news);
    if (isSure) await refuseStuckReplacement(session, request);
    const message = messageOfReplacement(session.settings, request, isSure);
    if (message) session.ctx.messages.warning(message, request.urn);
  }
  // G4: where the Delete may fail it comes first, so that no second server is made.
  return { detailed, deleteBeforeReplace: deletePolicy === "fail" };
}

/**
 * The engine also asks during a refresh, when nothing is about to be replaced, and after the Read of an
 * import, where it refuses a replacement itself.
 */
function isOfUpdate(session: Session, { urn, oldOutputs }: DiffRequest): boolean {
  return session.state.isInUpdate(urn) && stampOf(oldOutputs) !== session.id;
}

function messageOfReplacement(
  { deletePolicy, tokenKind }: Pick<Settings, "deletePolicy" | "tokenKind">,
  { id, oldOutputs }: Pick<DiffRequest, "id" | "oldOutputs">,
  isSure: boolean,
): string | undefined {
  switch (deletePolicy) {
    case "destroy":
      return undefined;
    case "retain":
      return `replacing instance ${id} leaves it behind (compute:deletePolicy is "retain"): ${staysBehind(oldOutputs, tokenKind)}`;
    case "fail":
      // A sure replacement that was not refused: the instance is gone already.
      return isSure
        ? undefined
        : `replacing instance ${id} will fail, before a second server is made, for as long as ${id} exists: the service documents no call to destroy it. Whether it is replaced depends on values that are not known yet. If it is: remove it at the service first; see also compute:deletePolicy (the resource option retainOnDelete wants it to be "retain") and compute:destroyPath`;
  }
}
