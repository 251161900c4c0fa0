/**
 * The faults: every way in which a test can make the emulator misbehave. `acted` says whether the service does what the
 * request asks for before things go wrong: a reset with `acted: true` after a POST leaves an instance behind whose
 * caller got no response.
 *
 * Any number of delays, instance faults and list faults apply to one request, but only one delivery fault.
 */
import * as z from "zod";
import { tokenPrefixes } from "../../provider/api/contract";

const acted = z.boolean().default(false);
const count = z.number().int().nonnegative();
const httpStatus = z.number().int().min(200).max(599);

/** How the response gets to the caller, or does not. */
const deliveryFaults = [
  /** Any status; with an error envelope unless `body` is given. */
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
  /** The connection ends without a response: by a TCP reset, or an orderly end if `orderly`. */
  z.strictObject({ kind: z.literal("reset"), acted, orderly: z.boolean().default(false) }),
  /** The true response's head with its length, and then only the first bytes of the body (half by default). */
  z.strictObject({ kind: z.literal("cutBody"), bytes: count.optional() }),
  /** The true status without a body. */
  z.strictObject({ kind: z.literal("emptyBody") }),
  /** An HTML page, as proxies send it. */
  z.strictObject({ kind: z.literal("html"), status: httpStatus.default(200), acted }),
  /** The true response with every value of another JSON type. */
  z.strictObject({ kind: z.literal("wrongTypes") }),
  /** The true status with this text as the body. */
  z.strictObject({
    kind: z.literal("body"),
    text: z.string(),
    contentType: z.string().default("application/json"),
  }),
  /** A function makes another body from the true one; not over HTTP. */
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
  /** The true response, still valid JSON, with a field of this many bytes before the others. */
  z.strictObject({ kind: z.literal("hugeBody"), bytes: count }),
  /** The true response, one byte at a time. */
  z.strictObject({ kind: z.literal("slowDrip"), millisecondsPerByte: z.number().nonnegative() }),
  /** No response until `release()`, then the true one. */
  z.strictObject({ kind: z.literal("hang"), acted }),
] as const;

/** The true response, late by this much real time before or after the service acts. */
const delayFault = z.strictObject({
  kind: z.literal("delay"),
  milliseconds: z.number().nonnegative(),
  acted,
});

/** What happens to the instance that a POST creates; the response is the true one. */
const instanceFaults = [
  z.strictObject({ kind: z.literal("neverLeavesProvisioning") }),
  /** Any text, also a status that the document does not know. */
  z.strictObject({ kind: z.literal("endsAs"), status: z.string() }),
  /** Listings leave the instance out for this time. */
  z.strictObject({ kind: z.literal("appearsAfter"), seconds: z.number().nonnegative() }),
] as const;

const instance = z.string().optional();

/** What a listing shows, whatever is true. `instance` is an id or a name, `*` stands for any text; all by default. */
const listFaults = [
  z.strictObject({ kind: z.literal("omitItem"), instance }),
  z.strictObject({ kind: z.literal("duplicateIds"), instance }),
  /** Another id in each listing. */
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

/** Which requests a fault applies to, and how often. In `path` and `name`, `*` stands for any text. */
const match = z.object({
  method: z.string().optional(),
  path: z.string().optional(),
  /** Parameters with the values they must have; null if the parameter must be absent. */
  query: z.record(z.string(), z.string().nullable()).optional(),
  /** The `name` in the body of a POST. */
  name: z.string().optional(),
  tokenKind: z.enum(Object.keys(tokenPrefixes) as (keyof typeof tokenPrefixes)[]).optional(),
  /** How many matching requests go through first. */
  after: count.default(0),
  /** How many requests it applies to; "always" and Infinity never end. */
  times: z.union([count, z.literal(Infinity), z.literal("always")]).default(1),
  /** The share of the matching requests that it applies to; 1 is all. */
  probability: z.number().min(0).max(1).default(1),
});

const matchKeys = Object.keys(match.shape);

/** Parses what a test or a control request gives; refuses unknown keys and kinds. */
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
/** What a test passes to `control.fault`: the conditions and the fault, side by side. */
export type FaultScript = z.input<typeof match> & z.input<typeof fault>;
/** The name of a fault, such as `reset`. */
export type FaultKind = Fault["kind"];

/** A fault that decides how the response gets to the caller. */
export type DeliveryFault = z.output<(typeof deliveryFaults)[number]>;
/** A fault that makes the response late. */
export type DelayFault = z.output<typeof delayFault>;
/** A fault of the instance that a POST creates. */
export type InstanceFault = z.output<(typeof instanceFaults)[number]>;
/** A fault of what a listing shows. */
export type ListFault = z.output<(typeof listFaults)[number]>;

const kindsOf = (schemas: readonly { shape: { kind: { value: string } } }[]) =>
  new Set(schemas.map((schema) => schema.shape.kind.value));
const deliveryKinds = kindsOf(deliveryFaults);
const instanceKinds = kindsOf(instanceFaults);
const listKinds = kindsOf(listFaults);

/** Narrows a fault to one of its group, by its kind. */
export const isDeliveryFault = (it: Fault): it is DeliveryFault => deliveryKinds.has(it.kind);
/** Narrows a fault to one of its group, by its kind. */
export const isDelayFault = (it: Fault): it is DelayFault => it.kind === "delay";
/** Narrows a fault to one of its group, by its kind. */
export const isInstanceFault = (it: Fault): it is InstanceFault => instanceKinds.has(it.kind);
/** Narrows a fault to one of its group, by its kind. */
export const isListFault = (it: Fault): it is ListFault => listKinds.has(it.kind);

/** Whether the service does what the request asks for, with this delivery fault or with none. */
export function doesServiceAct(fault: DeliveryFault | undefined): boolean {
  return fault === undefined || !("acted" in fault) || fault.acted;
}
