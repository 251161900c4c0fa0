/** Ports of instances that no other process uses, so that one stays closed until a test listens there. */
import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";

/** The address of the emulator's first instance, with the option `addresses`. */
export const address = `127.7.${process.pid % 256}.1`;
export const addresses = address.replace(/1$/, "0/24");

/** A server that counts its connections. Without a port, it takes a free one. */
export async function listen(
  port = 0,
  host = address,
): Promise<{ server: Server; port: number; count: () => number }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  server.listen(port, host);
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port, count: () => connections };
}

export async function closedPort(): Promise<number> {
  const { server, port } = await listen();
  server.close();
  await once(server, "close");
  return port;
}
