/** The records of the ledger. Each record describes one create, and holds no secrets (G8). */
import * as z from "zod";
import type { Accepted } from "../api/contract";
import { keyedFingerprint } from "../fingerprint";
import { originSchema } from "../origin";
import { redactionMark } from "../redaction";

/** A session's id is a part of file names. */
const sessionIdSchema = z.string().regex(/^\w+$/);

const requestedSchema = z.object({
  ...originSchema.shape,
  /**
   * The id of the provider resource. It is the same in every run of a stack, and another one in each stack unless `pulumi state
   * move` has copied it.
   */
  scope: z.string().optional(),
  /** Set if `pulumi do --stateless` began the create. Such creates have the same URN, but are not related. */
  stateless: z.literal(true).optional(),
  urn: z.string(),
  /** The URN of the explicit provider resource. Undefined for the default provider. */
  provider: z.string().optional(),
  /** The instance's name, or its hash if the program made the name secret (`recordedName`). */
  name: z.string(),
  /** Who chose the name: this provider, the engine by `pulumi:autonaming`, or the program. */
  kind: z.enum(["generated", "proposed", "explicit"]),
  /** A keyed digest of the inputs, which shows whether the program still requests the same instance. */
  digest: z.string(),
});

/** What only the response to the POST shows (section "POST /v2/instances" of the service's API document). */
const shownOnceSchema = z.object({
  createdAt: z.string().optional(),
  networks: z.array(
    z.object({
      type: z.string(),
      ipv4: z.string().optional(),
      mac_address: z.string().optional(),
    }),
  ),
} satisfies Record<keyof Omit<Accepted, "id" | "name" | "status">, z.ZodType>);

const newRecordSchema = z.object({
  ...requestedSchema.shape,
  /** The ids of the instances that had this name in the last listing before the POST. */
  before: z.array(z.string()),
  /** When the POST was about to be sent or, once it has ended, when it ended (ISO 8601). */
  at: z.string(),
});

/** The schema of a line of a session's file. */
export const recordSchema = z.object({
  ...newRecordSchema.shape,
  /** `<session>-<n>`, the argument of the `discard` command. */
  key: z.string(),
  /** The session that began the create. The record stays in that session's file. */
  session: sessionIdSchema,
  /** The session that drives the create: `session`, until another one takes the record over. */
  owner: sessionIdSchema,
  /** The address of the owner's engine, if it is known. Owners with the same one are of the same run. */
  engine: z.string().optional(),
  /**
   * How far the create has come.
   * - `sending`: the POST is about to be sent or under way.
   * - `unknown`: the POST has ended, and whether the service acted is not known.
   * - `accepted`: the instance's id is known, but was not sent to an engine yet.
   * - `replied`: the id was sent to an engine, in the reply to a Create or an import. The engine has possibly saved it.
   * - `delivered`: after the reply, the session ended normally. Its engine has possibly not saved the id.
   * - `settled`: the record is of no further use, for the reason in `settled`.
   * - `refused`: the service refused the create and made nothing.
   */
  stage: z.enum(["sending", "unknown", "accepted", "replied", "delivered", "settled", "refused"]),
  id: z.string().optional(),
  accepted: shownOnceSchema.optional(),
  /**
   * Why the record is settled.
   * - `state`: a state held the instance, as outputs with the id of another session (`__run`) prove. The URN, the scope and the
   *   provider are then those of the resource that had it when it was last seen.
   * - `gone`: the instance is proven gone.
   * - `dropped`: a Delete reported that it leaves the instance running.
   * - `discarded`: a person used the `discard` command.
   * - `absent`: the POST was not sent, or surely created nothing (a 429, or a token that was renewed), or two complete
   *   listings after the settling time (`compute:settlingSeconds`) lack the instance.
   */
  settled: z.enum(["state", "gone", "dropped", "discarded", "absent"]).optional(),
  /** When the record became `delivered`, or was settled as `state` before that (ISO 8601). */
  deliveredAt: z.string().optional(),
  /** Set if another run of the stack was under way together with the run of the record's owner (`isContested`). */
  contested: z.literal(true).optional(),
  /** Set once the Create call that drove the create has ended, or the instance was imported. */
  ended: z.literal(true).optional(),
});
/** One create, and how far it has come. */
export type LedgerRecord = z.infer<typeof recordSchema>;

/** Why a record is settled. */
export type SettleReason = NonNullable<LedgerRecord["settled"]>;

/** The instance that a create asks for, its resource, and the service and token that it is requested with. */
export type RequestedInstance = z.infer<typeof requestedSchema>;

/** What is known when a POST is about to be sent. */
export type NewRecord = z.infer<typeof newRecordSchema>;

/** How far a create has come, as its record says. */
interface Progress {
  stage: LedgerRecord["stage"];
  settled?: SettleReason | undefined;
  contested?: true | undefined;
}

/** Whether the create is pending: it has possibly made an instance that no state holds. */
export function isPending({ stage }: Progress): boolean {
  return ["sending", "unknown", "accepted", "replied"].includes(stage);
}

/**
 * Whether the record was delivered while another run of its stack was under way. One of the two engines may have saved
 * its state over the other's, so the state may lack the instance.
 */
export function isContested({ stage, contested }: Progress): boolean {
  return stage === "delivered" && contested === true;
}

/**
 * How many days the record of a dead session is kept after the last change of its file. A live instance is billed for as long
 * as it runs, and its record stops a create that would leave it running unnoticed. Test instances are ephemeral.
 */
export function daysKept(record: LedgerRecord): number {
  if (isPending(record) || isContested(record)) return Infinity;
  const hasNone = record.stage === "refused" || ["gone", "absent"].includes(record.settled ?? "");
  if (hasNone) return 7;
  return record.tokenKind === "test" ? 30 : 365;
}

const contestMarkSchema = z.object({
  /** The run that marks: the address of its engine or, if that is not known, its session. */
  by: z.string(),
  /** When it marked (ISO 8601). Until then, the engine of that run may have saved its state. */
  at: z.string(),
});
/** Which run marks a record as contested, and when. */
export type ContestMark = z.infer<typeof contestMarkSchema>;

/**
 * A line of a session's file that marks a record as contested. Other sessions write it beside the lines of the owner, whose
 * later changes keep the mark.
 */
export const contestSchema = contestMarkSchema.extend({
  /** The key of the record. */
  contested: z.string(),
  /** The owner of the record when the line was written. The mark is not about a later owner. */
  owner: sessionIdSchema,
});
/** The content of such a line. */
export type Contest = z.infer<typeof contestSchema>;

/** Whether a session is alive. "unknown" if that was not tested, or if locks can't show it. */
export type Liveness = "alive" | "dead" | "unknown";

/** A record as `Ledger.read` returns it. */
export interface LedgerEntry {
  record: LedgerRecord;
  /**
   * Whether the record's owner (the session that drives the create) is alive. If so, its engine may still save the
   * result in the state. This is only tested if the create is pending.
   */
  liveness: Liveness;
}

/** Whether a Create call drives the create now. */
export function isInFlight({ record, liveness }: LedgerEntry): boolean {
  return isPending(record) && !record.ended && liveness === "alive";
}

/**
 * Whether a record may change to this stage. A settled record stays settled, and only one whose reason is `state` may change: to
 * another reason or another resource, or to contested, since another engine may have saved an older state over the one that
 * held the instance.
 */
export function isAllowedChange(record: Progress | undefined, change: Progress): boolean {
  if (record?.stage !== "settled") return true;
  return record.settled === "state" && (change.stage === "settled" || isContested(change));
}

/** The prefix of a hashed name in a record. */
const hashPrefix = "secret:";

/**
 * Returns a name for a record. A name that the program made secret is hashed with the token as the key (G8), in lower case,
 * because the case of a name does not count (`isSameName`).
 */
export function recordedName(
  name: string,
  isSecret: boolean,
  { apiToken }: { readonly apiToken: string },
): string {
  return isSecret ? hashPrefix + keyedFingerprint(apiToken, name.toLowerCase(), 32) : name;
}

/** Whether the name in a record is a hash. */
export function isHashedName(recorded: string): boolean {
  return recorded.startsWith(hashPrefix);
}

/** Returns the name of a record for a message. A secret one is replaced, since the redaction misses very short ones. */
export function displayRecordedName(recorded: string): string {
  return isHashedName(recorded) ? redactionMark : recorded;
}
