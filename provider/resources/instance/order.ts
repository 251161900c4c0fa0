/** What a create asks for, and what it comes to. */
import type { Accepted } from "../../api/client";
import type { ListItem } from "../../api/contract";
import { keyedFingerprint } from "../../fingerprint";
import type { JournalEntry } from "../../journal/entry";
import type { Session } from "../../session/session";
import { createBodyOf, type InstanceArgs } from "./definition";
import { isGeneratedName } from "./naming";
import type { Wanted } from "./settle";

export interface Order {
  urn: string;
  args: InstanceArgs;
  /** Whether the program made the name a secret. */
  secretName: boolean;
  /** Keyed digest of what is asked for. */
  digest: string;
}

export interface Provisioned {
  accepted: Accepted;
  /** Listings begun before this mark need not show the instance. */
  after: number;
  /** Where a POST was left open on the way: what a last look compares with (G2). */
  wasOpen?: Wanted;
}

/**
 * Keyed with the token, since it covers the user data; a generated name is left out, as the next run
 * makes another.
 */
export function digestOf(session: Session, urn: string, args: InstanceArgs): string {
  const { name, ssh_keys, ...rest } = createBodyOf(args);
  const order = {
    ...rest,
    ssh_keys: [...(ssh_keys ?? [])].sort(),
    name: isGeneratedName(urn, name) ? null : name,
  };
  return keyedFingerprint(session.settings.apiToken, JSON.stringify(order), 32);
}

/** An instance known from the list; what only the 202 shows of it is lost, but for what was noted. */
export function adopted(
  session: Session,
  { id, name, status }: ListItem,
  noted: JournalEntry["accepted"] = { networks: [] },
): Provisioned {
  session.creates.noteTakenOver(id);
  return { accepted: { id, name, status, ...noted }, after: 0 };
}
