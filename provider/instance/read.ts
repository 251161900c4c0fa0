/** Read: refresh, import and `.get()`, all from the listings that they share (G3, G7). */
import type { ListItem } from "../api/contract";
import { OperationFailed } from "../errors";
import { recordedName } from "../ledger/record";
import type { Origin } from "../origin";
import { propertyMap, secretLike, type PropertyMap } from "../propertyValue";
import { isRefresh, type ReadRequest, type ReadResponse } from "../requests";
import { timeouts, type Session } from "../session/session";
import { stamped } from "../origin";
import { inputNames } from "./definition";
import { existenceOf, knownInstanceOf, settlingEnd } from "./existence";
import { checkStatus, unfinishedInstance } from "./ready";
import {
  outputsOfItem,
  outputsOnceSettled,
  outputsWithItem,
  textOf,
  unfinishedKey,
  unlistedKey,
} from "./state";

/**
 * The instance as the service lists it; undefined if it is proven gone.
 *
 * @throws InstanceUnfinished if it is not ready, and OperationFailed if nothing is known of it.
 */
export async function readInstance(session: Session, request: ReadRequest): Promise<ReadResponse> {
  const { id, inputs, outputs } = request;
  using operation = session.operation(request.timeoutSeconds || timeouts.look);
  const known = knownInstanceOf(outputs);
  const { existence, origin } = await existenceOf(session, id, known, operation.signal);
  switch (existence.kind) {
    case "gone":
      // An id that a person typed may be another tenant's: only a recorded origin makes this a proof.
      if (known.recordedOrigin) session.ledger.settleId(session.settings, id, "gone");
      return undefined;
    case "unproven":
      return keepState(session, request, existence.why);
    case "found":
      if (isRefresh(request)) return refresh(session, request, existence.item, origin);
      return inputs === undefined
        ? importInstance(session, request, existence.item, origin)
        : get(request, existence.item, origin);
  }
}

function refresh(
  session: Session,
  { id, urn, inputs, outputs: before }: ReadRequest & { inputs: PropertyMap; outputs: PropertyMap },
  item: ListItem,
  origin: Origin,
): ReadResponse {
  // The outputs of an unfinished instance may lack large inputs.
  const known = propertyMap({
    ...Object.fromEntries(inputNames.map((name) => [name, inputs[name]])),
    ...before,
  });
  const { acceptedAt } = knownInstanceOf(before);
  const isSettled = settlingEnd(session, acceptedAt) <= session.ctx.clock.now();
  const outputs = outputsWithItem(isSettled ? outputsOnceSettled(known) : known, item, origin);
  // Only a name that was listed otherwise before is drift: the service may write names its own way.
  const isDrift =
    before[unlistedKey] !== true && item.name !== undefined && item.name !== textOf(before, "name");
  const name = isDrift ? secretLike(inputs["name"], item.name) : inputs["name"];
  const refreshed = propertyMap({ ...inputs, name });
  checkStatus(session, { urn, id, inputs: refreshed, outputs }, before);
  return { id, inputs: refreshed, outputs };
}

function importInstance(
  session: Session,
  { id, urn }: ReadRequest,
  item: ListItem,
  origin: Origin,
): ReadResponse {
  const { ledger, settings, state } = session;
  const { name } = item;
  const inputs = propertyMap({ name });
  const outputs = stamped(outputsOfItem(item, origin), session.id);
  const names = name === undefined ? [] : [name, recordedName(name, true, settings)];
  ledger.markImported(settings, urn, id, names);
  state.observe(id, outputs);
  checkStatus(session, { urn, id, inputs, outputs }, propertyMap({}));
  return { id, inputs, outputs };
}

/** `.get()` only shows the instance, whatever its status. */
function get({ id }: ReadRequest, item: ListItem, origin: Origin): ReadResponse {
  const outputs = outputsOfItem(item, origin);
  return { id, inputs: propertyMap({ name: item.name }), outputs };
}

/**
 * No listing shows the instance, which proves nothing (G3): a refresh keeps the state as it is.
 *
 * @throws InstanceUnfinished if the state has it as unfinished, and OperationFailed if there is no state.
 */
function keepState(session: Session, request: ReadRequest, why: string): ReadResponse {
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
    const reason = `instance ${id} was not finished when last seen`;
    throw unfinishedInstance({ id, inputs, outputs }, reason);
  }
  return { id, inputs, outputs };
}
