/** Update: finishes a wait that was cut short, and records what a program claims of an imported instance. */
import { OperationFailed } from "../../errors";
import { propertyMap, type PropertyMap } from "../../property/value";
import type { UpdateRequest } from "../../requests";
import { timeouts, type Session } from "../../session/session";
import { changedInputs, claimed } from "./changes";
import { finishInstance } from "./finish";
import { presenceOf, traceOf } from "./presence";
import { outputsWithClaims, outputsWithItem, textOf, unfinishedKey } from "./state";
import { settled } from "./status";

export async function updateInstance(
  session: Session,
  request: UpdateRequest,
): Promise<PropertyMap> {
  const { urn, id, news } = request;
  const claims = claimed(changedInputs(request));
  if (claims.length > 0) {
    session.around.messages.warning(
      `${claims.join(", ")} of the imported instance ${id} can't be read from the service: what the program says is recorded, unchecked`,
      urn,
    );
  }
  const withClaims = (known: PropertyMap) => outputsWithClaims(known, news, claims);
  const outputs = request.oldOutputs;
  if (request.preview) return propertyMap({ ...withClaims(outputs), ...news });

  using operation = session.operation(request.timeoutSeconds || timeouts.change);
  const trace = traceOf(outputs);
  const { presence, origin } = await presenceOf(session, id, trace, operation.signal);
  if (presence.kind === "gone") {
    throw new OperationFailed(
      `instance ${id} no longer exists. Run \`pulumi refresh\`, then \`pulumi up\` creates it anew`,
    );
  }
  // Unfinished, the engine keeps the old inputs: a claim in the outputs would then look like a change.
  const instance = { urn, id, inputs: news, outputs, origin, after: 0 };
  const item = presence.kind === "found" ? presence.item : undefined;
  const status = item ? item.status : textOf(outputs, "status");
  if (status === "PROVISIONING" || outputs[unfinishedKey] === true) {
    if (presence.kind === "unproven" && presence.doubt === "tenant") {
      throw new OperationFailed(`instance ${id} is not in the listing: ${presence.why}`);
    }
    const isOver = item?.status !== undefined && item.status !== "PROVISIONING";
    return withClaims(
      isOver
        ? settled(session, instance, item)
        : await finishInstance(session, instance, operation.signal),
    );
  }
  return withClaims(item ? outputsWithItem(outputs, item, origin) : outputs);
}
