/** What the ledger knows of one create. It holds no secrets (G8). */
import * as z from "zod";
import type { Settings } from "../config/settings";
import { keyedFingerprint } from "../fingerprint";
import { originSchema } from "../origin";
import { redactionMark } from "../redaction";

/** A session's id is part of file names. */
const sessionSchema = z.string().regex(/^\w+$/);

export const recordSchema = z.object({
  ...originSchema.shape,
  /** `<session>-<n>`: what `discard` takes. */
  key: z.string(),
  /** The session that began the create; the record stays in its file. */
  session: sessionSchema,
  /** The session that drives it now: `session`, until another takes the record over. */
  owner: sessionSchema,
  /** The id of the provider resource: the same in every run of a stack, another one in each stack. */
  scope: z.string().optional(),
  /** Begun by `pulumi do --stateless`, whose creates share a URN and nothing else. */
  stateless: z.literal(true).optional(),
  urn: z.string(),
  /** The program's own provider of the resource, for the commands that name it. */
  provider: z.string().optional(),
  /** Hashed where the program made it secret (`notedName.ts`). */
  name: z.string(),
  /** Who chose the name: this provider, the engine (`pulumi:autonaming`), or the program. */
  kind: z.enum(["generated", "proposed", "explicit"]),
  /** Keyed digest of what was asked for, to tell whether the program still asks for the same. */
  digest: z.string(),
  /** Ids of the instances that had this name in the last listing before the POST. */
  before: z.array(z.string()),
  /** Whether that listing was complete. */
  beforeComplete: z.boolean(),
  /** When the POST was about to be sent or, once it has ended, when that was (ISO 8601). */
  at: z.string(),
  /**
   * `sending`, `unknown`: whether the service acted is not known. `accepted`: the instance is known, and
   * no engine was told. `replied`: an engine was given its id, by a reply to Create or by an import, and
   * may have saved it. `delivered`: the reply was written before an orderly end. `settled`: see `settled`.
   * `refused`: the service refused, nothing was made.
   */
  stage: z.enum(["sending", "unknown", "accepted", "replied", "delivered", "settled", "refused"]),
  id: z.string().optional(),
  /** What only the 202 shows; kept for the run that takes the record over. */
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
export type LedgerRecord = z.infer<typeof recordSchema>;
export type SettleReason = NonNullable<LedgerRecord["settled"]>;

/** What a create tells of itself when it begins; the ledger adds the rest. */
export type NewRecord = Omit<LedgerRecord, "key" | "session" | "owner" | "stage">;

/** Whether the create is pending: nothing has shown yet what became of it. */
export function isPending({ stage }: Pick<LedgerRecord, "stage">): boolean {
  return ["sending", "unknown", "accepted", "replied"].includes(stage);
}

/**
 * Whether a record may be changed so. `settled` is the end, except that what a state held may be settled
 * anew: as gone, dropped or discarded.
 */
export function isAllowedChange(
  record: Pick<LedgerRecord, "stage" | "settled"> | undefined,
  change: Pick<LedgerRecord, "stage" | "settled">,
): boolean {
  if (record?.stage !== "settled") return true;
  return record.settled === "state" && change.stage === "settled";
}

/** After that, what was delivered counts as being in the state. */
export const deliveredMs = 30 * 24 * 60 * 60 * 1000;

/** The record as it counts at that date. */
export function settleExpired(now: Date, record: LedgerRecord): LedgerRecord {
  if (record.stage !== "delivered") return record;
  if (now.getTime() - Date.parse(record.at) <= deliveredMs) return record;
  return { ...record, stage: "settled", settled: "state" };
}

const hashed = "secret:";

type Key = Pick<Settings, "apiToken">;

export function recordedName(name: string, secret: boolean, key: Key): string {
  return secret ? hashed + keyedFingerprint(key.apiToken, name, 32) : name;
}

/** For a message: redaction alone passes over names that are too short to be looked for. */
export function displayName(name: string, secret: boolean): string {
  return secret ? redactionMark : name;
}

/** The same for a name as a record holds it. */
export function displayRecordedName(noted: string): string {
  return displayName(noted, isHashedName(noted));
}

export function isHashedName(noted: string): boolean {
  return noted.startsWith(hashed);
}
