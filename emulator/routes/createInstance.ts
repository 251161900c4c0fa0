/** POST /v2/instances: provisions an instance. */
import { createBody, type CreateBody } from "../../provider/api/contract";
import { invalidParameter, jsonAnswer, type Answer } from "../http/answers";
import { plan, type InstanceEffects } from "../instances/lifecycle";
import { parseJson, type ServiceRequest } from "../http/request";
import { acceptedForm } from "../http/strict";
import type { Service } from "../service";
import type { Caller } from "../tokens";

const required = ["name", "flavor_id", "image_id", "vpc_id"] as const;
/** No repeated group: that would overflow the stack on a large text. */
const base64 = (text: string) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);

export function createInstance(
  service: Service,
  caller: Caller,
  request: ServiceRequest,
  effects: InstanceEffects,
): Answer {
  const body = readCreateBody(request);
  const owner = { tenant: caller.tenant, kind: caller.kind };
  const made = service.store.add(plan(service.settings, owner, body, effects));
  const { id, name, created_at } = made;
  const networks = made.networks.map(({ mac_address, ...rest }) =>
    service.settings.macAddresses ? { ...rest, mac_address } : rest,
  );
  // Rule 2: always PROVISIONING here, even when provisioning takes no time at all.
  const accepted = { id, name, status: "PROVISIONING", created_at, networks };
  return jsonAnswer(202, accepted, acceptedForm);
}

/** Rule 1. A second instance of the same name is fine: nothing says that names are unique. */
function readCreateBody(request: ServiceRequest): CreateBody {
  // The one header besides the token that the document asks for.
  if (!/^application\/json\s*(;|$)/i.test(request.contentType ?? ""))
    throw invalidParameter("The header Content-Type must be application/json.");
  const json = parseJson(request.body);
  if (typeof json !== "object" || json === null || Array.isArray(json))
    throw invalidParameter("The request body must be a JSON object.");
  const fields = json as Record<string, unknown>;
  for (const field of required)
    if (fields[field] === undefined || fields[field] === "")
      throw invalidParameter(`Missing required parameter: ${field}.`);
  const result = createBody.safeParse(json);
  if (!result.success)
    throw invalidParameter(
      `Invalid parameter: ${result.error.issues[0]?.path.join(".") ?? "body"} has the wrong type.`,
    );
  if (!base64(result.data.user_data ?? ""))
    throw invalidParameter("Invalid parameter: user_data is not Base64.");
  return result.data;
}
