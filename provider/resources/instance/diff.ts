/** Diff: which inputs changed (G5), and what a replacement would leave behind, before it happens (G4). */
import type { Settings } from "../../config/settings";
import type { DiffRequest, DiffResponse } from "../../requests";
import type { Session } from "../../session/session";
import { changedInputs, replaces } from "./changes";
import { staysBehind } from "./delete";

export function diffInstance(session: Session, request: DiffRequest): DiffResponse {
  const detailed = changedInputs(request);
  // The engine also asks during a refresh, when nothing is about to be replaced.
  if (session.state.isInUpdate(request.urn) && replaces(detailed)) {
    const message = messageOfReplacement(session.settings, request);
    if (message) session.around.messages.warning(message, request.urn);
  }
  // G4: only where the Delete would fail must it come first, so that no second server is made.
  return { detailed, deleteBeforeReplace: session.settings.deletePolicy === "fail" };
}

function messageOfReplacement(
  { deletePolicy, tokenKind }: Pick<Settings, "deletePolicy" | "tokenKind">,
  { id, oldOutputs }: Pick<DiffRequest, "id" | "oldOutputs">,
): string | undefined {
  switch (deletePolicy) {
    case "destroy":
      return undefined;
    case "retain":
      return `replacing instance ${id} leaves it behind (compute:deletePolicy is "retain"): ${staysBehind(oldOutputs, tokenKind)}`;
    case "fail":
      return `replacing instance ${id} will fail, before a second server is made, for as long as ${id} exists, unless the resource has the option retainOnDelete: the service documents no call to destroy it. Remove it at the service first; see also compute:deletePolicy and compute:destroyPath`;
  }
}
