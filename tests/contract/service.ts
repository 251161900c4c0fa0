/**
 * What the contract suite talks to: the emulator, started here, or the real service when
 * COMPUTE_BASE_URL and a sandbox COMPUTE_API_TOKEN are set. Plain fetch and literal values only: the
 * suite must not share an error with the client, the emulator or the contract types.
 */
import { startEmulator, VirtualClock, type Emulator } from "../../emulator/index";

const { env } = process;

/** A live token costs money: with one, the suite stays with the emulator. */
export const real =
  env["COMPUTE_BASE_URL"] !== undefined && (env["COMPUTE_API_TOKEN"] ?? "").startsWith("sk_test_");

/** What the real service knows under other names than the emulator. */
export const flavor = env["COMPUTE_FLAVOR_ID"] ?? "flavor-small";
export const image = env["COMPUTE_IMAGE_ID"] ?? "image-debian";
export const vpc = env["COMPUTE_VPC_ID"] ?? "vpc-1";
/** Creating there needs ids that exist there. */
export const canCreate =
  !real || ["FLAVOR", "IMAGE", "VPC"].every((what) => env[`COMPUTE_${what}_ID`] !== undefined);

export interface Service {
  base: string;
  /** A sandbox token. */
  token: string;
  /** Absent with the real service. */
  emulator: Emulator | undefined;
  clock: VirtualClock;
}

export async function startService(): Promise<Service> {
  const clock = new VirtualClock();
  if (real) {
    const base = (env["COMPUTE_BASE_URL"] ?? "").replace(/\/+$/, "");
    return { base, token: env["COMPUTE_API_TOKEN"] ?? "", emulator: undefined, clock };
  }
  const emulator = await startEmulator({
    clock,
    provisioningSeconds: 10,
    tokens: {
      sk_test_revoked: { state: "revoked" },
      sk_test_expired: { expiresAt: clock.now() - 1 },
      sk_test_nothing: { scopes: [] },
    },
  });
  return { base: emulator.url, token: "sk_test_contract_1", emulator, clock };
}

export interface Reply {
  status: number;
  contentType: string;
  /** The body read as JSON, or its text where it is something else. */
  body: unknown;
}

export interface Call {
  method?: string;
  /** Of the Authorization header, with its scheme; undefined for no header. */
  authorization?: string | undefined;
  body?: string;
}

/** `path` comes after the version, as in `/instances?limit=5`. Refuses to POST with a live token. */
export async function call(base: string, path: string, request: Call): Promise<Reply> {
  const { method = "GET", authorization, body } = request;
  if (method !== "GET" && authorization?.includes("sk_live_") === true)
    throw new Error("The contract suite writes nothing with a live token.");
  const response = await fetch(`${base}${path}`, {
    method,
    headers: {
      ...(authorization === undefined ? {} : { Authorization: authorization }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    ...(body === undefined ? {} : { body }),
  });
  const contentType = response.headers.get("content-type") ?? "";
  return { status: response.status, contentType, body: jsonOrText(await response.text()) };
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
