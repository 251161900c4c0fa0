/**
 * The emulator of the Compute Instances Service. http/server.ts accepts requests, and exchange.ts passes each of them
 * to emulatedService.ts, which calls one of the endpoints (endpoints.ts). inProcess.ts is the emulator without sockets.
 */
import { Control } from "./control/control";
import { handleControlRequest, isControlPath } from "./control/routes";
import { EmulatedService } from "./emulatedService";
import { exchange } from "./exchange";
import { EmulatorServer } from "./http/server";
import type { EmulatorOptions } from "./options";

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
  /** Stops the emulator, and closes the open connections. Does not delete a database file. */
  close(): Promise<void>;
}

/** Starts an emulator. Rejects with an OptionError or a ListenError, whose messages are meant for a person. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const service = new EmulatedService(options);
  const { host, port: wantedPort, controlEndpoints, errorLog } = service.settings;
  const control = new Control(service);
  const server: EmulatorServer = new EmulatorServer(
    (message, response) =>
      controlEndpoints && isControlPath(message.url)
        ? handleControlRequest(control, message, response)
        : exchange(service, server.sleep, message, response),
    (error) => errorLog(`emulator bug: ${String(error)}`),
  );

  let port: number;
  try {
    port = await server.listen(host, wantedPort);
  } catch (error) {
    service.close();
    throw error;
  }
  const origin = `http://${reachableHost(host)}:${port}`;
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= server.close().then(() => service.close()));
  return {
    url: `${origin}/v2`,
    origin,
    port,
    control,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The host for the URL: loopback if the emulator listens on all addresses, since the provider allows plain http there. */
function reachableHost(host: string): string {
  if (/^0(\.0){0,3}$/.test(host)) return "127.0.0.1";
  if (!host.includes(":")) return host;
  return /^[0:]+$/.test(host) ? "[::1]" : `[${host}]`;
}
