/** Who is asking, by the part "Authentication" of the document. */
import { tokenKindOf, tokenPrefixes, type TokenKind } from "../provider/api/contract";
import { forbidden, unauthorized } from "./http/answers";
import type { EmulatorClock } from "./clock";

/** "Names and list of scopes: not shown", so these are ours: one for each call there is. */
export const scopes = ["account", "list", "create", "destroy"] as const;
export type Scope = (typeof scopes)[number];

export interface TokenDeclaration {
  /** `valid` unless said otherwise. */
  state?: "valid" | "revoked" | "expired" | undefined;
  /** Milliseconds since 1970, after which the token has expired. */
  expiresAt?: number | undefined;
  /** All of them unless said otherwise. */
  scopes?: readonly Scope[] | undefined;
  /** Taken from the token's text unless said otherwise. */
  tenant?: string | undefined;
}

/** The holder of a token. Instances belong to a tenant and a kind: sandbox ones are apart. */
export interface Caller {
  tenant: string;
  kind: TokenKind;
  token: string;
  scopes: readonly Scope[];
}

export const defaultTenant = "default";

/** `sk_live_<tenant>_<rest>` names its tenant; any other token belongs to `default`. */
export function tenantOf(token: string): string {
  const kind = tokenKindOf(token);
  if (kind === undefined) return defaultTenant;
  const [, tenant] = /^([^_]+)_.+$/.exec(token.slice(tokenPrefixes[kind].length)) ?? [];
  return tenant ?? defaultTenant;
}

/** Nothing for what can be no token of the service. */
export function wellFormedKind(token = ""): TokenKind | undefined {
  const kind = tokenKindOf(token);
  return kind !== undefined && token.length > tokenPrefixes[kind].length ? kind : undefined;
}

/** The token of a header, when there is one; says nothing on whether it is any good. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer ([\x21-\x7e]+)$/.exec(authorization ?? "")?.[1];
}

export class TokenBook {
  private readonly declared: Map<string, TokenDeclaration>;

  constructor(
    tokens: Readonly<Record<string, TokenDeclaration>>,
    private readonly onlyDeclared: boolean,
    private readonly clock: EmulatorClock,
  ) {
    this.declared = new Map(Object.entries(tokens));
  }

  declare(token: string, declaration: TokenDeclaration): void {
    this.declared.set(token, declaration);
  }

  /** Rules 1 to 4; a failure is a 401 that does not repeat the token. */
  identify(authorization: string | undefined): Caller {
    if (authorization === undefined)
      throw unauthorized("missing_token", "The header Authorization: Bearer <API_KEY> is missing.");
    const token = bearerToken(authorization);
    const kind = wellFormedKind(token);
    if (token === undefined || kind === undefined)
      throw unauthorized("invalid_token", "The token is invalid.");
    const declaration = this.declared.get(token);
    if (declaration === undefined && this.onlyDeclared)
      throw unauthorized("invalid_token", "The token is invalid.");
    if (declaration?.state === "revoked")
      throw unauthorized("revoked_token", "The token has been revoked.");
    if (
      declaration?.state === "expired" ||
      (declaration?.expiresAt ?? Infinity) <= this.clock.now()
    )
      throw unauthorized("expired_token", "The token has expired.");
    return {
      tenant: declaration?.tenant ?? tenantOf(token),
      kind,
      token,
      scopes: declaration?.scopes ?? scopes,
    };
  }
}

/** Rule 5. */
export function requireScope(caller: Caller, scope: Scope): void {
  if (!caller.scopes.includes(scope))
    throw forbidden(`The token lacks the privilege "${scope}" for this action.`);
}
