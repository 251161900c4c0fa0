/** Tries whether a port answers by TCP. Tests pass a dialer of their own. */
import { createConnection, isIP } from "node:net";
import { raceAbort } from "./abort";

/** Opens connections. */
export interface Dialer {
  /**
   * Opens a connection, and closes it at once. Rejects with the error of the system, which has a `code` such as ECONNREFUSED, with
   * the reason of `signal`, or if the address is no IP address: a name could be that of any host of this network.
   */
  dial(address: string, port: number, signal: AbortSignal): Promise<void>;
}

/** Connects directly from this machine, even if HTTP goes through a proxy. */
export const tcpDialer: Dialer = {
  async dial(address, port, signal) {
    signal.throwIfAborted();
    if (isIP(address) === 0) throw new Error(`"${address}" is not an IP address`);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const socket = createConnection({ host: address, port });
    socket.once("connect", resolve);
    socket.on("error", reject);
    try {
      await raceAbort(promise, signal);
    } finally {
      socket.destroy();
    }
  },
};
