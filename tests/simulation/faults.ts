/** The faults of a request in the simulation: those of the emulator, of which it plays most itself, and a refused connection. */
import type { FaultScript, InstanceFault, ListFault } from "../../emulator/faults/kinds";

type Played = Extract<
  FaultScript,
  { kind: "reset" | "hang" | "delay" | "status" | "html" | "cutBody" | "body" }
>;
/** "refused": the connection is refused, so nothing is sent. */
export type Fault = { kind: "refused" } | Played | InstanceFault | ListFault;

/** Returns a fault in two forms: before and after the service has acted. */
const beforeAndAfterActing = (
  name: string,
  fault: { kind: Fault["kind"]; [more: string]: unknown },
): [string, Fault][] => [
  [`${name} before acting`, { ...fault, acted: false } as Fault],
  [`${name} after acting`, { ...fault, acted: true } as Fault],
];
const status = (code: number, retryAfter?: string): Fault => ({
  kind: "status",
  status: code,
  acted: false,
  ...(retryAfter !== undefined && { retryAfter }),
});

export const commonFaults: Readonly<Record<string, Fault>> = Object.fromEntries([
  ["a refused connection", { kind: "refused" }],
  ...beforeAndAfterActing("a cut connection", { kind: "reset" }),
  ...beforeAndAfterActing("no answer", { kind: "hang" }),
  ["a slow answer", { kind: "delay", milliseconds: 20_000, acted: true }],
  ["429", status(429)],
  ["429 with Retry-After", status(429, "7")],
  // With the error envelope, these are refusals: the service has done nothing.
  ...[400, 401, 403, 404].map((code): [string, Fault] => [`${code}`, status(code)]),
  ...[408, 409, 500, 502, 503, 504].flatMap((code) =>
    beforeAndAfterActing(`${code}`, status(code)),
  ),
  // Without the envelope, the response may be that of any proxy.
  ...[200, 404, 502].flatMap((code) =>
    beforeAndAfterActing(`a page of HTML with ${code}`, { kind: "html", status: code }),
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
  "ids twice": { kind: "duplicateIds" },
  "ids that change": { kind: "changeIds" },
  "an unknown status": { kind: "showStatus", status: "WEIRD" },
  "has_more that never ends": { kind: "hasMoreForever" },
  "a list without addresses": { kind: "omitAddress" },
  "a list of an address that stands for none": { kind: "omitAddress", instead: "0.0.0.0" },
  "a list of what is OFFLINE on its way": { kind: "showStatus", status: "OFFLINE" },
};

/**
 * Complete lists that lack an existing instance. A run meets at most one of them: two would prove that the instance is gone
 * (G3). With a live token, the same one may come for `hidingMs`: a list that shows none of ours proves nothing in a moment.
 */
export const hidingFaults: Readonly<Record<string, Fault>> = {
  "an empty list": { kind: "body", text: '{"object":"list","data":[],"has_more":false}' },
  "a list without the instances": { kind: "omitItem" },
};

/** Less than half of the shortest time-out. */
export const hidingMs = 10_000;

export const postFaults: Readonly<Record<string, Fault>> = {
  "an instance that ends OFFLINE": { kind: "endsAs", status: "OFFLINE" },
  "an instance that ends with an unknown status": { kind: "endsAs", status: "WEIRD" },
  "an instance that stays PROVISIONING": { kind: "neverLeavesProvisioning" },
  "an instance listed late": { kind: "appearsAfter", seconds: 45 },
  ...Object.fromEntries([
    ...beforeAndAfterActing("a 202 with somebody else's instance", {
      kind: "existingId",
      instance: "other-*",
    }),
    ...beforeAndAfterActing("a 202 with an older instance", { kind: "existingId" }),
    ...beforeAndAfterActing("a 202 with an instance of web", {
      kind: "existingId",
      instance: "web-*",
    }),
  ]),
};

/** @throws if no fault has this name */
export function faultNamed(name: string): Fault {
  const fault = { ...commonFaults, ...listFaults, ...hidingFaults, ...postFaults }[name];
  if (!fault) throw new Error(`there is no fault "${name}"`);
  return fault;
}
