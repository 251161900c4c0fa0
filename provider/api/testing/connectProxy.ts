/** A fake proxy for tests. It connects every tunnel to one port of this machine, whatever host the client names. */
import * as net from "node:net";

/** Starts a proxy for tunnels to `port`. With a `status` other than 200, the proxy refuses every tunnel. */
export async function startConnectProxy(port: number, status = 200) {
  /** The first line and the headers of each request. */
  const seen: string[] = [];
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", (head) => {
      seen.push(head.toString("latin1"));
      if (status !== 200) return void socket.end(`HTTP/1.1 ${status} Refused\r\n\r\n`);
      const service = net.connect(port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
        socket.pipe(service).pipe(socket);
      });
      sockets.add(service);
      service.on("error", () => socket.destroy());
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  // A test that hangs must not prevent Jest from ending.
  server.unref();
  return {
    url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    seen,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}
