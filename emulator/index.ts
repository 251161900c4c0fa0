/**
 * The emulator of the Compute Instances Service. Tests start it with `startEmulator` in their own process; a person
 * starts it with `npm run emulator` (cli.ts). http/server.ts accepts requests, and exchange.ts passes each of them
 * to emulatedService.ts, which calls one of the endpoints (endpoints.ts). faults/ holds the scripted faults, and
 * control/ the API with which tests read and change the state. inProcess.ts is the emulator without sockets.
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
  /** The base URL of the service for a client. It ends in `/v2`. */
  readonly url: string;
  /** The same address without `/v2`. */
  readonly origin: string;
  readonly port: number;
  readonly control: Control;
  /** Returns the number of requests by method and path, such as `POST /v2/instances`. */
  counts(): Record<string, number>;
  /** Closes the open connections, and refuses new ones until `acceptConnections` is called. */
  refuseConnections(): Promise<void>;
  /** Refuses new connections until `acceptConnections` is called. Open connections stay open. */
  refuseNewConnections(): void;
  acceptConnections(): Promise<void>;
  /** Stops the emulator, and closes the open connections. Does not delete a database file. */
  close(): Promise<void>;
}

/** Starts an emulator. Rejects with an OptionError or a ListenError, whose messages are meant for a person. */
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

/**
 * Returns the host for the URL of the emulator. If the emulator listens on all addresses, the host is the loopback
 * address, because the provider allows plain http there.
 */
function reachableHost(host: string): string {
  if (/^0(\.0){0,3}$/.test(host)) return "127.0.0.1";
  if (!host.includes(":")) return host;
  return /^[0:]+$/.test(host) ? "[::1]" : `[${host}]`;
}
