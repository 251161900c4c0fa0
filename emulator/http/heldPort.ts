/** Keeps a port from being given to anybody else while nothing listens on it. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/**
 * A connection that goes out *from* the port: who connects to the port is refused, and the system
 * gives the port to no one who asks for any free one. To an anchor, which takes it and does nothing.
 */
export class HeldPort implements Disposable {
  private readonly anchor = createServer((socket) => socket.on("error", () => undefined).unref());
  private connection: Socket | undefined;

  constructor(host: string, port: number) {
    this.anchor.unref().listen(0, host, () => {
      const anchor = this.anchor.address() as AddressInfo | null;
      // Let go already.
      if (!anchor) return;
      this.connection = connect({
        host,
        port: anchor.port,
        localAddress: host,
        localPort: port,
      })
        // Not to be had any more: then it is free or taken, and whoever listens next will tell.
        .on("error", () => undefined)
        .unref();
    });
  }

  /** With a reset, so that the port is free at once. */
  [Symbol.dispose](): void {
    this.connection?.resetAndDestroy();
    this.anchor.close();
  }
}
