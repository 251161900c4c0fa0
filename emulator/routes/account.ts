/** GET /v2/account: "used as an authentication test call". */
import { jsonAnswer, type Answer } from "../http/answers";
import type { Service } from "../service";
import type { Caller } from "../tokens";

export function account(service: Service, caller: Caller): Answer {
  const body = service.account;
  if (body === undefined) return jsonAnswer(200, usual(caller));
  return "json" in body ? jsonAnswer(200, body.json) : { status: 200, ...body };
}

/**
 * "Fields of the account resource: not shown", so these are made up: an id and a name, as most
 * services have. A client may count on neither, and `account` sets another body or an empty one.
 */
function usual(caller: Caller): unknown {
  return { id: `acct_${caller.tenant}`, name: caller.tenant };
}
