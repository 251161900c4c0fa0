/**
 * Where an instance comes from: the service and the token. The listing of another service, tenant or token kind proves
 * nothing about an instance (G3).
 */
import * as z from "zod";
import { keyedFingerprint } from "./fingerprint";

/** The schema of an `Origin`, for the state and the ledger. */
export const originSchema = z.object({
  baseUrl: z.string(),
  tokenKind: z.string(),
  tokenHash: z.string(),
  account: z.string().optional(),
});
/** The service of an instance, and the token that it was seen with: kind, hash and, if known, account. */
export type Origin = z.infer<typeof originSchema>;

/** The part of an origin without which no listing shows the instance. */
type ServiceAndKind = Pick<Origin, "baseUrl" | "tokenKind">;

/** Whether service and token kind are the same. The tokens and accounts may differ. */
export function isSameOrigin(one: ServiceAndKind, other: ServiceAndKind): boolean {
  return one.baseUrl === other.baseUrl && one.tokenKind === other.tokenKind;
}

/** Returns a hash of token and service, which does not give the token away, but confirms a guess (SECURITY.md). */
export function tokenHash(settings: { apiToken: string; baseUrl: string }): string {
  return keyedFingerprint(settings.apiToken, settings.baseUrl, 12);
}

/**
 * Returns how the recorded origin differs from the configured one, as clauses about the instance ("it lives at …"), or
 * undefined if they do not, or if none is recorded. Tokens of one kind differ only if their accounts are known and differ.
 * `addressName` is what the clause calls the configured address.
 */
export function originDifference(
  recorded: Origin | undefined,
  configured: Origin,
  addressName: string,
): string | undefined {
  if (!recorded) return undefined;
  const differences = [
    recorded.baseUrl !== configured.baseUrl &&
      `it lives at ${recorded.baseUrl}, but ${addressName} is ${configured.baseUrl}`,
    recorded.tokenKind !== configured.tokenKind &&
      `it was made with a ${recorded.tokenKind} token, but the token given now is a ${configured.tokenKind} one`,
  ].filter((difference) => difference !== false);
  if (differences.length > 0) return differences.join("; ");
  const [account, other] = [recorded.account, configured.account];
  if (account !== undefined && other !== undefined && account !== other) {
    return `it belongs to account ${account}, but the token given now is of account ${other}`;
  }
  return undefined;
}
