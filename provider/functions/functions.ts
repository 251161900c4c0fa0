/** The functions (getInstance, getInstances, getAccount) and the List call. They do not use Pulumi's state. */
import * as z from "zod";
import type { ListItem } from "../api/contract";
import { instanceStatuses, type InstanceStatus } from "../api/serviceConstants";
import { closest } from "../closest";
import { NotFound, OperationFailed } from "../errors";
import { isCompleteFor, type Listing } from "../evidence/listing";
import { whyIncomplete } from "../evidence/why";
import { isNamed } from "../evidence/witness";
import { matchesNamePattern, namePatternHelp } from "../namePattern";
import {
  hasUnknown,
  propertyMap,
  reveal,
  Secret,
  Unknown,
  type PropertyMap,
} from "../pulumi/propertyValue";
import type { FunctionToken } from "../pulumi/names";
import type { InvokeRequest, InvokeResponse, ListRequest, ListResponse } from "../pulumi/calls";
import { timeouts, waits, type Operation } from "../session/operations";
import { identifier, nonEmptyText, numberAsText } from "../pulumi/textTypes";
import type { Session } from "../session/session";

/** The given arguments, which are all strings once they are checked. */
type FunctionArgs = Readonly<Record<string, string | undefined>>;

/** The definition of a function. The schema, the docs and the check of the arguments are made from it. */
interface FunctionDefinition {
  description: string;
  /** The type of each argument, which is never required by itself, with its description. */
  inputs: Readonly<Record<string, z.ZodType>>;
  /** Returns the outputs. The arguments were checked. */
  run: (session: Session, args: FunctionArgs, operation: Operation) => Promise<PropertyMap>;
}

/** What each status means to this provider; the service's API document does not say it. */
const statusMeanings: Readonly<Record<InstanceStatus, string>> = {
  ACTIVE: "the instance is ready, which is what a create waits for",
  OFFLINE:
    "the instance does not run: a create ends, with a warning, or with an error if it waits for a port",
  PROVISIONING: "the service is still making the instance",
};

/** Every function, by its token. */
export const functions: Record<FunctionToken, FunctionDefinition> = {
  "compute:index:getInstance": {
    description:
      "One instance, by its id or by its name. An error if there is none, or if several have that name.",
    inputs: {
      id: identifier.describe("Identifier of the instance."),
      name: nonEmptyText.describe(
        "Hostname of the instance. The service may list it with a domain, which can be left out.",
      ),
    },
    async run(session, { id, name }, operation) {
      const listing = await session.list(operation);
      const all = [...listing.items.values()];
      const found = id ? all.filter((item) => item.id === id) : namedBy(name ?? "", all);
      const what = id ? `with the id "${id}"` : `named "${name}"`;
      const [only, ...others] = found;
      if (!only) {
        const doubt = listing.complete
          ? ""
          : `, but it may exist anyway: ${whyIncomplete(listing, session)}`;
        throw new NotFound(
          `there is no instance ${what}${doubt}. If this program creates it, use its outputs instead`,
        );
      }
      if (others.length > 0) {
        const ids = found.map((item) => item.id).join(", ");
        throw new OperationFailed(
          `there are ${found.length} instances ${what}. Give the id of one of them: ${ids}`,
        );
      }
      return instanceSummary(only);
    },
  },

  "compute:index:getInstances": {
    description:
      "The instances that the token's tenant has, as far as the service lists them: see `complete`.",
    inputs: {
      status: z
        .enum(instanceStatuses, { error: `must be one of ${instanceStatuses.join(", ")}` })
        .meta({ title: "InstanceStatus", words: statusMeanings })
        .describe("Only instances of this status: `ACTIVE`, `OFFLINE` or `PROVISIONING`."),
      namePattern: nonEmptyText.describe(
        `Only instances whose name matches this pattern, ${namePatternHelp.replace(/[*?]/g, "`$&`")}, such as \`web-*\`. Case does not count.`,
      ),
    },
    async run(session, args, operation) {
      const listing = await session.list(operation);
      const { instances, complete } = instancesOf(listing, args);
      return propertyMap({ instances: instances.map(instanceSummary), complete });
    },
  },

  "compute:index:getAccount": {
    description: "The account of the token, as GET /v2/account answers; checks the token.",
    inputs: {},
    async run(session, _args, operation) {
      const { baseUrl, tokenKind } = session.settings;
      const api = await session.connection.api();
      using _wait = operation.waiting(waits.account);
      const account = await api.account(operation.signal);
      // The service's API document does not say what the response contains.
      const details = new Secret(JSON.stringify(account ?? null));
      return propertyMap({ tokenKind, baseUrl, details });
    },
  },
};

/**
 * Runs a function.
 *
 * @throws OperationFailed for wrong arguments. Any error of the function.
 */
export async function invoke(session: Session, request: InvokeRequest): Promise<InvokeResponse> {
  const args = readArgs(request.token, request.args);
  using operation = session.operations.begin(timeouts.look);
  return { outputs: await functions[request.token].run(session, args, operation) };
}

/**
 * Returns the instances for `pulumi do compute:index:Instance list`, in the order of their ids, or that they are not known yet.
 *
 * @throws OperationFailed if an argument in the query is wrong. RequestError if a request fails. The error that ended the
 *   operation.
 */
export async function listInstances(
  session: Session,
  { query, limit }: ListRequest,
): Promise<ListResponse> {
  const known = Object.entries(query).filter(([, value]) => !hasUnknown(value));
  const args = readArgs("compute:index:getInstances", propertyMap(Object.fromEntries(known)));
  if (known.length < Object.keys(query).length) return Unknown.value;
  using operation = session.operations.begin(timeouts.look);
  const listing = await session.list(operation);
  const { instances, complete } = instancesOf(listing, args);
  if (!complete) {
    session.ctx.messages.warning(
      `there may be more instances than are shown: ${whyIncomplete(listing, session)}`,
    );
  }
  return instances
    .sort((one, other) => (one.id < other.id ? -1 : 1))
    .slice(0, limit < 1 ? undefined : limit)
    .map(({ id, name }) => ({ id, name: name ?? id }));
}

/** Returns the instances of exactly this name. If there is none, those that the service lists in another case or with a domain. */
function namedBy(name: string, all: readonly ListItem[]): readonly ListItem[] {
  const exact = all.filter((item) => item.name === name);
  return exact.length > 0 ? exact : all.filter((item) => isNamed(item.name, name));
}

/** Returns the listed instances that `args` ask for, and whether the service can't have others. */
function instancesOf(listing: Listing, { status, namePattern }: FunctionArgs) {
  const instances = [...listing.items.values()].filter(
    (item) =>
      (status === undefined || item.status === status) &&
      (namePattern === undefined || matchesNamePattern(namePattern, item.name ?? "")),
  );
  return { instances, complete: isCompleteFor(listing, status ? [status] : []) };
}

function instanceSummary(item: ListItem): PropertyMap {
  return propertyMap({
    id: item.id,
    name: item.name ?? "",
    status: item.status ?? "",
    ipv4: item.ipv4_public ?? "",
  });
}

/**
 * Returns the given arguments. Null counts as left out.
 *
 * @throws OperationFailed with all that is wrong with them
 */
function readArgs(token: FunctionToken, given: PropertyMap): FunctionArgs {
  const { inputs } = functions[token];
  const args: Record<string, string> = {};
  const problems: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    const plainValue = name === "id" ? numberAsText(reveal(value)) : reveal(value);
    if (plainValue === null) continue;
    args[name] = plainValue as string;
    const type = Object.hasOwn(inputs, name) ? inputs[name] : undefined;
    if (type) {
      const issues = type.safeParse(plainValue).error?.issues ?? [];
      problems.push(...issues.map((issue) => `${name} ${issue.message}`));
    } else {
      const similarName = closest(name, Object.keys(inputs));
      const hint = similarName ? `; did you mean ${similarName}?` : "";
      problems.push(`there is no argument "${name}"${hint}`);
    }
  }
  const { id, name } = args;
  if (token === "compute:index:getInstance" && (id === undefined) === (name === undefined))
    problems.push("give either id or name, and not both");
  if (problems.length > 0) throw new OperationFailed(problems.join("; "));
  return args;
}
