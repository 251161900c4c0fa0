/** The faults of a request in the simulation. `acted`: the service did what was asked, before the fault. */
import type { InstanceFault, ListFault } from "../../emulator/faults/kinds";

export type Fault =
  /** The connection is refused, so nothing is sent. */
  | { kind: "refused" }
  /** The connection ends without a response. */
  | { kind: "cut"; acted: boolean }
  /** No response ever arrives. */
  | { kind: "hang"; acted: boolean }
  /** The service acts, and its response takes this long. */
  | { kind: "slow"; seconds: number }
  | {
      kind: "status";
      status: number;
      acted: boolean;
      body: "envelope" | "html";
      retryAfter?: string;
    }
  /** The headers of the true response, and half of its body. */
  | { kind: "cutBody" }
  /** The true status with this body. */
  | { kind: "body"; text: string }
  /** The response of a service that makes a list or a new instance behave in this way. */
  | { kind: "odd"; behaviour: InstanceFault | ListFault };

/** Returns a fault in two forms: before and after the service has acted. */
const beforeAndAfterActing = (name: string, make: (acted: boolean) => Fault): [string, Fault][] => [
  [`${name} before acting`, make(false)],
  [`${name} after acting`, make(true)],
];
const envelope = (status: number, acted: boolean, retryAfter?: string): Fault => ({
  ...{ kind: "status", status, acted, body: "envelope" },
  ...(retryAfter === undefined ? {} : { retryAfter }),
});
const odd = (behaviour: InstanceFault | ListFault): Fault => ({ kind: "odd", behaviour });

export const commonFaults: Readonly<Record<string, Fault>> = Object.fromEntries([
  ["a refused connection", { kind: "refused" }],
  ...beforeAndAfterActing("a cut connection", (acted) => ({ kind: "cut", acted })),
  ...beforeAndAfterActing("no answer", (acted) => ({ kind: "hang", acted })),
  ["a slow answer", { kind: "slow", seconds: 20 }],
  ["429", envelope(429, false)],
  ["429 with Retry-After", envelope(429, false, "7")],
  // With the error envelope, these are refusals: the service has done nothing.
  ...[400, 401, 403, 404].map((status): [string, Fault] => [`${status}`, envelope(status, false)]),
  ...[408, 409, 500, 502, 503, 504].flatMap((status) =>
    beforeAndAfterActing(`${status}`, (acted) => envelope(status, acted)),
  ),
  // Without the envelope, the response may be that of any proxy.
  ...[200, 404, 502].flatMap((status) =>
    beforeAndAfterActing(`a page of HTML with ${status}`, (acted) => ({
      ...{ kind: "status", status, acted, body: "html" },
    })),
  ),
  ["a cut body", { kind: "cutBody" }],
  ["an empty body", { kind: "body", text: "" }],
  ["a body that is no JSON", { kind: "body", text: '{"object":"list","data":[{"id":"i-' }],
  ["a body of other types", { kind: "body", text: '{"id":7,"data":"none","has_more":"no"}' }],
] as [string, Fault][]);

export const listFaults: Readonly<Record<string, Fault>> = {
  "a list with an empty item": {
    kind: "body",
    text: '{"object":"list","data":[{}],"has_more":false}',
  },
  "ids twice": odd({ kind: "duplicateIds" }),
  "ids that change": odd({ kind: "changeIds" }),
  "an unknown status": odd({ kind: "showStatus", status: "WEIRD" }),
  "has_more that never ends": odd({ kind: "hasMoreForever" }),
};

/**
 * A complete list without an existing instance. A run has it at most once, because after two such lists the instance
 * is rightly gone (G3).
 */
export const hidingFaults: Readonly<Record<string, Fault>> = {
  "an empty list": { kind: "body", text: '{"object":"list","data":[],"has_more":false}' },
  "a list without the instances": odd({ kind: "omitItem" }),
};

export const postFaults: Readonly<Record<string, Fault>> = {
  "an instance that ends OFFLINE": odd({ kind: "endsAs", status: "OFFLINE" }),
  "an instance that ends with an unknown status": odd({ kind: "endsAs", status: "WEIRD" }),
  "an instance that stays PROVISIONING": odd({ kind: "neverLeavesProvisioning" }),
  "an instance listed late": odd({ kind: "appearsAfter", seconds: 45 }),
};

/** @throws if no fault has this name */
export function faultNamed(name: string): Fault {
  const fault = { ...commonFaults, ...listFaults, ...hidingFaults, ...postFaults }[name];
  if (!fault) throw new Error(`there is no fault "${name}"`);
  return fault;
}
