/**
 * The service that the contract tests call: the real one if COMPUTE_BASE_URL and a sandbox COMPUTE_API_TOKEN are set, else
 * the emulator, which is started here. The tests use plain fetch and literal values, so that they share no bug with the
 * client, the emulator or the types of the contract.
 */
import { startEmulator, type Emulator } from "../../emulator/index";
import { TestClock } from "../../emulator/testClock";

const { env } = process;

/** Whether the real service is tested. With a live token, which costs money, it is the emulator. */
export const real =
  env["COMPUTE_BASE_URL"] !== undefined && (env["COMPUTE_API_TOKEN"] ?? "").startsWith("sk_test_");

/** The ids of inputs, which are different in the real service. */
export const flavor = env["COMPUTE_FLAVOR_ID"] ?? "flavor-small";
export const image = env["COMPUTE_IMAGE_ID"] ?? "image-debian";
export const vpc = env["COMPUTE_VPC_ID"] ?? "vpc-1";
/** Whether instances can be created. In the real service, that needs ids that exist there. */
export const canCreate =
  !real || ["FLAVOR", "IMAGE", "VPC"].every((what) => env[`COMPUTE_${what}_ID`] !== undefined);

/** The service under test. */
export interface Service {
  base: string;
  /** A sandbox token. */
  token: string;
  /** Undefined for the real service. */
  emulator: Emulator | undefined;
  clock: TestClock;
}

export async function startService(): Promise<Service> {
  const clock = new TestClock();
  if (real) {
    const base = (env["COMPUTE_BASE_URL"] ?? "").replace(/\/+$/, "");
    return { base, token: env["COMPUTE_API_TOKEN"] ?? "", emulator: undefined, clock };
  }
  const emulator = await startEmulator({
    clock,
    provisioningSeconds: 10,
    tokens: {
      sk_test_revoked: { state: "revoked" },
      sk_test_expired: { state: "expired" },
      sk_test_nothing: { scopes: [] },
    },
  });
  return { base: emulator.url, token: "sk_test_contract_1", emulator, clock };
}

/** A response. */
export interface Reply {
  status: number;
  contentType: string;
  /** The parsed body, or its text if it is not JSON. */
  body: unknown;
}

/** A request. */
export interface Call {
  method?: string;
  /** The Authorization header, with its scheme. Without it, no header is sent. */
  authorization?: string | undefined;
  body?: string;
}

/** Sends a request. `path` follows the version, as in `/instances?limit=5`. @throws for a write with a live token */
export async function call(base: string, path: string, request: Call): Promise<Reply> {
  const { method = "GET", authorization, body } = request;
  if (method !== "GET" && authorization?.includes("sk_live_") === true)
    throw new Error("The contract tests write nothing with a live token.");
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
