/** Who sends a request ("Authentication"). */
import { tokenKindOf, tokenPrefixes, type TokenKind } from "../provider/api/contract";
import type { EmulatorClock } from "./clock";
import { ServiceError } from "./http/response";

/** "Names and list of scopes: not shown", so these are the emulator's own: one for each call. */
export const scopes = ["account", "list", "create", "destroy"] as const;

/** The privilege for one call. */
export type Scope = (typeof scopes)[number];

/** What a test declares about a token. */
export interface TokenDeclaration {
  /** `valid` by default. */
  state?: "valid" | "revoked" | "expired" | undefined;
  /** Milliseconds since 1970, after which the token has expired. */
  expiresAt?: number | undefined;
  /** All scopes by default. */
  scopes?: readonly Scope[] | undefined;
  /** Taken from the token's text by default. */
  tenant?: string | undefined;
}

/** Whose an instance is. Live and sandbox instances of one tenant are kept apart. */
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

/** The tenant of a token whose text names none. */
export const defaultTenant = "default";

/** `sk_live_<tenant>_<rest>` names its tenant; any other token belongs to `default`. */
export function tenantOf(token: string): string {
  const kind = tokenKindOf(token);
  if (kind === undefined) return defaultTenant;
  const [, tenant] = /^([^_]+)_.+$/.exec(token.slice(tokenPrefixes[kind].length)) ?? [];
  return tenant ?? defaultTenant;
}

/** The kind of a well-formed token; undefined for a text that can't be a token of the service. */
export function parseTokenKind(token: string): TokenKind | undefined {
  const kind = tokenKindOf(token);
  return kind !== undefined && token.length > tokenPrefixes[kind].length ? kind : undefined;
}

/** The token in an Authorization header, valid or not; undefined if the header holds none. */
export function parseBearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer ([\x21-\x7e]+)$/.exec(authorization ?? "")?.[1];
}

/** The declared tokens. Other tokens are valid if well-formed, unless only declared ones are. */
export class TokenRegistry {
  readonly #declarations: Map<string, TokenDeclaration>;
  readonly #onlyDeclared: boolean;
  readonly #clock: EmulatorClock;

  constructor(
    declarations: Readonly<Record<string, TokenDeclaration>>,
    onlyDeclared: boolean,
    clock: EmulatorClock,
  ) {
    this.#declarations = new Map(Object.entries(declarations));
    this.#onlyDeclared = onlyDeclared;
    this.#clock = clock;
  }

  declare(token: string, declaration: TokenDeclaration): void {
    this.#declarations.set(token, declaration);
  }

  /**
   * Rules 1 to 4 of "Authentication".
   * @throws {ServiceError} a 401 that does not repeat the token
   */
  authenticate(authorization: string | undefined): Caller {
    if (authorization === undefined)
      throw unauthorized("missing_token", "The header Authorization: Bearer <API_KEY> is missing.");
    const token = parseBearerToken(authorization) ?? "";
    const kind = parseTokenKind(token);
    const declaration = this.#declarations.get(token);
    if (kind === undefined || (declaration === undefined && this.#onlyDeclared))
      throw unauthorized("invalid_token", "The token is invalid.");
    if (declaration?.state === "revoked")
      throw unauthorized("revoked_token", "The token has been revoked.");
    const { state, expiresAt = Infinity, tenant = tenantOf(token) } = declaration ?? {};
    if (state === "expired" || expiresAt <= this.#clock.now())
      throw unauthorized("expired_token", "The token has expired.");
    return { owner: { tenant, kind }, token, scopes: declaration?.scopes ?? scopes };
  }
}

function unauthorized(code: string, message: string): ServiceError {
  return new ServiceError(401, code, message, { "WWW-Authenticate": "Bearer" });
}
