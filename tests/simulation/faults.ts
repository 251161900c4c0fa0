/** What can go wrong with one request, and whether the service has acted by then. */
import type { InstanceFault, ListFault } from "../../emulator/faults/kinds";

export type Fault =
  /** No connection: nothing was sent. */
  | { kind: "refused" }
  /** The connection ends without an answer. */
  | { kind: "cut"; acted: boolean }
  /** No answer, for as long as anybody waits. */
  | { kind: "hang"; acted: boolean }
  /** The service acts, and its answer takes that long. */
  | { kind: "slow"; seconds: number }
  | {
      kind: "status";
      status: number;
      acted: boolean;
      body: "envelope" | "html";
      retryAfter?: string;
    }
  /** The head of the true answer, and half of its body. */
  | { kind: "cutBody" }
  | { kind: "body"; text: string }
  /** The true answer, of a list or an instance that is not as it should be. */
  | { kind: "odd"; behaviour: InstanceFault | ListFault };

const both = (name: string, make: (acted: boolean) => Fault): [string, Fault][] => [
  [`${name} before acting`, make(false)],
  [`${name} after acting`, make(true)],
];
const envelope = (status: number, acted: boolean, retryAfter?: string): Fault => ({
  ...{ kind: "status", status, acted, body: "envelope" },
  ...(retryAfter === undefined ? {} : { retryAfter }),
});
const odd = (behaviour: InstanceFault | ListFault): Fault => ({ kind: "odd", behaviour });

/** What any request may meet. */
export const commonFaults: Readonly<Record<string, Fault>> = Object.fromEntries([
  ["a refused connection", { kind: "refused" }],
  ...both("a cut connection", (acted) => ({ kind: "cut", acted })),
  ...both("no answer", (acted) => ({ kind: "hang", acted })),
  ["a slow answer", { kind: "slow", seconds: 20 }],
  ["429", envelope(429, false)],
  ["429 with Retry-After", envelope(429, false, "7")],
  // With the document's envelope these are refusals, taken at their word: nothing was done.
  ...[400, 401, 403, 404].map((status): [string, Fault] => [`${status}`, envelope(status, false)]),
  ...[408, 409, 500, 502, 503, 504].flatMap((status) =>
    both(`${status}`, (acted) => envelope(status, acted)),
  ),
  // Without the envelope, any proxy's answer.
  ...[200, 404, 502].flatMap((status) =>
    both(`a page of HTML with ${status}`, (acted) => ({
      ...{ kind: "status", status, acted, body: "html" },
    })),
  ),
  ["a cut body", { kind: "cutBody" }],
  ["an empty body", { kind: "body", text: "" }],
  ["a body that is no JSON", { kind: "body", text: '{"object":"list","data":[{"id":"i-' }],
  ["a body of other types", { kind: "body", text: '{"id":7,"data":"none","has_more":"no"}' }],
] as [string, Fault][]);

export const listFaults: Readonly<Record<string, Fault>> = {
  "a list of nothing much": {
    kind: "body",
    text: '{"object":"list","data":[{}],"has_more":false}',
  },
  "ids twice": odd({ kind: "duplicateIds" }),
  "ids that change": odd({ kind: "changeIds" }),
  "an unknown status": odd({ kind: "showStatus", status: "WEIRD" }),
  "has_more for ever": odd({ kind: "hasMoreForever" }),
};

/** A whole list without an instance that is there: twice in a run, it is what the document calls gone (G3). */
export const hidingFaults: Readonly<Record<string, Fault>> = {
  "an empty list": { kind: "body", text: '{"object":"list","data":[],"has_more":false}' },
  "a list without the instances": odd({ kind: "omitItem" }),
};

export const postFaults: Readonly<Record<string, Fault>> = {
  "an instance that ends OFFLINE": odd({ kind: "endsAs", status: "OFFLINE" }),
  "an instance that ends as nobody knows": odd({ kind: "endsAs", status: "WEIRD" }),
  "an instance that stays PROVISIONING": odd({ kind: "neverLeavesProvisioning" }),
  "an instance listed late": odd({ kind: "appearsAfter", seconds: 45 }),
};

export function faultNamed(name: string): Fault {
  const fault = { ...commonFaults, ...listFaults, ...hidingFaults, ...postFaults }[name];
  if (!fault) throw new Error(`there is no fault "${name}"`);
  return fault;
}
