/**
 * What `pulumi-compute-instances/testing` of the npm package exports, for tests of Pulumi programs. The declarations in a
 * user's editor are made from this file, so it names no type of another file.
 */
import { startEmulator as start } from "./index";

/** The options of `startEmulator`. */
export interface EmulatorOptions {
  /** The port to listen on. The default is any free port. */
  port?: number;
  /** How many seconds an instance stays in PROVISIONING. The default is 0. `Infinity` lasts until `finishProvisioning()`. */
  provisioningSeconds?: number;
  /** The rate limit of each endpoint. The default is the documented one, 1000. */
  requestsPerMinute?: number;
  /** The path of a DELETE, such as `/v2/instances/{id}`. The service has none, so the default is none. */
  destroyPath?: string;
  /**
   * The net of the public addresses, such as `127.0.0.0/8`: a program of this machine can listen there, for `waitForPort`.
   * macOS has only 127.0.0.1 (`127.0.0.1/32`). By default, nothing answers at the addresses.
   */
  addresses?: string;
}

/** Which requests a fault applies to, and how often. In `path` and `name`, `*` stands for any characters. */
export interface FaultConditions {
  /** The method, such as `POST` (a create) or `GET` (a listing). The default is any method. */
  method?: string;
  /** The path, such as `/v2/instances`. The default is any path. */
  path?: string;
  /** The name in the body of a POST. The default is any name. */
  name?: string;
  /** How many of these requests pass before the fault begins. The default is 0. */
  after?: number;
  /** How many requests the fault applies to. The default is 1. With "always", it lasts until it is removed. */
  times?: number | "always";
}

/** A way in which the service misbehaves. `acted` says whether the service first does what the request asks for. */
export type Misbehavior =
  /** An error response, such as 429 with `retryAfter` in seconds, or 503. `code` and `message` are those of its body. */
  | {
      kind: "status";
      status: number;
      retryAfter?: number;
      code?: string;
      message?: string;
      acted?: boolean;
    }
  /** The response is lost, because the connection breaks. With `acted: true`, the service has made the instance before. */
  | { kind: "reset"; acted?: boolean }
  /** No response comes, until the caller gives up. With `acted: true`, the service has made the instance before. */
  | { kind: "hang"; acted?: boolean }
  /** The response comes after a delay. */
  | { kind: "delay"; milliseconds: number; acted?: boolean }
  /** The instance of a POST never becomes ready. */
  | { kind: "neverLeavesProvisioning" }
  /** The instance of a POST ends with this status, such as `OFFLINE`. */
  | { kind: "endsAs"; status: string }
  /** Listings do not show the instance of a POST for so many seconds. */
  | { kind: "appearsAfter"; seconds: number }
  /** The 202 to a POST is that of an older instance: the oldest one with this id or name. The default is any. */
  | { kind: "existingId"; instance?: string; acted?: boolean }
  /** A listing lacks the instances with this id or name (`*` stands for any characters). The default is all. */
  | { kind: "omitItem"; instance?: string }
  /** A listing shows the instances with this id or name without their public address. The default is all. */
  | { kind: "omitAddress"; instance?: string; instead?: string };

/** A misbehavior, and the requests that it applies to. */
export type Fault = Misbehavior & FaultConditions;

/** A fault that is, or was, switched on. */
export interface ActiveFault {
  /** How many requests have met the fault. */
  readonly hits: number;
  /** Resolves when a request meets the fault for the first time. */
  readonly firstHit: Promise<void>;
  remove(): void;
}

/** A request that the emulator got, without its token and its body. */
export interface EmulatorRequest {
  method: string;
  path: string;
  query: Record<string, string>;
  /** When the request arrived, in milliseconds since 1970. */
  at: number;
  /** The name in the body of a POST. */
  name: string | undefined;
  /** The HTTP status of the response. Undefined as long as no response was sent, and after a broken connection. */
  status: number | undefined;
  /** True if the service carried out or refused the request. False if a fault answered in its place. */
  acted: boolean;
}

/** An instance of the emulated service, with the names that the service uses. */
export interface EmulatedInstance {
  id: string;
  name: string;
  /** `PROVISIONING`, `ACTIVE` or `OFFLINE`, or what `insert`, `setStatus` or an `endsAs` fault has set. */
  status: string;
  /** The kind of the token that made the instance: `live` or `test`. */
  tokenKind: string;
  ipv4_public: string;
  networks: { type: string; ipv4: string; mac_address: string }[];
  /** When the instance was made: ISO 8601, UTC. */
  created_at: string;
  /** The body of the POST that made the instance. `user_data` is Base64. */
  request: {
    name?: string;
    flavor_id?: string;
    image_id?: string;
    vpc_id?: string;
    ssh_keys?: string[] | undefined;
    user_data?: string | undefined;
  };
}

/** A running emulator. */
export interface Emulator {
  /** The address for `compute:baseUrl` or COMPUTE_BASE_URL, such as `http://127.0.0.1:41234/v2`. */
  readonly url: string;
  /** A test token for `compute:apiToken` or COMPUTE_API_TOKEN. The emulator accepts any `sk_test_…` and `sk_live_…`. */
  readonly token: string;
  /** The instances that exist now, oldest first. */
  instances(): EmulatedInstance[];
  /** Adds an instance as if another tool had created it. The default status is `ACTIVE`. */
  insert(instance: { name: string; id?: string; status?: string }): EmulatedInstance;
  /** Renames an instance, as by hand. Returns false if no instance has this id, as `setStatus` and `remove` do. */
  rename(id: string, name: string): boolean;
  setStatus(id: string, status: string): boolean;
  remove(id: string): boolean;
  /** The requests since the start or the last `forgetRequests`, oldest first. */
  requests(): EmulatorRequest[];
  forgetRequests(): void;
  /** Makes all instances ready that are in PROVISIONING now, except those that never become ready. */
  finishProvisioning(): void;
  /** @throws {Error} if the fault is not valid. The message says what is wrong. */
  fault(fault: Fault): ActiveFault;
  clearFaults(): void;
  /** Stops the emulator, and breaks open connections. */
  close(): Promise<void>;
}

/**
 * Starts an emulator of the Compute Instances Service in this process, with its instances in memory. Rejects with an Error
 * if an option is wrong, or if the port is in use.
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await start({ provisioningSeconds: 0, ...options });
  const { control } = emulator;
  return {
    url: emulator.url,
    token: "sk_test_emulator",
    instances: () => control.instances(),
    insert: (instance) => control.insert(instance),
    rename: (id, name) => control.rename(id, name),
    setStatus: (id, status) => control.setStatus(id, status),
    remove: (id) => control.remove(id),
    requests: () => [...control.requests()],
    forgetRequests: () => control.forgetRequests(),
    finishProvisioning: () => control.finishProvisioning(),
    fault: (fault) => control.fault(fault),
    clearFaults: () => control.clearFaults(),
    close: () => emulator.close(),
  };
}
