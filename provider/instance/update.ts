/** Update: finishes a wait that was cut short, and records what a program claims of an imported instance. */
import { OperationFailed } from "../errors";
import { propertyMap, type PropertyMap } from "../propertyValue";
import type { UpdateRequest } from "../requests";
import { timeouts, type Session } from "../session/session";
import { changedInputs, assertedInputs } from "./changes";
import { finishInstance } from "./finish";
import { existenceOf, knownInstanceOf } from "./existence";
import { outputsWithAsserted, outputsWithItem, textOf, unfinishedKey } from "./state";
import { settled } from "./status";

export async function updateInstance(
  session: Session,
  request: UpdateRequest,
): Promise<PropertyMap> {
  const { urn, id, news } = request;
  const claims = assertedInputs(changedInputs(request));
  if (claims.length > 0) {
    session.ctx.messages.warning(
      `${claims.join(", ")} of the imported instance ${id} can't be read from the service: what the program says is recorded, unchecked`,
      urn,
    );
  }
  const withClaims = (known: PropertyMap) => outputsWithAsserted(known, news, claims);
  const outputs = request.oldOutputs;
  if (request.preview) return propertyMap({ ...withClaims(outputs), ...news });

  using operation = session.operation(request.timeoutSeconds || timeouts.change);
  const trace = knownInstanceOf(outputs);
  const { existence, origin } = await existenceOf(session, id, trace, operation.signal);
  if (existence.kind === "gone") {
    throw new OperationFailed(
      `instance ${id} no longer exists. Run \`pulumi refresh\`, then \`pulumi up\` creates it anew`,
    );
  }
  // Unfinished, the engine keeps the old inputs: a claim in the outputs would then look like a change.
  const instance = { urn, id, inputs: news, outputs, origin, after: 0 };
  const item = existence.kind === "found" ? existence.item : undefined;
  const status = item ? item.status : textOf(outputs, "status");
  if (status === "PROVISIONING" || outputs[unfinishedKey] === true) {
    if (existence.kind === "unproven" && existence.doubt === "tenant") {
      throw new OperationFailed(`instance ${id} is not in the listing: ${existence.why}`);
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
