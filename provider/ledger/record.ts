/**
 * What the ledger keeps of a create in doubt, and the rules about it, as pure functions. A record exists from before its create
 * looks at anything until nothing is in doubt. It holds no secrets (G8). The explorer (`tests/explorer/`) walks these rules.
 */
import * as z from "zod";
import type { Accepted } from "../api/contract";
import { fingerprint } from "../fingerprint";
import { originDifference, originSchema, type Origin } from "../origin";
import { stackOf } from "../pulumi/urn";
import { redactionMark } from "../redaction";

/** Names the run that owns a record, by its process id. */
export function displayRun({ session }: Pick<LedgerRecord, "session">): string {
  const [, pid] = /^(\d+)_/.exec(session) ?? [];
  return pid === undefined ? "another run" : `another run (process ${pid})`;
}

/** The schema of a session's id, which is a part of file names. */
const sessionIdSchema = z.string().regex(/^\w+$/);

/** What a create knows of itself before it has looked at anything. */
const identitySchema = z.object({
  ...originSchema.shape,
  /** The owner: the session whose create this is. While it lives, it holds its lock. */
  session: sessionIdSchema,
  urn: z.string(),
  /** The id of the provider resource (`SessionOptions.scope`). */
  scope: z.string().optional(),
  /** The URN of the explicit provider resource. Undefined for the default provider. */
  provider: z.string().optional(),
  /** The instance's name. Left out if the program made it secret. */
  name: z.string().optional(),
  /** Who chose the name: this provider, the engine by `pulumi:autonaming`, or the program. */
  kind: z.enum(["generated", "proposed", "explicit"]),
  /** A digest of the inputs, keyed with the token: it shows whether the program still asks for the same instance. */
  digest: z.string(),
});

/** What only the response to the POST shows (section "POST /v2/instances" of the service's API document). */
const postOnlySchema = z.object({
  createdAt: z.string().optional(),
  networks: z.array(
    z.object({
      type: z.string(),
      ipv4: z.string().optional(),
      mac_address: z.string().optional(),
    }),
  ),
} satisfies Record<keyof Omit<Accepted, "id" | "name" | "status">, z.ZodType>);

/** The schema of a file of the ledger. */
export const recordSchema = z.object({
  ...identitySchema.shape,
  /** The ids of the instances that had this name or, if it was generated, the tag of the resource in the listing before the POST. */
  before: z.array(z.string()),
  /** The flavor that the POST asked for: that of the program, or a fallback. */
  flavor: z.string().optional(),
  /** When a POST was about to be sent or, once accepted, when it ended (ISO 8601). Undefined: none was sent. */
  at: z.string().optional(),
  /** The id of the instance, once it is known. */
  id: z.string().optional(),
  /** The session that has handed the id to its engine, in the reply to a Create. */
  givenBy: sessionIdSchema.optional(),
  accepted: postOnlySchema.optional(),
});

/** One create in doubt. */
export type LedgerRecord = z.infer<typeof recordSchema>;

/** What a create knows of itself before it has looked at anything. */
export type Identity = z.infer<typeof identitySchema>;

/** What may change while a session owns a record. */
export type Change = Partial<
  Pick<LedgerRecord, "before" | "flavor" | "at" | "id" | "givenBy" | "accepted">
>;

/** Whether a session is alive. "unknown" if locks can't show it. */
export type Liveness = "alive" | "dead" | "unknown";

/** A record, and whether its owner is alive. A session finds itself "alive". */
export interface Found {
  readonly record: LedgerRecord;
  readonly liveness: Liveness;
}

/** Returns the record of a create that has sent no POST yet, or whose POST surely made nothing. */
export function unsent(identity: Identity): LedgerRecord {
  return { ...identity, before: [] };
}

/** Returns the name of the record's file. It has the whole URN, since another version of the plugin has another scope. */
export function fileNameOf(urn: string): string {
  return `${fingerprint(urn, 32)}.json`;
}

/** Whether the session may make the record its own: it is that of an earlier call of its own, or of a session that is dead. */
export function mayTakeOver({ record, liveness }: Found, session: string): boolean {
  return record.session === session || liveness === "dead";
}

/**
 * Whether nothing is in doubt any more once the session ends in order: it has handed the id to its engine. A session that has
 * only taken the record over and then stopped has not.
 */
export function endsInOrder({ givenBy }: LedgerRecord, session: string): boolean {
  return givenBy === session;
}

/** What a call of the engine shows of an instance. */
export interface Shown {
  readonly id: string;
  readonly urn?: string | undefined;
  /** The id of the session that made or imported the instance, from the outputs in the call. */
  readonly stamp?: string | undefined;
  /** Where the outputs say that it lives: services may use equal ids. */
  readonly origin?: Origin | undefined;
}

/**
 * Whether a call that shows the instance ends the doubt. Only outputs with the stamp of another session prove that a state held
 * it. A live owner ends the doubt itself. Without an id in the record, as after a lost answer and an import by hand, the instance
 * is the POST's if it is its resource's, and the only one of the name that was not there before.
 *
 * @param namesakes the ids of all instances of the record's name. Undefined unless a complete listing from after the settling time
 *   of the POST shows them.
 */
export function endsDoubt(
  { record, liveness }: Found,
  { id, urn, stamp, origin }: Shown,
  session: string,
  namesakes?: ReadonlySet<string>,
): boolean {
  if (liveness !== "dead" || stamp === undefined || stamp === session) return false;
  if (originDifference(origin, record, "") !== undefined) return false;
  if (record.id !== undefined) return record.id === id;
  const [only, ...others] = [...(namesakes ?? [])].filter((one) => !record.before.includes(one));
  return urn === record.urn && only === id && others.length === 0;
}

/** The run that ends: its provider resource and its stack, if they are known. */
export interface EndingRun {
  readonly scope?: string | undefined;
  /** As `stackOf` returns it. */
  readonly stack?: string | undefined;
}

/** Whether the record of a run that is dead is of no use any more: no POST of it was sent. */
export function isIdle({ at }: LedgerRecord): boolean {
  return at === undefined;
}

/** Whether a run names the record of a dead one at its end: an earlier run of this stack, or of this provider resource, left it. */
export function isNamedAtEnd(record: LedgerRecord, { scope, stack }: EndingRun): boolean {
  const isOfScope = scope !== undefined && record.scope === scope;
  return isOfScope || stackOf(record.urn) === stack;
}

/** Returns the name of a record for a message. */
export function displayRecordedName({ name }: Pick<LedgerRecord, "name">): string {
  return name ?? redactionMark;
}
