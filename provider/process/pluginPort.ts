/** The port of the plugin. It is open before the code that answers is loaded, because the engine waits for it. */
import * as net from "node:net";

/** The open port, and its connections. */
export interface PluginPort {
  readonly number: number;
  /** Passes on the connections so far, and all later ones. */
  onConnection(accept: (socket: net.Socket) => void): void;
  /** Accepts no more connections. Resolves when those that it has accepted have ended. */
  close(): Promise<void>;
}

/** Opens a port for this machine only. Connections that come before `onConnection` wait. */
export async function openPluginPort(): Promise<PluginPort> {
  const waiting: net.Socket[] = [];
  const server = net.createServer({ noDelay: true }, (socket) => {
    // One that is reset while it waits must not end the process.
    waiting.push(socket.on("error", () => undefined));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    const address = { host: "127.0.0.1", port: 0 };
    // For an address, `listen` compiles the pattern of IPv6, which takes several milliseconds. Node 26.4 has another way.
    const isBindable = "BoundSocket" in net;
    server.listen(isBindable ? new net.BoundSocket(address) : address, resolve);
  });
  return {
    number: (server.address() as net.AddressInfo).port,
    onConnection(accept) {
      server.removeAllListeners("connection").on("connection", accept);
      for (const socket of waiting.splice(0)) accept(socket);
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
