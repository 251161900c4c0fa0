/** A local HTTP server for one test. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** Starts a server that answers like this. `paths` has the requested paths. */
export async function serve(answer: RequestListener) {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? "");
    answer(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dispose = async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  };
  return { url, paths, [Symbol.asyncDispose]: dispose };
}
