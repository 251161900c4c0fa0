/** Update: finishes a wait that was cut short, and records what a program claims of an imported instance. */
import { OperationFailed } from "../errors";
import { propertyMap, type PropertyMap } from "../propertyValue";
import type { UpdateRequest } from "../requests";
import { timeouts, type Session } from "../session/session";
import { assertedInputs, changedInputs } from "./diff";
import { existenceOf, knownInstanceOf } from "./existence";
import { readyOutputs, waitUntilReady } from "./ready";
import { outputsWithAsserted, outputsWithItem, textOf, unfinishedKey } from "./state";

/**
 * The new outputs.
 *
 * @throws InstanceUnfinished if the instance does not get ready, and OperationFailed if it is gone.
 */
export async function updateInstance(
  session: Session,
  request: UpdateRequest,
): Promise<PropertyMap> {
  const { urn, id, news, oldOutputs: outputs } = request;
  const asserted = assertedInputs(changedInputs(request));
  if (asserted.length > 0) {
    session.ctx.messages.warning(
      `${asserted.join(", ")} of the imported instance ${id} can't be read from the service: what the program says is recorded, unchecked`,
      urn,
    );
  }
  const withAsserted = (known: PropertyMap) => outputsWithAsserted(known, news, asserted);
  if (request.preview) return propertyMap({ ...withAsserted(outputs), ...news });

  using operation = session.operation(request.timeoutSeconds || timeouts.change);
  const known = knownInstanceOf(outputs);
  const { existence, origin } = await existenceOf(session, id, known, operation.signal);
  if (existence.kind === "gone") {
    throw new OperationFailed(
      `instance ${id} no longer exists. Run \`pulumi refresh\`, then \`pulumi up\` creates it anew`,
    );
  }
  const item = existence.kind === "found" ? existence.item : undefined;
  const status = item ? item.status : textOf(outputs, "status");
  if (status !== "PROVISIONING" && outputs[unfinishedKey] !== true) {
    return withAsserted(item ? outputsWithItem(outputs, item, origin) : outputs);
  }
  if (existence.kind === "unproven" && existence.doubt === "tenant") {
    throw new OperationFailed(`instance ${id} is not in the listing: ${existence.why}`);
  }
  // If this fails, the engine keeps the old inputs. The asserted ones are added only afterwards: in the
  // outputs of an unfinished instance they would look like a change.
  const instance = { urn, id, inputs: news, outputs, origin, after: 0 };
  const hasLeft = item?.status !== undefined && item.status !== "PROVISIONING";
  return withAsserted(
    hasLeft
      ? readyOutputs(session, instance, item)
      : await waitUntilReady(session, instance, operation.signal),
  );
}
