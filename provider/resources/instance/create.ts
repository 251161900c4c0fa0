/** Create: one POST, then the wait until the instance is ready. */
import { hasSecret, reveal } from "../../property/value";
import type { CreateRequest, CreateResponse } from "../../requests";
import { timeouts, type Session } from "../../session/session";
import { parseInstanceArgs } from "./definition";
import { finishInstance } from "./finish";
import { warnOfExtras } from "./lastLook";
import { provision } from "./provision";
import { outputsOfAccepted, previewOutputs } from "./state";

export async function createInstance(
  session: Session,
  request: CreateRequest,
): Promise<CreateResponse> {
  const { urn, inputs } = request;
  if (request.preview) {
    return { id: "", outputs: previewOutputs(inputs, session.settings.tokenKind) };
  }
  using operation = session.operation(request.timeoutSeconds || timeouts.change);
  try {
    const args = parseInstanceArgs(reveal(inputs));
    // All that can fail is done before the POST: between it and the wait nothing may lose the id (G1).
    const { origin } = await session.connection.open(operation.signal);
    const { accepted, after, wasOpen } = await provision(
      session,
      { urn, args, secretName: hasSecret(inputs["name"]) },
      operation.signal,
    );
    const outputs = outputsOfAccepted(inputs, accepted, origin, session.around.clock.date());
    const instance = { urn, id: accepted.id, inputs, outputs, origin, after };
    try {
      return {
        id: accepted.id,
        outputs: await finishInstance(session, instance, operation.signal),
      };
    } finally {
      if (wasOpen) await warnOfExtras(session, urn, wasOpen);
    }
  } finally {
    session.room.leave(urn);
  }
}
