/**
 * The schemas of all faults: every way in which a test can make the emulator misbehave. `acted` says whether the
 * service acts on the request before the fault applies. For example, a reset with `acted: true` on a POST leaves an
 * instance behind, though the caller got no response.
 *
 * Any number of delays, instance faults and list faults apply to one request, but only one delivery fault.
 */
import * as z from "zod";
import { tokenPrefixes } from "../../provider/api/contract";

const acted = z.boolean().default(false);
const count = z.number().int().nonnegative();
const httpStatus = z.number().int().min(200).max(599);

/** These faults change or cut the response that the caller gets, or keep it back. */
const deliveryFaults = [
  /** A response with this status. Its body is `body`, or an error envelope by default. */
  z.strictObject({
    kind: z.literal("status"),
    status: httpStatus,
    acted,
    retryAfter: z.union([z.string(), z.number()]).optional(),
    code: z.string().default("scripted_fault"),
    message: z.string().default("A scripted fault."),
    body: z.string().optional(),
    contentType: z.string().optional(),
  }),
  /** The connection ends without a response: by a TCP reset, or by a normal close if `orderly`. */
  z.strictObject({ kind: z.literal("reset"), acted, orderly: z.boolean().default(false) }),
  /** The true headers with the full Content-Length, and then only this many bytes of the body. The default is half. */
  z.strictObject({ kind: z.literal("cutBody"), bytes: count.optional() }),
  /** The true status without a body. */
  z.strictObject({ kind: z.literal("emptyBody") }),
  /** An HTML page, as proxies send it. */
  z.strictObject({ kind: z.literal("html"), status: httpStatus.default(200), acted }),
  /** The true response, but every value is replaced by one of another JSON type. */
  z.strictObject({ kind: z.literal("wrongTypes") }),
  /** The true status with this string as the body. */
  z.strictObject({
    kind: z.literal("body"),
    text: z.string(),
    contentType: z.string().default("application/json"),
  }),
  /** The true response with the body that `rewrite` returns. Not available in the control API over HTTP. */
  z.strictObject({
    kind: z.literal("rewrite"),
    rewrite: z.custom<(body: unknown) => unknown>((value) => typeof value === "function"),
  }),
  z.strictObject({
    kind: z.literal("redirect"),
    location: z.string(),
    status: z.literal([301, 302, 303, 307, 308]).default(307),
    acted,
  }),
  /** The true response as valid JSON, with an extra field of this many bytes before its own fields. */
  z.strictObject({ kind: z.literal("hugeBody"), bytes: count }),
  /** The true response, one byte at a time. */
  z.strictObject({ kind: z.literal("slowDrip"), millisecondsPerByte: z.number().nonnegative() }),
  /** No response until `release()` is called, then the true response. */
  z.strictObject({ kind: z.literal("hang"), acted }),
] as const;

/** The true response after a delay in real time. The service acts after the delay, or before it if `acted`. */
const delayFault = z.strictObject({
  kind: z.literal("delay"),
  milliseconds: z.number().nonnegative(),
  acted,
});

/** These faults change the instance that a POST creates. The response is the true one. */
const instanceFaults = [
  z.strictObject({ kind: z.literal("neverLeavesProvisioning") }),
  /** The status after provisioning. It may be one that the service's API document does not list. */
  z.strictObject({ kind: z.literal("endsAs"), status: z.string() }),
  /** Listings omit the instance for this long after the POST. */
  z.strictObject({ kind: z.literal("appearsAfter"), seconds: z.number().nonnegative() }),
] as const;

const instance = z.string().optional();

/**
 * These faults change a listing. `instance` is an id or a name, in which `*` stands for any characters. The default
 * is all instances.
 */
const listFaults = [
  z.strictObject({ kind: z.literal("omitItem"), instance }),
  z.strictObject({ kind: z.literal("duplicateIds"), instance }),
  /** The instance has another id in each listing. */
  z.strictObject({ kind: z.literal("changeIds"), instance }),
  z.strictObject({ kind: z.literal("showStatus"), instance, status: z.string() }),
  z.strictObject({ kind: z.literal("hasMoreForever") }),
] as const;

const fault = z.discriminatedUnion("kind", [
  ...deliveryFaults,
  delayFault,
  ...instanceFaults,
  ...listFaults,
]);

/** Which requests a fault applies to, how often, and what it is called. In `path` and `name`, `*` stands for any characters. */
const match = z.object({
  method: z.string().optional(),
  path: z.string().optional(),
  /** The query parameters with their required values. Null if the parameter must be absent. */
  query: z.record(z.string(), z.string().nullable()).optional(),
  /** The `name` in the body of a POST. */
  name: z.string().optional(),
  tokenKind: z.enum(Object.keys(tokenPrefixes) as (keyof typeof tokenPrefixes)[]).optional(),
  /** The number of matching requests that the fault skips first. */
  after: count.default(0),
  /** The number of requests that the fault applies to. "always" and Infinity mean all of them. */
  times: z.union([count, z.literal(Infinity), z.literal("always")]).default(1),
  /** The probability, from 0 to 1, that the fault applies to a matching request. */
  probability: z.number().min(0).max(1).default(1),
  /** A name for the fault, by which the page finds the faults that were switched on there. */
  label: z.string().optional(),
});

const matchKeys = Object.keys(match.shape);

/** Parses the script of a test or of a control request. Unknown keys and kinds are errors. */
export const faultScript = z.preprocess((input) => {
  if (typeof input !== "object" || input === null) return input;
  const entries = Object.entries(input);
  return {
    match: Object.fromEntries(entries.filter(([key]) => matchKeys.includes(key))),
    fault: Object.fromEntries(entries.filter(([key]) => !matchKeys.includes(key))),
  };
}, z.object({ match, fault }));

/** The parsed conditions of a fault script. */
export type Match = z.output<typeof match>;
/** A parsed fault of any kind. */
export type Fault = z.output<typeof fault>;
/** The argument of `control.fault`: the conditions and the fault in one object. */
export type FaultScript = z.input<typeof match> & z.input<typeof fault>;
/** The name of a fault, such as `reset`. */
export type FaultKind = Fault["kind"];

/** A fault that changes, cuts or keeps back the response. */
export type DeliveryFault = z.output<(typeof deliveryFaults)[number]>;
/** A fault that delays the response. */
export type DelayFault = z.output<typeof delayFault>;
/** A fault that changes the instance created by a POST. */
export type InstanceFault = z.output<(typeof instanceFaults)[number]>;
/** A fault that changes a listing. */
export type ListFault = z.output<(typeof listFaults)[number]>;

const kindsOf = (schemas: readonly { shape: { kind: { value: string } } }[]) =>
  new Set(schemas.map((schema) => schema.shape.kind.value));
const deliveryKinds = kindsOf(deliveryFaults);
const instanceKinds = kindsOf(instanceFaults);
const listKinds = kindsOf(listFaults);

/** Whether a fault is a delivery fault. */
export const isDeliveryFault = (it: Fault): it is DeliveryFault => deliveryKinds.has(it.kind);
/** Whether a fault is a delay. */
export const isDelayFault = (it: Fault): it is DelayFault => it.kind === "delay";
/** Whether a fault changes the instance created by a POST. */
export const isInstanceFault = (it: Fault): it is InstanceFault => instanceKinds.has(it.kind);
/** Whether a fault changes a listing. */
export const isListFault = (it: Fault): it is ListFault => listKinds.has(it.kind);

/** Whether the service acts on the request. Some delivery faults, such as a reset without `acted`, prevent that. */
export function doesServiceAct(fault: DeliveryFault | undefined): boolean {
  return fault === undefined || !("acted" in fault) || fault.acted;
}
