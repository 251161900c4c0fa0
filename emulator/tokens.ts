/** Tokens and the authentication of a request (section "Authentication" of the service's document). */
import { tokenKindOf, tokenPrefixes, type TokenKind } from "../provider/api/serviceConstants";
import { ServiceError } from "./http/response";

/** "Names and list of scopes: not shown", so these are invented: one for each call. */
export const scopes = ["account", "list", "create", "destroy"] as const;

/** The privilege for one call. */
export type Scope = (typeof scopes)[number];

export const tokenStates = ["valid", "revoked", "expired"] as const;

/** What a test or `--token` says about a token. By default it is valid, and has all scopes. */
export interface TokenDeclaration {
  state?: (typeof tokenStates)[number] | undefined;
  scopes?: readonly Scope[] | undefined;
}

/** The owner of an instance. Live and sandbox instances of one tenant are separate. */
export interface Owner {
  tenant: string;
  kind: TokenKind;
}

/** The holder of a token. */
export interface Caller {
  owner: Owner;
  token: string;
  scopes: readonly Scope[];
}

export const defaultTenant = "default";

/** Returns the `<tenant>` of a token `sk_live_<tenant>_<rest>` or `sk_test_<tenant>_<rest>`, and `default` for any other. */
export function tenantOf(token: string): string {
  const kind = tokenKindOf(token);
  if (kind === undefined) return defaultTenant;
  const [, tenant] = /^([^_]+)_.+$/.exec(token.slice(tokenPrefixes[kind].length)) ?? [];
  return tenant ?? defaultTenant;
}

/** Returns the kind of a well-formed token, or undefined. */
function parseTokenKind(token: string): TokenKind | undefined {
  const kind = tokenKindOf(token);
  return kind !== undefined && token.length > tokenPrefixes[kind].length ? kind : undefined;
}

/** Returns the token in an Authorization header, valid or not, or undefined if there is none. */
export function parseBearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer ([\x21-\x7e]+)$/.exec(authorization ?? "")?.[1];
}

/** The declared tokens. Other tokens are valid if they are well-formed. */
export class TokenRegistry {
  readonly #declarations: Map<string, TokenDeclaration>;

  constructor(declarations: Readonly<Record<string, TokenDeclaration>>) {
    this.#declarations = new Map(Object.entries(declarations));
  }

  declare(token: string, declaration: TokenDeclaration): void {
    this.#declarations.set(token, declaration);
  }

  /** @throws {ServiceError} 401 (rules 1 to 4 of section "Authentication"), with a message without the token */
  authenticate(authorization: string | undefined): Caller {
    if (authorization === undefined)
      throw unauthorized("missing_token", "The header Authorization: Bearer <API_KEY> is missing.");
    const token = parseBearerToken(authorization) ?? "";
    const kind = parseTokenKind(token);
    if (kind === undefined) throw unauthorized("invalid_token", "The token is invalid.");
    const declaration = this.#declarations.get(token);
    if (declaration?.state === "revoked")
      throw unauthorized("revoked_token", "The token has been revoked.");
    if (declaration?.state === "expired")
      throw unauthorized("expired_token", "The token has expired.");
    const owner = { tenant: tenantOf(token), kind };
    return { owner, token, scopes: declaration?.scopes ?? scopes };
  }
}

function unauthorized(code: string, message: string): ServiceError {
  return new ServiceError(401, code, message, { "WWW-Authenticate": "Bearer" });
}
