/**
 * Every way the emulator can be made to misbehave, for tests. `acted` says whether the service does
 * what was asked of it before things go wrong: a reset with `acted: true` after a POST leaves an
 * instance behind that the caller was never told of.
 *
 * A request meets any number of timing, instance and list faults, but only one that decides how its
 * answer is delivered.
 */
import * as z from "zod";
import { tokenPrefixes } from "../../provider/api/contract";

const acted = z.boolean().default(false);
const seconds = z.number().nonnegative();
const count = z.number().int().nonnegative();

/** How the answer gets (or does not get) to the caller. */
const deliveryKinds = [
  /** Any status; an error envelope unless `body` says otherwise. */
  z.strictObject({
    kind: z.literal("status"),
    status: z.number().int().min(200).max(599),
    acted,
    retryAfter: z.union([z.string(), z.number()]).optional(),
    code: z.string().default("scripted_fault"),
    message: z.string().default("A scripted fault."),
    body: z.string().optional(),
    contentType: z.string().optional(),
  }),
  /** The connection goes away without an answer: a TCP reset, or an orderly end when `orderly`. */
  z.strictObject({ kind: z.literal("reset"), acted, orderly: z.boolean().default(false) }),
  /** The true answer's head and length, and then only its first bytes (half of them). */
  z.strictObject({ kind: z.literal("cutBody"), bytes: count.optional() }),
  /** The true status with no body at all. */
  z.strictObject({ kind: z.literal("emptyBody") }),
  /** A page as proxies make them. */
  z.strictObject({
    kind: z.literal("html"),
    status: z.number().int().min(200).max(599).default(200),
    acted,
  }),
  /** The true answer with every value of another JSON type. */
  z.strictObject({ kind: z.literal("wrongTypes") }),
  /** The true status with this text in place of the body. */
  z.strictObject({
    kind: z.literal("body"),
    text: z.string(),
    contentType: z.string().default("application/json"),
  }),
  /** A function makes another body of the true one; only in-process. */
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
  /** The true answer, valid JSON, with a field of this many bytes in front of the others. */
  z.strictObject({ kind: z.literal("hugeBody"), bytes: count }),
  /** The true answer, a byte at a time. */
  z.strictObject({ kind: z.literal("slowDrip"), millisecondsPerByte: z.number().nonnegative() }),
  /** No answer until `release()`, then the true one. */
  z.strictObject({ kind: z.literal("hang"), acted }),
] as const;

/** Real milliseconds, before or after the service acts; the answer is the true one. */
const timingKinds = [
  z.strictObject({ kind: z.literal("delay"), milliseconds: z.number().nonnegative(), acted }),
] as const;

/** What becomes of the instance that a POST makes; the answer is the true one. */
const instanceKinds = [
  z.strictObject({ kind: z.literal("neverLeavesProvisioning") }),
  /** Also statuses the document does not know. */
  z.strictObject({ kind: z.literal("endsAs"), status: z.string() }),
  /** Lists leave the instance out until then. */
  z.strictObject({ kind: z.literal("appearsAfter"), seconds }),
] as const;

const instance = z.string().optional();

/** What a list shows, whatever is true. `instance` is an id or a name, may have `*`; without: all. */
const listKinds = [
  z.strictObject({ kind: z.literal("omitItem"), instance }),
  z.strictObject({ kind: z.literal("duplicateIds"), instance }),
  /** The id is another one in each listing. */
  z.strictObject({ kind: z.literal("changeIds"), instance }),
  z.strictObject({ kind: z.literal("showStatus"), instance, status: z.string() }),
  z.strictObject({ kind: z.literal("hasMoreForever") }),
] as const;

const behaviour = z.discriminatedUnion("kind", [
  ...deliveryKinds,
  ...timingKinds,
  ...instanceKinds,
  ...listKinds,
]);

/** Which requests a fault strikes, and how often. `*` stands for any text in `path` and `name`. */
const match = z.object({
  method: z.string().optional(),
  path: z.string().optional(),
  /** Parameters that have to have this value; null: that must be absent. */
  query: z.record(z.string(), z.string().nullable()).optional(),
  /** `name` in the body of a POST. */
  name: z.string().optional(),
  tokenKind: z.enum(Object.keys(tokenPrefixes) as (keyof typeof tokenPrefixes)[]).optional(),
  /** Matching requests to let through first. */
  after: count.default(0),
  /** Requests to strike; "always" and Infinity never end. */
  times: z.union([count, z.literal(Infinity), z.literal("always")]).default(1),
  /** Strikes only this share of what it matches; 1 is all. */
  probability: z.number().min(0).max(1).default(1),
});

/** Takes what a test or a control request gives; unknown keys and kinds are refused. */
export const faultForm = z.preprocess(splitOff, z.object({ match, behaviour }));

const matchKeys = Object.keys(match.shape);

function splitOff(input: unknown): unknown {
  if (typeof input !== "object" || input === null) return input;
  const entries = Object.entries(input);
  return {
    match: Object.fromEntries(entries.filter(([key]) => matchKeys.includes(key))),
    behaviour: Object.fromEntries(entries.filter(([key]) => !matchKeys.includes(key))),
  };
}

export type Match = z.output<typeof match>;
export type Behaviour = z.output<typeof behaviour>;
/** What to pass to `control.fault`: matching and behaviour side by side. */
export type FaultScript = z.input<typeof match> & z.input<typeof behaviour>;

export type Delivery = z.output<(typeof deliveryKinds)[number]>;
export type Timing = z.output<(typeof timingKinds)[number]>;
export type InstanceFault = z.output<(typeof instanceKinds)[number]>;
export type ListFault = z.output<(typeof listKinds)[number]>;
export type FaultKind = Behaviour["kind"];

const kindsOf = (forms: readonly { shape: { kind: { value: string } } }[]) =>
  new Set(forms.map((form) => form.shape.kind.value));
const kinds = {
  delivery: kindsOf(deliveryKinds),
  timing: kindsOf(timingKinds),
  instance: kindsOf(instanceKinds),
  list: kindsOf(listKinds),
};

export const isDelivery = (it: Behaviour): it is Delivery => kinds.delivery.has(it.kind);
export const isTiming = (it: Behaviour): it is Timing => kinds.timing.has(it.kind);
export const isInstanceFault = (it: Behaviour): it is InstanceFault => kinds.instance.has(it.kind);
export const isListFault = (it: Behaviour): it is ListFault => kinds.list.has(it.kind);

/** Whether the service does what the request asks for when its answer meets this fault. */
export function acts(delivery: Delivery | undefined): boolean {
  return delivery === undefined || !("acted" in delivery) || delivery.acted;
}
