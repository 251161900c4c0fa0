/**
 * The records of the ledger. Each record describes one create, and holds no secrets (G8). The ledger writes the
 * records, and the create protocol and the commands read them.
 */
import * as z from "zod";
import type { Settings } from "../config/settings";
import { keyedFingerprint } from "../fingerprint";
import { originSchema } from "../origin";
import { redactionMark } from "../redaction";

/** A session's id. It has only letters, digits and underscores, since it is a part of file names. */
const sessionIdSchema = z.string().regex(/^\w+$/);

/** The schema of a line of a session's file. */
export const recordSchema = z.object({
  ...originSchema.shape,
  /** The record's key, `<session>-<n>`, which is the argument of the `discard` command. */
  key: z.string(),
  /** The id of the session that began the create. The record stays in that session's file. */
  session: sessionIdSchema,
  /** The id of the session that drives the create. It is `session` until another session takes the record over. */
  owner: sessionIdSchema,
  /** The id of the provider resource. It is the same in every run of a stack and different in each stack. */
  scope: z.string().optional(),
  /** Set if `pulumi do --stateless` began the create. Such creates have the same URN, but are not related. */
  stateless: z.literal(true).optional(),
  /** The URN of the resource. */
  urn: z.string(),
  /** The URN of the explicit provider resource, for commands that name it. Undefined for the default provider. */
  provider: z.string().optional(),
  /** The instance's name, which is hashed if the program made the name secret (`recordedName`). */
  name: z.string(),
  /**
   * Who chose the name: this provider (`generated`), the engine by `pulumi:autonaming` (`proposed`) or the program
   * (`explicit`).
   */
  kind: z.enum(["generated", "proposed", "explicit"]),
  /** A keyed digest of the requested inputs. It shows whether the program still requests the same instance. */
  digest: z.string(),
  /** The ids of the instances that had this name in the last listing before the POST. */
  before: z.array(z.string()),
  /** The time when the POST was about to be sent or, once the POST has ended, the time of its end (ISO 8601). */
  at: z.string(),
  /**
   * How far the create has come.
   * - `sending`: the POST is about to be sent or under way.
   * - `unknown`: the POST has ended, and whether the service acted is not known.
   * - `accepted`: the instance's id is known, but no engine was sent the id yet.
   * - `replied`: an engine was sent the id, in the reply to a Create or an import, and has possibly saved it.
   * - `delivered`: after the reply, the session ended normally.
   * - `settled`: the record is of no further use, for the reason in `settled`.
   * - `refused`: the service refused the create and made nothing.
   */
  stage: z.enum(["sending", "unknown", "accepted", "replied", "delivered", "settled", "refused"]),
  /** The instance's id, once it is known. */
  id: z.string().optional(),
  /**
   * The fields that only the response to the POST shows (section "POST /v2/instances" of the service's API document),
   * for the run that takes the record over.
   */
  accepted: z
    .object({
      createdAt: z.string().optional(),
      networks: z.array(
        z.object({
          type: z.string(),
          ipv4: z.string().optional(),
          mac_address: z.string().optional(),
        }),
      ),
    })
    .optional(),
  /**
   * Why the record is settled.
   * - `state`: the engine sent outputs with the id of another session (`__run`), which proves that a state held the
   *   instance, or the record was delivered and its POST ended more than 30 days ago.
   * - `gone`: the instance is proven gone.
   * - `dropped`: a Delete reported that it leaves the instance running.
   * - `discarded`: a person discarded the record with a command.
   * - `absent`: the POST was not sent, or surely created nothing and may be sent again (a 429, or a token that was renewed),
   *   or two complete listings after the settling time (`compute:settlingSeconds`) lack the instance.
   */
  settled: z.enum(["state", "gone", "dropped", "discarded", "absent"]).optional(),
  /** Set once the Create call that drove the create has ended, or the instance was imported. */
  ended: z.literal(true).optional(),
});
/** A record of the ledger, which describes one create and how far the create has come. */
export type LedgerRecord = z.infer<typeof recordSchema>;

/** Why a record is settled. */
export type SettleReason = NonNullable<LedgerRecord["settled"]>;

/** The fields that a create passes when it begins. The ledger adds the other fields. */
export type NewRecord = Omit<LedgerRecord, "key" | "session" | "owner" | "stage">;

/** Whether the create is pending: it has possibly made an instance that no state holds. */
export function isPending({ stage }: Pick<LedgerRecord, "stage">): boolean {
  return ["sending", "unknown", "accepted", "replied"].includes(stage);
}

/**
 * Whether a record may be changed to this stage. A settled record stays settled, and only the reason `state` may be
 * replaced by another reason.
 */
export function isAllowedChange(
  record: Pick<LedgerRecord, "stage" | "settled"> | undefined,
  change: Pick<LedgerRecord, "stage" | "settled">,
): boolean {
  if (record?.stage !== "settled") return true;
  return record.settled === "state" && change.stage === "settled";
}

/**
 * How long after the end of the POST a record stays `delivered`. After that, the instance counts as held by the state.
 */
export const deliveredMs = 30 * 24 * 60 * 60 * 1000;

/** Returns the record as it counts at `now`. A delivered record counts as settled 30 days after the end of its POST. */
export function settleExpired(record: LedgerRecord, now: Date): LedgerRecord {
  const isExpired = now.getTime() - Date.parse(record.at) > deliveredMs;
  if (record.stage !== "delivered" || !isExpired) return record;
  return { ...record, stage: "settled", settled: "state" };
}

/** The prefix of a hashed name in a record. */
const hashPrefix = "secret:";

/** Returns a name for a record. A name that the program made secret is hashed with the token as the key (G8). */
export function recordedName(
  name: string,
  isSecret: boolean,
  { apiToken }: Pick<Settings, "apiToken">,
): string {
  return isSecret ? hashPrefix + keyedFingerprint(apiToken, name, 32) : name;
}

/** Whether the name of a record is a hash. */
export function isHashedName(recorded: string): boolean {
  return recorded.startsWith(hashPrefix);
}

/** Returns a name for a message. A secret name is replaced, since the redaction does not find very short names. */
export function displayName(name: string, isSecret: boolean): string {
  return isSecret ? redactionMark : name;
}

/** Returns the name of a record for a message. */
export function displayRecordedName(recorded: string): string {
  return displayName(recorded, isHashedName(recorded));
}
