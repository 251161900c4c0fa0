/**
 * Where an instance comes from. The outputs in the state record it: `__origin` has the service and a hash of the token,
 * and `__run` has the id of the session. An instance is never judged by the listing of another service, tenant or token
 * kind, because nothing is forgotten on weak evidence (G3).
 */
import * as z from "zod";
import type { Settings } from "./config/settings";
import { keyedFingerprint } from "./fingerprint";
import { propertyMap, reveal, type PropertyMap } from "./propertyValue";

/** The schema of an `Origin` that is read from a state or from the ledger. */
export const originSchema = z.object({
  baseUrl: z.string(),
  tokenKind: z.string(),
  tokenHash: z.string(),
  account: z.string().optional(),
});
/**
 * The service of an instance, the kind and the hash of the token that it was seen with and, if known, the token's
 * account.
 */
export type Origin = z.infer<typeof originSchema>;

/** A service, and one of its two kinds of token (live or test). */
export type Place = Pick<Origin, "baseUrl" | "tokenKind">;

/** Whether both have the same service and token kind. */
export function isSamePlace(one: Place, other: Place): boolean {
  return one.baseUrl === other.baseUrl && one.tokenKind === other.tokenKind;
}

/**
 * Returns a hash that differs between tokens and between services. The token can't be computed from it, but a guess of
 * the token can be tested against it (SECURITY.md says so).
 */
export function tokenHash({ apiToken, baseUrl }: Pick<Settings, "apiToken" | "baseUrl">): string {
  return keyedFingerprint(apiToken, baseUrl, 12);
}

/** The key of the outputs under which the origin is recorded. */
export const originKey = "__origin";

/** Returns the origin as the value for `originKey` in the outputs. */
export function originToState(origin: Origin): PropertyMap {
  return propertyMap(origin);
}

/** Returns the origin in these outputs, or undefined if the outputs have no origin, as in an import. */
export function originFromState(outputs: PropertyMap | undefined): Origin | undefined {
  const parsed = originSchema.safeParse(outputs && reveal(outputs[originKey] ?? null));
  return parsed.success ? parsed.data : undefined;
}

/**
 * Returns how the recorded origin differs from the configured one, as a clause about the instance
 * ("it lives at …"), or undefined if they do not differ. Two tokens of one kind are no difference, unless
 * their accounts are known and differ.
 */
export function originDifference(recorded: Origin, configured: Origin): string | undefined {
  if (recorded.baseUrl !== configured.baseUrl) {
    return `it lives at ${recorded.baseUrl}, but compute:baseUrl is ${configured.baseUrl}`;
  }
  if (recorded.tokenKind !== configured.tokenKind) {
    return `it was made with a ${recorded.tokenKind} token, but the token given now is a ${configured.tokenKind} one`;
  }
  if (
    recorded.account !== undefined &&
    configured.account !== undefined &&
    recorded.account !== configured.account
  ) {
    return `it belongs to account ${recorded.account}, but the token given now is of account ${configured.account} (if the accounts are users of one tenant, set compute:validateCredentials to false: accounts are then not compared)`;
  }
  return undefined;
}

/**
 * The key of the outputs under which the stamp is recorded. The stamp is the id of the session that created, took over
 * or imported the instance.
 */
const stampKey = "__run";

/** Returns the outputs of a Create or of an import, with the stamp of the session. */
export function stamped(outputs: PropertyMap, sessionId: string): PropertyMap {
  return propertyMap({ ...outputs, [stampKey]: sessionId });
}

/** Returns the stamp in these outputs, which is a session's id, or undefined if there is none. */
export function stampOf(outputs: PropertyMap | undefined): string | undefined {
  const stamp = reveal(outputs?.[stampKey] ?? null);
  return typeof stamp === "string" && stamp !== "" ? stamp : undefined;
}

/**
 * Whether it is proven that a state held these outputs. Only the stamp of another session proves it: the
 * engine also sends ids that no state holds (a previewed import, a `.get()`), and outputs with this session's own
 * stamp have possibly not been saved yet.
 */
export function wasInState(outputs: PropertyMap, sessionId: string): boolean {
  const stamp = stampOf(outputs);
  return stamp !== undefined && stamp !== sessionId;
}
