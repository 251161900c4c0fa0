/** Tests TLS connections, proxies and what is known when a connection fails. */
import dns from "node:dns";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import tls from "node:tls";
import { describe, expect, jest, test } from "@jest/globals";
import { VirtualClock } from "../testing/virtualClock";
import { testAuthority, testServer } from "./testing/certificates";
import { startConnectProxy } from "./testing/connectProxy";
import { answer, ScriptedServer, type Step } from "./testing/scriptedServer";
import {
  create,
  failedPost,
  failureOf,
  never,
  requestTimeoutMs,
  testClient,
  withServer,
} from "./testing/testClient";
import { trustTestAuthority } from "./testing/trust";

const account: Step = { expect: "GET /v2/account", react: answer(200, { id: 1 }) };
const post: Step = { expect: "POST /v2/instances", react: answer(202, { id: "i-1" }) };

test("with a certificate of an unknown authority nothing is sent, and the message says what to do", async () => {
  await using server = await ScriptedServer.start([], testServer);
  const client = testClient(`https://localhost:${server.port}/v2`);
  const failure = await failedPost(create(client));
  expect(failure).toMatchObject({ kind: "unreachable", lasting: true });
  expect(failure.message).toMatch(/certificate of localhost:\d+ .*not trusted.*NODE_EXTRA_CA/);
});

test("an authority of the system is trusted, also by requests under way at once, and its certificates are read once", async () => {
  const steps = Array.from({ length: 3 }, () => account);
  await using server = await ScriptedServer.start([...steps, post], testServer);
  const own = tls.getCACertificates("default");
  const read = jest
    .spyOn(tls, "getCACertificates")
    .mockImplementation((type) => (type === "system" ? [testAuthority] : own));
  try {
    const client = testClient(`https://localhost:${server.port}/v2`);
    await Promise.all(steps.map(() => client.account(never)));
    expect(await create(client)).toMatchObject({ kind: "accepted" });
    expect(read.mock.calls.filter(([type]) => type === "system")).toHaveLength(1);
  } finally {
    read.mockRestore();
  }
});

test.each([
  ["answers with 400", (socket: Duplex) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")],
  ["closes the connection, as the emulator does", (socket: Duplex) => void socket.destroy()],
])(
  "if a service of plain http on this machine %s, the message asks for plain http",
  async (_, end) => {
    const server = createServer().on("clientError", (_error, socket) => end(socket));
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const failure = await failureOf(testClient(`https://127.0.0.1:${port}/v2`).account(never));
    expect(failure.kind).toBe("unreachable");
    expect(failure.message).toContain("(does the service expect plain http?)");
    server.close();
  },
);

test("if no TLS connection is made within the time-out, the outcome is `notSent`", async () => {
  await withServer([], async (server) => {
    const clock = new VirtualClock();
    const outcome = create(testClient(`https://localhost:${server.port}/v2`, { clock }));
    while (server.connections === 0) await new Promise(setImmediate);
    await clock.advance(requestTimeoutMs);
    expect(await outcome).toMatchObject({ kind: "notSent", failure: { kind: "unreachable" } });
    expect((await failedPost(outcome)).message).toMatch(/no connection to .* within 3600 s/);
  });
});

test("if each address of a host refuses, the message says so of each", async () => {
  const found = [
    { address: "127.0.0.1", family: 4 },
    { address: "127.0.0.2", family: 4 },
  ];
  const find = (_name: string, _options: object, done: (error: null, all: object[]) => void) =>
    done(null, found);
  const lookup = jest.spyOn(dns, "lookup").mockImplementation(find as typeof dns.lookup);
  try {
    const failure = await failureOf(testClient("https://compute.test:1/v2").account(never));
    expect(failure.message).toContain(
      "no connection to compute.test:1: 127.0.0.1: connection refused, 127.0.0.2: connection refused",
    );
  } finally {
    lookup.mockRestore();
  }
});

describe("with a trusted test authority", () => {
  trustTestAuthority();

  test("https works, and a POST still has a connection of its own", async () => {
    await using server = await ScriptedServer.start([account, post, account], testServer);
    const client = testClient(`https://localhost:${server.port}/v2`);
    expect(await client.account(never)).toEqual({ id: 1 });
    expect(await create(client)).toMatchObject({ kind: "accepted" });
    await client.account(never);
    expect(server.seen.map(({ connection }) => connection)).toEqual([1, 2, 1]);
    await client.close();
  });

  test.each(["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"])(
    "%s is used with tunnels, so that the proxy sees no token, and a POST has a tunnel of its own (G8)",
    async (variable) => {
      await using server = await ScriptedServer.start([account, post, account], testServer);
      await using proxy = await startConnectProxy(server.port);
      const address = proxy.url.replace("http://", "user:p%40ss@");
      const client = testClient("https://compute.test/v2", { env: { [variable]: address } });
      await client.account(never);
      await create(client);
      await client.account(never);
      expect(server.seen.map(({ connection }) => connection)).toEqual([1, 2, 1]);
      expect(proxy.seen).toHaveLength(2);
      expect(proxy.seen.join()).toMatch(/^CONNECT compute\.test:443 HTTP/);
      expect(proxy.seen.join()).toContain(Buffer.from("user:p@ss").toString("base64"));
      expect(proxy.seen.join()).not.toMatch(/bearer/i);
      expect(server.seen[0]?.headers["proxy-authorization"]).toBeUndefined();
      await client.close();
    },
  );

  test("hosts of NO_PROXY and loopback addresses are reached without the proxy", async () => {
    await using server = await ScriptedServer.start([account], testServer);
    await using proxy = await startConnectProxy(server.port);
    const env = { HTTPS_PROXY: proxy.url, NO_PROXY: "other.test, .test" };
    const direct = testClient("https://compute.test/v2", { env });
    // Without the proxy the client looks compute.test up itself, and no name server knows that name.
    expect((await failureOf(direct.account(never))).kind).toBe("unreachable");
    const loopback = testClient(`https://localhost:${server.port}/v2`, {
      env: { HTTPS_PROXY: proxy.url },
    });
    expect(await loopback.account(never)).toEqual({ id: 1 });
    await loopback.close();
    expect(proxy.seen).toEqual([]);
  });

  test("a request through a proxy that answers 407 fails as `unreachable`, since nothing was sent", async () => {
    await using proxy = await startConnectProxy(0, 407);
    const client = testClient("https://compute.test/v2", { env: { HTTPS_PROXY: proxy.url } });
    const failure = await failedPost(create(client));
    expect(failure).toMatchObject({ kind: "unreachable", status: undefined });
    expect(failure.message).toMatch(/proxy failed \(Proxy response/);
  });

  test("a request through a proxy that can't be reached fails as `unreachable`", async () => {
    const env = { HTTPS_PROXY: "http://user:canary@127.0.0.1:1" };
    const client = testClient("https://compute.test/v2", { env });
    const failure = await failedPost(create(client));
    expect(failure.kind).toBe("unreachable");
    expect(failure.message).toMatch(/connection refused \(compute\.test.*, or the proxy .*\)$/);
    expect(failure.message).not.toContain("canary");
  });
});
