/** Read: refresh, import and `.get()`, all from the shared listing (G3, G7). */
import type { ListItem } from "../api/contract";
import { OperationFailed } from "../errors";
import { recordedName } from "../ledger/record";
import type { Origin } from "../origin";
import { propertyMap, secretLike, type PropertyMap, type PropertyValue } from "../propertyValue";
import { isRefresh, type ReadRequest, type ReadResponse } from "../requests";
import { timeouts, type Session } from "../session/session";
import { stamped } from "../stamp";
import { inputNames } from "./definition";
import { existenceOf, settlingEnd, knownInstanceOf } from "./existence";
import {
  finished,
  outputsOfItem,
  outputsOnceSettled,
  outputsWithItem,
  textOf,
  unfinishedKey,
  unlistedKey,
} from "./state";
import { failure, judgeRead } from "./status";

export async function readInstance(session: Session, request: ReadRequest): Promise<ReadResponse> {
  using operation = session.operation(request.timeoutSeconds || timeouts.look);
  const trace = knownInstanceOf(request.outputs);
  const { existence, origin } = await existenceOf(session, request.id, trace, operation.signal);
  if (existence.kind === "gone") {
    // An id that a person typed may be another tenant's: only a recorded origin makes this a proof.
    if (trace.kept) session.ledger.settleId(session.settings, request.id, "gone");
    return undefined;
  }
  if (existence.kind === "found") return found(session, request, existence.item, origin);
  return unproven(session, request, existence.why);
}

const isImport = ({ inputs }: ReadRequest) => inputs === undefined;
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
  const outputs = outputsFound(session, request, item, origin);
  const inputs = refresh
    ? inputsAfterRefresh(request.inputs, before, item)
    : propertyMap({ name: item.name });
  if (isImport(request)) {
    const { name } = item;
    const { ledger, settings, state } = session;
    const names = name === undefined ? [] : [name, recordedName(name, true, settings)];
    ledger.markImported(settings, urn, id, names);
    state.observed(id, outputs);
  }
  if (!isGet(request) || refresh) judgeRead(session, { urn, id, inputs, outputs }, before);
  return { id, inputs, outputs: finished(outputs) };
}

function outputsFound(
  session: Session,
  request: ReadRequest,
  item: ListItem,
  origin: Origin,
): PropertyMap {
  if (isRefresh(request)) {
    const { acceptedAt } = knownInstanceOf(request.outputs);
    const isSettled = settlingEnd(session, acceptedAt) <= session.ctx.clock.now();
    // What was left out of the outputs of an unfinished instance for its size.
    const before = propertyMap({ ...knownInputs(request.inputs), ...request.outputs });
    return outputsWithItem(isSettled ? outputsOnceSettled(before) : before, item, origin);
  }
  const outputs = outputsOfItem(item, origin);
  return isImport(request) ? stamped(outputs, session.id) : outputs;
}

function knownInputs(inputs: PropertyMap): Record<string, PropertyValue | undefined> {
  return Object.fromEntries(inputNames.map((name) => [name, inputs[name]]));
}

/** Only a name that has changed since it was last listed is drift: a service may write names its own way. */
function inputsAfterRefresh(inputs: PropertyMap, before: PropertyMap, item: ListItem): PropertyMap {
  const isFirstSighting = before[unlistedKey] === true;
  if (isFirstSighting || item.name === undefined || item.name === textOf(before, "name")) {
    return inputs;
  }
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
  session.ctx.messages.status(urn, "kept as the state has it: no listing shows it");
  const { inputs, outputs } = request;
  if (outputs[unfinishedKey] === true) {
    throw failure({ id, inputs, outputs }, `instance ${id} was not finished when last seen`);
  }
  return { id, inputs, outputs };
}
