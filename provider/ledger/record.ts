/** The records of the ledger: what it keeps of one create. They hold no secrets (G8). */
import * as z from "zod";
import type { Settings } from "../config/settings";
import { keyedFingerprint } from "../fingerprint";
import { originSchema } from "../origin";
import { redactionMark } from "../redaction";

/** A session's id is a part of file names. */
const sessionSchema = z.string().regex(/^\w+$/);

/** A line of a session's file. */
export const recordSchema = z.object({
  ...originSchema.shape,
  /** `<session>-<n>`: what `discard` takes. */
  key: z.string(),
  /** The session that began the create; the record stays in its file. */
  session: sessionSchema,
  /** The session that drives the create now: `session`, until another one takes the record over. */
  owner: sessionSchema,
  /** The id of the provider resource: the same in every run of a stack, another one in each stack. */
  scope: z.string().optional(),
  /** Begun by `pulumi do --stateless`, whose creates share a URN and nothing else. */
  stateless: z.literal(true).optional(),
  urn: z.string(),
  /** The program's own provider of the resource, for the commands that name it. */
  provider: z.string().optional(),
  /** Hashed if the program made it secret (`recordedName`). */
  name: z.string(),
  /** Who chose the name: this provider, the engine (`pulumi:autonaming`), or the program. */
  kind: z.enum(["generated", "proposed", "explicit"]),
  /** Keyed digest of what was asked for, to tell whether the program still asks for the same. */
  digest: z.string(),
  /** Ids of the instances that had this name in the last listing before the POST. */
  before: z.array(z.string()),
  /** When the POST was about to be sent or, once it has ended, when it ended (ISO 8601). */
  at: z.string(),
  /**
   * `sending`, `unknown`: whether the service acted is not known. `accepted`: the instance is known, and
   * no engine was told. `replied`: an engine was given its id, by a reply to Create or by an import, and
   * may have saved it. `delivered`: the reply was written before an orderly end. `settled`: see `settled`.
   * `refused`: the service refused, nothing was made.
   */
  stage: z.enum(["sending", "unknown", "accepted", "replied", "delivered", "settled", "refused"]),
  id: z.string().optional(),
  /** What only the 202 shows ("POST /v2/instances"), for the run that takes the record over. */
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
   * Why it is settled. `state`: the stamp of another session proved that a state held it, or it was
   * delivered 30 days ago. `gone`: it is proven gone. `dropped`: a Delete said that it leaves the instance
   * running. `discarded`: a person typed that. `absent`: nothing of it was sent, or a complete listing
   * after the settling time lacks it.
   */
  settled: z.enum(["state", "gone", "dropped", "discarded", "absent"]).optional(),
  /** The Create call that drove it has ended. */
  ended: z.literal(true).optional(),
});
/** A record of the ledger: one create, and how far it has come. */
export type LedgerRecord = z.infer<typeof recordSchema>;

/** Why a record is settled. */
export type SettleReason = NonNullable<LedgerRecord["settled"]>;

/** What a create tells of itself when it begins; the ledger adds the rest. */
export type NewRecord = Omit<LedgerRecord, "key" | "session" | "owner" | "stage">;

/** Whether the create is pending: nothing has shown yet what became of it. */
export function isPending({ stage }: Pick<LedgerRecord, "stage">): boolean {
  return ["sending", "unknown", "accepted", "replied"].includes(stage);
}

/**
 * Whether a record may be changed to this stage. A settled record stays settled; only the reason `state` may
 * change to another one.
 */
export function isAllowedChange(
  record: Pick<LedgerRecord, "stage" | "settled"> | undefined,
  change: Pick<LedgerRecord, "stage" | "settled">,
): boolean {
  if (record?.stage !== "settled") return true;
  return record.settled === "state" && change.stage === "settled";
}

/** How long a record stays `delivered`, in milliseconds. After that, its instance counts as in the state. */
export const deliveredMs = 30 * 24 * 60 * 60 * 1000;

/** The record as it counts at that date: settled, if it was delivered more than 30 days before. */
export function settleExpired(record: LedgerRecord, now: Date): LedgerRecord {
  const isExpired = now.getTime() - Date.parse(record.at) > deliveredMs;
  if (record.stage !== "delivered" || !isExpired) return record;
  return { ...record, stage: "settled", settled: "state" };
}

const hashMark = "secret:";

/** A name as a record holds it: a name that the program made secret is hashed, keyed with the token (G8). */
export function recordedName(
  name: string,
  isSecret: boolean,
  { apiToken }: Pick<Settings, "apiToken">,
): string {
  return isSecret ? hashMark + keyedFingerprint(apiToken, name, 32) : name;
}

/** Whether the name of a record is a hash. */
export function isHashedName(recorded: string): boolean {
  return recorded.startsWith(hashMark);
}

/** A name for a message. A secret one is left out, since the redaction does not find very short names. */
export function displayName(name: string, isSecret: boolean): string {
  return isSecret ? redactionMark : name;
}

/** The name of a record for a message. */
export function displayRecordedName(recorded: string): string {
  return displayName(recorded, isHashedName(recorded));
}
