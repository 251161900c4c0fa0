/** Tests of real connections to this machine. */
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { expect, test } from "@jest/globals";
import { Canceled } from "./abort";
import { tcpDialer } from "./dialer";

const never = new AbortController().signal;

test("a port that listens answers, a port that does not is refused, and an abort ends a try with its reason", async () => {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const closed = once(server, "connection").then(async ([socket]) => {
    await once((socket as NodeJS.ReadableStream).resume(), "close");
  });
  await tcpDialer.dial("127.0.0.1", port, never);
  // The dialer keeps no connection.
  await closed;
  const canceled = new AbortController();
  canceled.abort(new Canceled());
  await expect(tcpDialer.dial("127.0.0.1", port, canceled.signal)).rejects.toThrow(Canceled);
  server.close();
  await once(server, "close");
  await expect(tcpDialer.dial("127.0.0.1", port, never)).rejects.toMatchObject({
    code: "ECONNREFUSED",
    message: `connect ECONNREFUSED 127.0.0.1:${port}`,
  });
  await expect(tcpDialer.dial("localhost", port, never)).rejects.toThrow("is not an IP address");
  const ending = new AbortController();
  const trying = tcpDialer.dial("127.0.0.1", port, ending.signal);
  ending.abort(new Canceled());
  await expect(trying).rejects.toThrow(Canceled);
});
