/** The Read call of an Instance, for a refresh, an import and a `.get()`. It drops an instance only if it is proven gone (G3). */
import { afterChange, settingName } from "../advice";
import type { ListItem } from "../api/contract";
import { NotFound, OperationFailed } from "../errors";
import { whyOpen } from "../evidence/why";
import { isNamed } from "../evidence/witness";
import type { Origin } from "../origin";
import { canonicalJson, propertyMap, reveal } from "../pulumi/propertyValue";
import type { ReadRequest, ReadResponse } from "../pulumi/calls";
import type { ReadOccasion } from "../engineRun";
import type { Session } from "../session/session";
import { isAddressDue } from "./address";
import { listedBy, lookFor } from "./existence";
import { Instance, listedOutputs } from "./instance";
import { checkStatus, unfinishedInstance } from "./ready";

/**
 * Returns the instance as the service lists it. If no listing shows the instance, a refresh returns undefined if the
 * instance is proven gone, and otherwise what the state holds.
 *
 * @throws InstanceUnfinished if the list, or else the state, has the instance as not ready, but never for `.get()`. NotFound
 *   if an import or `.get()` has an id that no instance has. OperationFailed if the state names another service, token kind
 *   or account, or if neither the listings nor a state show the instance. RequestError if a request fails.
 */
export async function readInstance(
  session: Session,
  request: ReadRequest,
  occasion: ReadOccasion,
): Promise<ReadResponse | undefined> {
  const { id, urn, inputs = propertyMap({}), outputs = propertyMap({}) } = request;
  const before = new Instance({ urn, id, inputs, outputs });
  // In an import or a `.get()`, no outputs come from the state.
  if (occasion === "refresh") session.noteShown(before);
  using operation = session.operations.of(request, "read");
  const { verdict, origin } = await lookFor(session, before, operation);
  if (verdict.kind === "open") {
    const why = whyOpen(verdict, session);
    if (occasion === "refresh") return keepState(session, before, why);
    throw new OperationFailed(`instance ${id} is not in the listing, but may still exist: ${why}`);
  }
  if (verdict.kind === "absent") {
    if (occasion !== "refresh") throw unknownId(session, id, verdict.proof.items, origin);
    return undefined;
  }
  const [item] = verdict.items;
  if (occasion === "refresh") return refresh(session, before, item, origin);
  const listed = Instance.listed(urn, item, origin);
  return occasion === "import" ? imported(session, listed) : listed;
}

/**
 * Returns the error for an id that no instance has. A person may have given a name, an address, or a URL that ends with the id, or
 * white space around it.
 */
function unknownId(
  { places }: Pick<Session, "places">,
  id: string,
  items: ReadonlyMap<string, ListItem>,
  origin: Origin,
): NotFound {
  const { baseUrl, tokenKind } = origin;
  const given = id.trim().split("/").filter(Boolean).at(-1);
  const meant = [...items.values()]
    .filter((item) => given !== undefined && isMeant(item, given))
    .map((item) => item.id);
  const advice =
    meant.length > 0
      ? `Give the id itself: ${meant.join(" or ")}`
      : `Check the id, ${settingName("baseUrl", places)} and the token${afterChange("baseUrl", places)}`;
  return new NotFound(
    `no instance that this ${tokenKind} token shows at ${baseUrl} has the id "${id}". ${advice}.`,
  );
}

/** Whether the item has this id, name or address. */
function isMeant(item: ListItem, given: string): boolean {
  return isNamed(item.name, given) || [item.id, item.ipv4_public].includes(given);
}

function refresh(session: Session, before: Instance, item: ListItem, origin: Origin): Instance {
  const complete = before.withEachInput();
  const isSettled = listedBy(session, before) <= session.ctx.clock.now();
  const after = (isSettled ? complete.settled() : complete).seenAs(item, origin);
  // The inputs stay: a new name at the service is drift, and no reason for a replacement.
  const shownBy = ({ outputs: held }: Instance, name: string) =>
    canonicalJson(reveal(held[name] ?? ""));
  const changed = listedOutputs.filter((name) => shownBy(before, name) !== shownBy(after, name));
  // That an unfinished instance has become ready is no drift.
  session.engine.resource(before.urn).drift = before.isUnfinished ? [] : changed;
  checkStatus(session.notices, after, before);
  const missing = before.isUnfinished ? missingOf(session, after) : undefined;
  if (missing === undefined) return after;
  // An `up` shows this, too, and then waits.
  const own = `instance ${after.id} was not ready when this run began`;
  throw unfinishedInstance(after, own, `: ${missing}. \`pulumi up\` waits for it`);
}

/** Says what an instance that has left PROVISIONING still lacks before it is ready. */
function missingOf(session: Session, instance: Instance): string | undefined {
  const { waitForPort: port } = instance;
  if (port !== undefined) return `its port ${port} had not answered`;
  if (session.isAddressMissed || !isAddressDue(session, instance)) return undefined;
  return "its public address was not listed";
}

/** Notes an import of the instance. */
function imported(session: Session, listed: Instance): Instance {
  const after = listed.stampedBy(session.id);
  session.noteShown(after);
  checkStatus(session.notices, after);
  return after;
}

/**
 * Returns the state as it is, for a refresh.
 *
 * @throws InstanceUnfinished if the state has the instance as unfinished
 */
function keepState(
  { notices, ctx }: Pick<Session, "notices" | "ctx">,
  before: Instance,
  why: string,
): Instance {
  const { id, urn } = before;
  notices.warnOnce(
    `unproven: ${why}`,
    `instance ${id} is not in the listing, but the state keeps it unchanged: ${why}`,
    urn,
  );
  ctx.messages.status(urn, "kept unchanged in the state, although no listing shows it");
  if (before.isUnfinished) {
    const own = `instance ${id} was not finished when last seen`;
    throw unfinishedInstance(before, own, ". The next `pulumi up` goes on waiting for it");
  }
  return before;
}
