/**
 * The Compute Instances Service as a program: `startEmulator` in a test's own process, or `npm run emulator` as a
 * process of its own (cli.ts). server.ts accepts requests and exchange.ts carries each of them to emulatedService.ts,
 * which calls one of the endpoints (endpoints.ts). faults/ makes things go wrong, and control/ is what tests see and
 * do beside the service. inProcess.ts is the same without sockets.
 */
import { Control } from "./control/control";
import { handleControlRequest, isControlPath } from "./control/routes";
import { EmulatedService } from "./emulatedService";
import { exchange } from "./exchange";
import { EmulatorServer } from "./http/server";
import type { EmulatorOptions } from "./options";

export { VirtualClock, type EmulatorClock } from "./clock";
export type { Control } from "./control/control";
export type { FaultScript } from "./faults/kinds";
export type { FaultHandle } from "./faults/script";
export { ListenError } from "./http/server";
export type { InstanceRecord } from "./instances/store";
export { OptionError, type EmulatorOptions } from "./options";
export type { LoggedRequest } from "./requestLog";
export type { TokenDeclaration } from "./tokens";

/** A running emulator. */
export interface Emulator extends AsyncDisposable {
  /** The base address to give to a client; it ends in `/v2`. */
  readonly url: string;
  readonly origin: string;
  readonly port: number;
  readonly control: Control;
  /** Counts of requests by method and path, such as `POST /v2/instances`. */
  counts(): Record<string, number>;
  /** Refuses connections on its port and drops the open ones, until `acceptConnections`. */
  refuseConnections(): Promise<void>;
  /** Refuses new connections until `acceptConnections`; open ones go on. */
  refuseNewConnections(): void;
  acceptConnections(): Promise<void>;
  /** Drops open connections. A database file stays. */
  close(): Promise<void>;
}

/** Rejects with an OptionError or a ListenError, whose messages are meant for a person. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const service = new EmulatedService(options);
  const { settings } = service;
  const control = new Control(service);
  const server: EmulatorServer = new EmulatorServer(
    (message, response) =>
      settings.controlEndpoints && isControlPath(message.url)
        ? handleControlRequest(control, message, response)
        : exchange(service, server.sleep, message, response),
    settings.host,
    settings.port,
    (error) => {
      settings.errorLog(`emulator bug: ${String(error)}`);
    },
  );

  let port: number;
  try {
    port = await server.listen();
  } catch (error) {
    service.close();
    throw error;
  }
  const origin = `http://${reachableHost(settings.host)}:${String(port)}`;
  let closed: Promise<void> | undefined;
  const close = () =>
    (closed ??= server.close().then(() => {
      service.close();
    }));
  return {
    url: `${origin}/v2`,
    origin,
    port,
    control,
    counts: () => control.counts(),
    refuseConnections: () => server.stop(),
    refuseNewConnections: () => {
      server.stopListening();
    },
    acceptConnections: async () => {
      if (!server.isListening && !closed) await server.listen();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The host for a URL. An emulator that listens on all addresses is reached on loopback, where plain http is allowed. */
function reachableHost(host: string): string {
  if (/^0(\.0){0,3}$/.test(host)) return "127.0.0.1";
  if (!host.includes(":")) return host;
  return /^[0:]+$/.test(host) ? "[::1]" : `[${host}]`;
}
