/** Read: refresh, import and `.get()`, all from the shared listing (G3, G7). */
import type { ListItem } from "../../api/contract";
import { OperationFailed } from "../../errors";
import type { Origin } from "../../origin";
import { propertyMap, secretLike, type PropertyMap } from "../../property/value";
import { isRefresh, type ReadRequest, type ReadResponse } from "../../requests";
import { timeouts, type Session } from "../../session/session";
import { presenceOf, traceOf } from "./presence";
import { finished, outputsOfItem, outputsWithItem, textOf, unfinishedKey } from "./state";
import { failure, judgeRead } from "./status";

export async function readInstance(session: Session, request: ReadRequest): Promise<ReadResponse> {
  using operation = session.operation(request.timeoutSeconds || timeouts.look);
  const { presence, origin } = await presenceOf(
    session,
    request.id,
    traceOf(request.outputs),
    operation.signal,
  );
  if (presence.kind === "gone") {
    session.state.recorded(request.id);
    return undefined;
  }
  if (presence.kind === "found") return found(session, request, presence.item, origin);
  return unproven(session, request, presence.why);
}

const isGet = ({ inputs }: ReadRequest) => inputs !== undefined && Object.keys(inputs).length === 0;

function found(
  session: Session,
  request: ReadRequest,
  item: ListItem,
  origin: Origin,
): ReadResponse {
  const { id, urn } = request;
  const refresh = isRefresh(request);
  const before = request.outputs ?? propertyMap({});
  const outputs = refresh ? outputsWithItem(before, item, origin) : outputsOfItem(item, origin);
  const inputs = refresh
    ? inputsAfterRefresh(request.inputs, before, item)
    : propertyMap({ name: item.name });
  // Who imports it takes it over, which settles what an earlier run left open (G1).
  if (request.inputs === undefined) session.state.carried(urn, id, outputs);
  if (!isGet(request) || refresh) judgeRead(session, { urn, id, inputs, outputs }, before);
  return { id, inputs, outputs: finished(outputs) };
}

/** Only a name that has changed since it was last seen is drift: a service may write names its own way. */
function inputsAfterRefresh(inputs: PropertyMap, before: PropertyMap, item: ListItem): PropertyMap {
  if (item.name === undefined || item.name === textOf(before, "name")) return inputs;
  return propertyMap({ ...inputs, name: secretLike(inputs["name"], item.name) });
}

/** G3: absent from a listing that proves nothing, so the state stays as it is. */
function unproven(session: Session, request: ReadRequest, why: string): ReadResponse {
  const { id, urn } = request;
  if (!isRefresh(request)) {
    throw new OperationFailed(
      `instance ${id} is not in the listing, and may exist all the same: ${why}`,
    );
  }
  session.warnOnce(
    `unproven: ${why}`,
    `instance ${id} is not in the listing, and is kept as the state has it: ${why}`,
    urn,
  );
  session.around.messages.status(urn, "kept as the state has it: no listing shows it");
  const { inputs, outputs } = request;
  if (outputs[unfinishedKey] === true) {
    throw failure({ id, inputs, outputs }, `instance ${id} was not finished when last seen`);
  }
  return { id, inputs, outputs };
}
