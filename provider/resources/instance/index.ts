/** The Instance resource: one function a call of its life cycle. */
import { messageOfReplacement } from "./replacement";
import { checkInstance } from "./check";
import { createInstance } from "./create";
import { deleteInstance } from "./delete";
import { diffInstance, replaces } from "./diff";
import { readInstance } from "./read";
import { updateInstance } from "./update";
import type { DiffRequest, DiffResponse } from "../../requests";
import type { Session } from "../../session";

export const instances = {
  check: checkInstance,
  diff,
  create: createInstance,
  update: updateInstance,
  read: readInstance,
  delete: deleteInstance,
};

function diff(session: Session, request: DiffRequest): DiffResponse {
  const detailed = diffInstance(request);
  // The engine also asks during a refresh, when nothing is about to be replaced.
  if (session.state.isInUpdate(request.urn) && replaces(detailed)) {
    const message = messageOfReplacement(session.settings, request);
    if (message) session.around.messages.warning(message, request.urn);
  }
  // G4: only where the Delete would fail must it come first, so that no second server is made.
  return { detailed, deleteBeforeReplace: session.settings.deletePolicy === "fail" };
}
