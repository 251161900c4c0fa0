/**
 * Where an instance lives: kept in the state as `__origin`, so that a state is never judged by the
 * listing of another service, tenant or token kind (G3).
 */
import * as z from "zod";
import type { Settings } from "./config/settings";
import { keyedFingerprint } from "./fingerprint";
import { propertyMap, reveal, type PropertyMap } from "./propertyValue";

export const originSchema = z.object({
  baseUrl: z.string(),
  tokenKind: z.string(),
  tokenHash: z.string(),
  account: z.string().optional(),
});
export type Origin = z.infer<typeof originSchema>;

/** A service, and which of its two worlds. */
export type Place = Pick<Origin, "baseUrl" | "tokenKind">;

export function isSamePlace(one: Place, other: Place): boolean {
  return one.baseUrl === other.baseUrl && one.tokenKind === other.tokenKind;
}

export const originKey = "__origin";

/** Tells two tokens apart. */
export function tokenHash({ apiToken, baseUrl }: Pick<Settings, "apiToken" | "baseUrl">): string {
  return keyedFingerprint(apiToken, baseUrl, 12);
}

export function originToState(origin: Origin): PropertyMap {
  return propertyMap(origin);
}

/** Absent in states that no instance of this provider wrote, as during an import. */
export function originFromState(outputs: PropertyMap | undefined): Origin | undefined {
  const parsed = originSchema.safeParse(outputs && reveal(outputs[originKey] ?? null));
  return parsed.success ? parsed.data : undefined;
}

/** How the place the state tells of differs from the one configured now; undefined: it does not. */
export function originDifference(state: Origin, now: Origin): string | undefined {
  if (state.baseUrl !== now.baseUrl) {
    return `it lives at ${state.baseUrl}, but compute:baseUrl is ${now.baseUrl}`;
  }
  if (state.tokenKind !== now.tokenKind) {
    return `it was made with a ${state.tokenKind} token, but the token given now is a ${now.tokenKind} one`;
  }
  if (state.account !== undefined && now.account !== undefined && state.account !== now.account) {
    return `it belongs to account ${state.account}, but the token given now is of account ${now.account} (where these are users of one tenant, set compute:validateCredentials to false: accounts are then not compared)`;
  }
  return undefined;
}
