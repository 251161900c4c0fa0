/** The Read call of an Instance, for a refresh, an import and a `.get()`. It drops an instance only if it is proven gone (G3). */
import type { ListItem } from "../api/contract";
import { NotFound, OperationFailed } from "../errors";
import { whyOpen } from "../evidence/why";
import { recordedName } from "../ledger/record";
import { type Origin, stamped, stampOf } from "../origin";
import { propertyMap, type PropertyMap } from "../propertyValue";
import { isRefresh, type ReadRequest, type ReadResponse } from "../requests";
import type { Session } from "../session/session";
import { inputNames } from "./definition";
import { knownInstance, listedBy, lookFor } from "./existence";
import { warnOfSecondImport, warnOfTwoHolders } from "./holders";
import { checkStatus, unfinishedInstance } from "./ready";
import {
  acceptedKey,
  outputsOfItem,
  outputsWithItem,
  stringProperty,
  unfinishedKey,
} from "./state";

/**
 * Returns the instance as the service lists it. If no listing shows the instance, a refresh returns undefined if the
 * instance is proven gone, and otherwise what the state holds.
 *
 * @throws InstanceUnfinished if the list, or else the state, has the instance as not ready, but never for `.get()`. NotFound
 *   if an import or `.get()` has an id that no instance has. OperationFailed if the state names another service, token kind
 *   or account, if neither the listings nor a state show the instance, or if the token is refused. RequestError if a request
 *   fails.
 */
export async function readInstance(session: Session, request: ReadRequest): Promise<ReadResponse> {
  const { id, urn, inputs, outputs } = request;
  // The outputs of a `.get()`, which holds no instance, have no stamp.
  if (stampOf(outputs) !== undefined) warnOfTwoHolders(session, { urn, id }, "refresh");
  using operation = session.operationOf(request, "read");
  const instance = knownInstance(id, outputs);
  const { verdict, origin } = await lookFor(session, instance, operation.signal);
  if (verdict.kind === "open") return keepState(session, request, whyOpen(verdict, session));
  if (verdict.kind === "absent") {
    if (!isRefresh(request)) throw unknownId(id, verdict.proof.items, origin);
    // Without a recorded origin (service and token), the instance may be another tenant's, and still exist.
    if (instance.origin) session.ledger.settleId(session.settings, id, "gone");
    return undefined;
  }
  const [item] = verdict.items;
  if (isRefresh(request)) return refresh(session, request, item, origin);
  // The list shows no other input.
  const read = {
    id,
    inputs: propertyMap({ name: item.name }),
    outputs: outputsOfItem(item, origin),
  };
  return inputs === undefined ? imported(session, urn, read) : read;
}

/** Returns the error for an id that no instance has. A person may have given a name instead. */
function unknownId(id: string, items: ReadonlyMap<string, ListItem>, origin: Origin): NotFound {
  const { baseUrl, tokenKind } = origin;
  const named = [...items.values()].filter(({ name }) => name === id).map((item) => item.id);
  const advice =
    named.length > 0
      ? `Give the id of the instance with this name: ${named.slice(0, 5).join(" or ")}${named.length > 5 ? " or another one" : ""}`
      : "Check the id, compute:baseUrl and the token";
  return new NotFound(
    `no instance that this ${tokenKind} token shows at ${baseUrl} has the id "${id}". ${advice}.`,
  );
}

function refresh(
  session: Session,
  { id, urn, inputs, outputs: before }: ReadRequest & { inputs: PropertyMap; outputs: PropertyMap },
  item: ListItem,
  origin: Origin,
): ReadResponse {
  const isSettled = listedBy(session, knownInstance(id, before)) <= session.ctx.clock.now();
  const known = propertyMap({
    // The outputs of an unfinished instance may lack large inputs.
    ...Object.fromEntries(inputNames.map((name) => [name, inputs[name]])),
    ...before,
    [acceptedKey]: isSettled ? undefined : before[acceptedKey],
  });
  const outputs = outputsWithItem(known, item, origin);
  // The inputs stay: a new name at the service is drift, and no reason for a replacement.
  const changed = ["name", "status", "ipv4"].filter(
    (key) => stringProperty(before, key) !== stringProperty(outputs, key),
  );
  // That an unfinished instance has become ready is no drift.
  session.state.noteDrift(id, before[unfinishedKey] === true ? [] : changed);
  checkStatus(session, { urn, id, inputs, outputs }, before);
  return { id, inputs, outputs };
}

/** Notes that the engine imports the instance. */
function imported(
  session: Session,
  urn: string,
  { id, inputs, outputs: listed }: NonNullable<ReadResponse>,
): ReadResponse {
  const { ledger, settings, run, state } = session;
  const name = stringProperty(inputs, "name");
  const outputs = stamped(listed, session.id);
  // A record of the ledger has the name in plain text or hashed.
  const recordedNames = name === undefined ? [] : [name, recordedName(name, true, settings)];
  ledger.markImported({ place: settings, scope: run.scope, urn, id, names: recordedNames });
  state.observe(id, outputs);
  warnOfSecondImport(session, { urn, id });
  checkStatus(session, { urn, id, inputs, outputs }, propertyMap({}));
  return { id, inputs, outputs };
}

/**
 * Returns the state as it is, for a refresh.
 *
 * @throws InstanceUnfinished if the state has the instance as unfinished, and OperationFailed if the Read is
 *   not a refresh.
 */
function keepState(session: Session, request: ReadRequest, why: string): ReadResponse {
  const { id, urn } = request;
  if (!isRefresh(request)) {
    throw new OperationFailed(`instance ${id} is not in the listing, but may still exist: ${why}`);
  }
  session.warnOnce(
    `unproven: ${why}`,
    `instance ${id} is not in the listing, but the state keeps it unchanged: ${why}`,
    urn,
  );
  session.ctx.messages.status(urn, "kept unchanged in the state, although no listing shows it");
  const { inputs, outputs } = request;
  if (outputs[unfinishedKey] === true) {
    const reason = `instance ${id} was not finished when last seen; the next \`pulumi up\` goes on waiting for it`;
    throw unfinishedInstance({ id, inputs, outputs }, reason);
  }
  return { id, inputs, outputs };
}
