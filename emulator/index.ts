/**
 * The Compute Instances Service of the document, as a program: `startEmulator` in a test's own process,
 * or `npm run emulator` as one of its own (cli.ts). A request comes in and its answer goes out by http/,
 * exchange.ts sees it through, acting.ts has routes/ act on it, instances/ holds what there is. faults/ says what goes
 * wrong on the way, control/ what tests do behind the service's back. inProcess.ts is the same without sockets.
 */
import { Control } from "./control/control";
import { controlRoute, isControlPath } from "./control/routes";
import { exchange, type Exchanges } from "./exchange";
import { FaultList } from "./faults/script";
import { settingsFrom, type EmulatorOptions } from "./options";
import { RequestLog } from "./requestLog";
import { Router } from "./router";
import { EmulatorServer } from "./http/server";
import { makeService } from "./service";

export { VirtualClock, type EmulatorClock } from "./clock";
export type { Control } from "./control/control";
export type { FaultScript } from "./faults/kinds";
export type { FaultHandle } from "./faults/script";
export type { InstanceRecord } from "./instances/instance";
export { OptionError, type EmulatorOptions } from "./options";
export type { LoggedRequest } from "./requestLog";
export { ListenError } from "./http/server";
export type { TokenDeclaration } from "./tokens";

export interface Emulator extends AsyncDisposable {
  /** The base address to give to a client; ends in `/v2`. */
  readonly url: string;
  readonly origin: string;
  readonly port: number;
  readonly control: Control;
  /** Requests by method and path, such as `POST /v2/instances`. */
  counts(): Record<string, number>;
  /** Refuses connections on its port, and drops those there are, until `acceptConnections`. */
  refuseConnections(): Promise<void>;
  /** The same, but what is connected stays so. */
  refuseNewConnections(): void;
  acceptConnections(): Promise<void>;
  /** At once: open connections are dropped. A database file stays. */
  close(): Promise<void>;
}

/** Rejects with an OptionError or a ListenError, whose messages are for people. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const settings = settingsFrom(options);
  const service = makeService(settings);
  const faults = new FaultList(settings.random);
  const requests = new RequestLog();
  const control = new Control(service, faults, requests);

  const server: EmulatorServer = new EmulatorServer(
    (message, response) =>
      settings.controlEndpoints && isControlPath(message.url)
        ? controlRoute(control, message, response)
        : exchange(exchanges, message, response),
    settings.host,
    settings.port,
    (error) => {
      settings.errorLog(`emulator bug: ${String(error)}`);
    },
  );
  const router = new Router(service);
  const exchanges: Exchanges = { service, router, faults, requests, sleep: server.sleep };

  let port: number;
  try {
    port = await server.listen();
  } catch (error) {
    service.store.close();
    throw error;
  }
  const origin = `http://${reachableAt(settings.host)}:${String(port)}`;
  let closed: Promise<void> | undefined;
  const close = () =>
    (closed ??= server.close().then(() => {
      service.store.close();
    }));
  return {
    url: `${origin}/v2`,
    origin,
    port,
    control,
    counts: () => control.counts(),
    refuseConnections: () => server.stop(),
    refuseNewConnections: () => server.stopListening(),
    acceptConnections: async () => {
      // One that was closed stays closed.
      if (!server.isListening && !closed) await server.listen();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** As a part of a URL. Who listens on all addresses is reached on loopback, where plain http will do. */
function reachableAt(host: string): string {
  if (/^0(\.0){0,3}$/.test(host)) return "127.0.0.1";
  if (!host.includes(":")) return host;
  return /^[0:]+$/.test(host) ? "[::1]" : `[${host}]`;
}
