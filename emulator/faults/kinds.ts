/**
 * The schemas of all faults. `acted` says whether the service acts on the request before the fault applies: a reset with
 * `acted: true` on a POST leaves an instance behind. At most one delivery fault applies to a request.
 */
import * as z from "zod";

const acted = z.boolean().default(false);
const count = z.number().int().nonnegative();
const httpStatus = z.number().int().min(200).max(599);

/** They change or cut the response that the caller gets, or keep it back. The fault is healed when it ends. */
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
  /** The connection ends without a response, by a TCP reset. */
  z.strictObject({ kind: z.literal("reset"), acted }),
  /** The true response, but only this many bytes of the body. The default is half. */
  z.strictObject({ kind: z.literal("cutBody"), bytes: count.optional() }),
  z.strictObject({ kind: z.literal("html"), status: httpStatus.default(200), acted }),
  /** The true status with this string as the body. */
  z.strictObject({
    kind: z.literal("body"),
    text: z.string(),
    contentType: z.string().default("application/json"),
  }),
  z.strictObject({
    kind: z.literal("redirect"),
    location: z.string(),
    status: z.literal([301, 302, 303, 307, 308]).default(307),
    acted,
  }),
  /** No response until `release()` is called, then the true response. */
  z.strictObject({ kind: z.literal("hang"), acted }),
] as const;

/** The true response after a delay in real time. */
const delayFault = z.strictObject({
  kind: z.literal("delay"),
  milliseconds: z.number().nonnegative(),
  acted,
});

/** An id or a name, in which `*` stands for any characters. The default is all. */
const instance = z.string().optional();

const instanceFaults = [
  /** Healed by `setStatus`. `finishProvisioning` leaves the instance as it is. */
  z.strictObject({ kind: z.literal("neverLeavesProvisioning") }),
  /** The status after provisioning, which need not be a documented one. Healed by `setStatus`. */
  z.strictObject({ kind: z.literal("endsAs"), status: z.string() }),
  /** Listings lack the instance for this long after the POST. Healed by that time. */
  z.strictObject({ kind: z.literal("appearsAfter"), seconds: z.number().nonnegative() }),
  /**
   * The 202 is that of the oldest instance of the caller with this id or name, which existed before the POST. If there is
   * none, the 202 is the true one, and the service acts.
   */
  z.strictObject({ kind: z.literal("existingId"), instance, acted }),
] as const;

/** They change a listing. The next listing without the fault is true again. */
const listFaults = [
  z.strictObject({ kind: z.literal("omitItem"), instance }),
  /** Lists `instead`, such as `0.0.0.0`, or no address. */
  z.strictObject({ kind: z.literal("omitAddress"), instance, instead: z.string().optional() }),
  z.strictObject({ kind: z.literal("duplicateIds"), instance }),
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

/** Which requests a fault applies to, and how often. In `path` and `name`, `*` stands for any characters. */
const match = z.object({
  method: z.string().optional(),
  path: z.string().optional(),
  name: z.string().optional(),
  /** How many matching requests the fault skips first. */
  after: count.default(0),
  /** How many requests the fault applies to. "always" and Infinity mean all of them. */
  times: z.union([count, z.literal(Infinity), z.literal("always")]).default(1),
  /** The name that the page shows, and by which it finds the faults that were switched on there. */
  label: z.string().optional(),
});

const matchKeys = Object.keys(match.shape);

/** Splits a script into conditions and fault. Unknown keys and kinds are errors. */
export const faultScript = z.preprocess((input) => {
  if (typeof input !== "object" || input === null) return input;
  const entries = Object.entries(input);
  return {
    match: Object.fromEntries(entries.filter(([key]) => matchKeys.includes(key))),
    fault: Object.fromEntries(entries.filter(([key]) => !matchKeys.includes(key))),
  };
}, z.object({ match, fault }));

/** The conditions under which a fault applies. */
export type Match = z.output<typeof match>;
/** A fault of any kind. */
export type Fault = z.output<typeof fault>;
/** The argument of `control.fault`: the conditions and the fault in one object. */
export type FaultScript = z.input<typeof match> & z.input<typeof fault>;
/** The name of a fault, such as `reset`. */
export type FaultKind = Fault["kind"];

/** A fault that changes, cuts or keeps back the response. */
export type DeliveryFault = z.output<(typeof deliveryFaults)[number]>;
/** A fault that delays the response. */
export type DelayFault = z.output<typeof delayFault>;
/** A fault that changes the instance created by a POST, or the instance in its response. */
export type InstanceFault = z.output<(typeof instanceFaults)[number]>;
/** A fault that changes a listing. */
export type ListFault = z.output<(typeof listFaults)[number]>;

const kindsOf = (schemas: readonly { shape: { kind: { value: string } } }[]) =>
  new Set(schemas.map((schema) => schema.shape.kind.value));
const deliveryKinds = kindsOf(deliveryFaults);
const instanceKinds = kindsOf(instanceFaults);
const listKinds = kindsOf(listFaults);

/** Whether a fault is a delivery fault. */
export const isDeliveryFault = (fault: Fault): fault is DeliveryFault =>
  deliveryKinds.has(fault.kind);
/** Whether a fault is a delay. */
export const isDelayFault = (fault: Fault): fault is DelayFault => fault.kind === "delay";
/** Whether a fault changes the instance created by a POST, or the instance in its response. */
export const isInstanceFault = (fault: Fault): fault is InstanceFault =>
  instanceKinds.has(fault.kind);
/** Whether a fault changes a listing. */
export const isListFault = (fault: Fault): fault is ListFault => listKinds.has(fault.kind);

/** Whether the service acts on the request before the fault applies: it does, unless the fault says `acted: false`. */
export function doesServiceAct(fault: DeliveryFault | undefined): boolean {
  return fault === undefined || !("acted" in fault) || fault.acted;
}
