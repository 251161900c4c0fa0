/**
 * The Read call of an Instance (`ReadOccasion`). It drops an instance only if it is proven gone (G3). What is said of an import is said
 * in the Check after it, because a `.get()` has the same Read.
 */
import { afterChange, settingName } from "../advice";
import type { ListItem } from "../api/contract";
import { NotFound, OperationFailed } from "../errors";
import { statusOf } from "../evidence/poller";
import { whyOpen } from "../evidence/why";
import { isNamed } from "../evidence/witness";
import type { Origin } from "../origin";
import { canonicalJson, reveal } from "../pulumi/propertyValue";
import { isExistsQuestion } from "../pulumi/urn";
import type { ReadRequest, ReadResponse } from "../pulumi/calls";
import type { ReadOccasion } from "../engine";
import type { Session } from "../session/session";
import { missingOf } from "./address";
import { whenListed, askAbout } from "./existence";
import { Instance, listedOutputs } from "./instance";
import { unfinishedInstance, warnOfStatus } from "./ready";

/**
 * Returns the instance as the service lists it. Undefined if the instance is proven gone, unless an import or a `.get()` asks for it. If
 * no listing shows the instance, and that proves nothing, a state stays as it is.
 *
 * @throws InstanceUnfinished if the list, or else the state, has an instance that the stack manages as not ready. NotFound
 *   if an import or `.get()` has an id that no instance has. OperationFailed if the state names another service, token kind
 *   or account, or if neither the listings nor a state show the instance. RequestError if a request fails.
 */
export async function readInstance(
  session: Session,
  request: ReadRequest,
  occasion: ReadOccasion,
): Promise<ReadResponse | undefined> {
  const { id, urn } = request;
  const before = new Instance(request);
  // Only a refresh proves that the stack has the instance. What a `.get()` has read may be that of a create in doubt.
  if (occasion === "refresh") session.noteShown(before);
  using operation = session.operations.of(request, "read");
  // An empty answer drops an instance, or makes a program create another one.
  const isAbsenceActedOn = occasion !== "lookup" || isExistsQuestion(urn);
  const stake = isAbsenceActedOn ? "drop" : "say";
  const { verdict, origin } = await askAbout(session, before, operation, stake);
  if (verdict.kind === "open") {
    const why = whyOpen(verdict, session);
    if (occasion === "lookup")
      throw new OperationFailed(
        `instance ${id} is not in the listing, but may still exist: ${why}`,
      );
    warnOfUnchanged(session, before, why);
    // No `up` waits for what a `.get()` has read.
    if (occasion === "external" || !before.isUnfinished) return before;
    const own = `instance ${id} was not finished when last seen`;
    throw unfinishedInstance(before, own, ". The next `pulumi up` goes on waiting for it");
  }
  if (verdict.kind === "absent") {
    if (isAbsenceActedOn) return undefined;
    throw unknownId(session, id, verdict.proof.items, origin);
  }
  const [item] = verdict.items;
  if (occasion === "refresh") return refresh(session, before, item, origin);
  if (occasion === "external") return marked(before.withEachInput().seenAs(item, origin));
  const found = marked(Instance.listed(urn, item, origin).stampedBy(session.id));
  session.engine.resource(urn).found = found;
  return found;
}

/** Marks an instance that is PROVISIONING as not ready: if this is an import, the next `up` waits until it is. */
function marked(listed: Instance): Instance {
  return listed.status === "PROVISIONING" ? listed.unfinished() : listed;
}

/** Notes an import of the instance, which its Check has told from a `.get()`. */
export function noteImport(session: Session, imported: Instance): void {
  const { urn, id, status } = imported;
  session.noteShown(imported);
  if (status !== "PROVISIONING") return warnOfStatus(session.notices, imported);
  const shared = [" is PROVISIONING. `pulumi up` waits until it is ready"];
  session.notices.tell("info", { own: `instance ${id}`, shared }, urn);
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
  const isSettled = whenListed(session, before) <= session.ctx.clock.now();
  const after = (isSettled ? complete.settled() : complete).seenAs(item, origin);
  // The inputs stay: a new name at the service is drift, and no reason for a replacement.
  const valueIn = ({ outputs: held }: Instance, name: string) =>
    canonicalJson(reveal(held[name] ?? ""));
  const changed = listedOutputs.filter((name) => valueIn(before, name) !== valueIn(after, name));
  // That an unfinished instance has become ready is no drift.
  session.engine.resource(before.urn).drift = before.isUnfinished ? [] : changed;
  const isAwaited = before.isUnfinished || after.status === "PROVISIONING";
  const lacks = isAwaited ? lackOf(session, after, item) : undefined;
  if (lacks === undefined) {
    warnOfStatus(session.notices, after, before);
    return after;
  }
  // An `up` shows this, too, and then waits.
  const own = `instance ${after.id} was not ready when this run began`;
  throw unfinishedInstance(after, own, `: ${lacks}. \`pulumi up\` waits for it`);
}

/** Says what an instance that was not ready lacks as it is listed now. What a wait believes only in time is not believed here. */
function lackOf(session: Session, instance: Instance, item: ListItem): string | undefined {
  const missing = missingOf(session, statusOf(item), instance);
  if (missing) return `it was ${missing.is}`;
  const { waitForPort: port } = instance;
  return port === undefined ? undefined : `its port ${port} had not answered`;
}

/** Warns that the state stays as it is. */
function warnOfUnchanged(
  { notices, ctx }: Pick<Session, "notices" | "ctx">,
  { urn }: Instance,
  why: string,
): void {
  const own = "the instance is not in the listing, but the state keeps it unchanged";
  notices.warnOfFinding({ own, shared: [`: ${why}`] }, urn);
  ctx.messages.status(urn, "kept unchanged in the state, although no listing shows it");
}
