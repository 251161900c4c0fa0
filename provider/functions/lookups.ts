/** getInstance, getInstances, getAccount, and the List call: what exists, without a state. */
import type { InstanceStatus, ListItem } from "../api/contract";
import { NotFound, OperationFailed } from "../errors";
import { isCompleteFor, type Listing } from "../listing/listing";
import { propertyMap, Secret, type PropertyMap } from "../propertyValue";
import type { InvokeRequest, InvokeResponse, ListedResource, ListRequest } from "../requests";
import { timeouts, type Session } from "../session/session";
import { isFunction, type FunctionToken } from "../tokens";
import { argsOf, faultsOf, type Args } from "./functions";

export async function invoke(session: Session, request: InvokeRequest): Promise<InvokeResponse> {
  const { token } = request;
  if (!isFunction(token))
    throw new OperationFailed(`the compute provider has no function ${token}`);
  const failures = faultsOf(token, request.args);
  if (failures.length > 0) return { outputs: propertyMap({}), failures };
  const args = argsOf(request.args);
  using operation = session.operation(timeouts.look);
  return { outputs: await lookups[token](session, args, operation.signal), failures: [] };
}

/** `pulumi do compute:index:Instance list`. */
export async function list(
  session: Session,
  { query, limit }: ListRequest,
): Promise<ListedResource[]> {
  const failures = faultsOf("compute:index:getInstances", query);
  const [first] = failures;
  if (first) throw new OperationFailed(first.reason);
  const status = argsOf(query)["status"] as InstanceStatus | undefined;
  using operation = session.operation(timeouts.look);
  const listing = await session.listings.get(session.listings.recent, operation.signal);
  const found = ofStatus(listing, status);
  if (!isCompleteFor(listing, status ? [status] : [])) {
    session.ctx.messages.warning(
      "the service's listing is not complete: there are more instances than are shown",
    );
  }
  return (limit < 1 ? found : found.slice(0, limit)).map((item) => ({
    id: item.id,
    name: item.name ?? item.id,
  }));
}

type Lookup = (session: Session, args: Args, signal: AbortSignal) => Promise<PropertyMap>;

const lookups: Record<FunctionToken, Lookup> = {
  async "compute:index:getInstance"(session, { id, name }, signal) {
    const listing = await session.listings.get(session.listings.recent, signal);
    const found = id
      ? [listing.items.get(id)].filter((item) => item !== undefined)
      : [...listing.items.values()].filter((item) => item.name === name);
    const what = id ? `with the id "${id}"` : `named "${name}"`;
    const [only, ...others] = found;
    if (!only) {
      const hidden = listing.complete
        ? ""
        : "; the service's listing is not complete, so it may exist all the same (see compute:cursorParameter)";
      throw new NotFound(`there is no instance ${what}${hidden}`);
    }
    if (others.length > 0) {
      const ids = found.map((item) => item.id).join(", ");
      throw new OperationFailed(
        `there are ${found.length} instances ${what}: ${ids}. Give the id instead.`,
      );
    }
    return instanceOutput(only);
  },

  async "compute:index:getInstances"(session, args, signal) {
    const status = args["status"] as InstanceStatus | undefined;
    const listing = await session.listings.get(session.listings.recent, signal);
    return propertyMap({
      instances: ofStatus(listing, status).map(instanceOutput),
      complete: isCompleteFor(listing, status ? [status] : []),
    });
  },

  async "compute:index:getAccount"(session, _args, signal) {
    const { baseUrl, tokenKind } = session.settings;
    const api = await session.connection.api();
    const details = await api.account(signal);
    // What the answer holds is not shown in the document, so all of it is a secret, as JSON text.
    return propertyMap({
      tokenKind,
      baseUrl,
      details: new Secret(JSON.stringify(details ?? null)),
    });
  },
};

function instanceOutput(item: ListItem): PropertyMap {
  return propertyMap({
    id: item.id,
    name: item.name ?? "",
    status: item.status ?? "",
    ipv4: item.ipv4_public || undefined,
  });
}

function ofStatus({ items }: Listing, status: InstanceStatus | undefined): ListItem[] {
  return [...items.values()].filter((item) => status === undefined || item.status === status);
}
