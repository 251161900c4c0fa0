/** GET /v2/instances: the instances of the caller's tenant, a page of them. */
import { instanceStatuses, pageLimit, type InstanceStatus } from "../../provider/api/contract";
import { invalidParameter, jsonAnswer, type Answer } from "../http/answers";
import { isDocumentedStatus } from "../instances/instance";
import { readPage } from "../instances/listing";
import type { ListedInstance } from "../instances/store";
import type { ServiceRequest } from "../http/request";
import { listForm } from "../http/strict";
import type { Service } from "../service";
import type { Caller } from "../tokens";

export function listInstances(service: Service, caller: Caller, request: ServiceRequest): Answer {
  const { listOrder, cursorParameter, ipv4WhilePending, random } = service.settings;
  // Parameters that the document does not show are ignored, as most services do: a client that
  // guesses the name of a cursor gets the first page again.
  const after = cursorParameter && request.query.get(cursorParameter);
  const page = readPage(service.store, listOrder, cursorParameter !== undefined, random, {
    owner: { tenant: caller.tenant, kind: caller.kind },
    limit: limitIn(request.query),
    status: statusIn(request.query),
    after: after ?? undefined,
  });
  if (page === undefined)
    throw invalidParameter(`Invalid parameter: ${cursorParameter ?? ""} is not an instance.`);
  const data = page.instances.map((instance) => item(instance, ipv4WhilePending));
  const answer = jsonAnswer(200, { object: "list", data, has_more: page.hasMore });
  // An unknown status only comes from a fault that asks for one.
  return data.every(({ status }) => isDocumentedStatus(status))
    ? { ...answer, form: listForm }
    : answer;
}

/** "Each item carries `id`, `name`, `status`, `ipv4_public`." */
function item({ id, name, status, ipv4_public }: ListedInstance, ipv4WhilePending: boolean) {
  return status === "PROVISIONING" && !ipv4WhilePending
    ? { id, name, status }
    : { id, name, status, ipv4_public };
}

function limitIn(query: URLSearchParams): number {
  const text = query.get("limit");
  if (text === null) return pageLimit.default;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (!(limit >= pageLimit.min && limit <= pageLimit.max))
    throw invalidParameter(
      `Invalid parameter: limit must be an integer from ${String(pageLimit.min)} to ${String(pageLimit.max)}.`,
    );
  return limit;
}

function statusIn(query: URLSearchParams): InstanceStatus | undefined {
  const status = query.get("status");
  if (status === null) return undefined;
  if (!isDocumentedStatus(status))
    throw invalidParameter(
      `Invalid parameter: status must be one of ${instanceStatuses.join(", ")}.`,
    );
  return status;
}
