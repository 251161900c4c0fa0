/**
 * Tests responses in unusual forms, as servers, proxies and attackers may send them. A readable response is accepted.
 * For an unreadable response, the error says what is wrong with it.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { answer, raw, type Reaction } from "./testing/scriptedServer";
import { nextStep } from "../advice";
import { create, failedPost, failureOf, never, testClient, withServer } from "./testing/testClient";

const list = "GET /v2/instances?limit=100";
const post = "POST /v2/instances";
/** A body that is a list envelope as well as the response to a POST. */
const both = JSON.stringify({ id: "i-1", data: [{ id: "i-1" }], has_more: false });
const withLength = `content-length: ${both.length}\r\n\r\n${both}`;

const readable: [string, Reaction][] = [
  ["with a byte order mark", answer(200, `\ufeff${both}`)],
  ["of the wrong content type", answer(200, both, { "content-type": "text/html; charset=utf-16" })],
  ["after an early hint", raw(`HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n${withLength}`)],
  ["in HTTP/1.0, whose body ends with the connection", raw(`HTTP/1.0 200 OK\r\n\r\n${both}`)],
];

test.each(readable)("a response %s is accepted", async (_, react) => {
  await withServer(
    [
      { expect: list, react },
      { expect: post, react },
    ],
    async ({ baseUrl }) => {
      const client = testClient(baseUrl);
      const { items, hasMore } = await client.listPage({ limit: 100 }, never);
      expect({ ids: items.map(({ id }) => id), hasMore }).toEqual({ ids: ["i-1"], hasMore: false });
      expect(await create(client)).toMatchObject({ kind: "accepted", accepted: { id: "i-1" } });
      await client.close();
    },
  );
});

const unreadable: [string, Reaction, RegExp][] = [
  [
    "with a megabyte of header",
    raw(`HTTP/1.1 200 OK\r\nx-big: ${"x".repeat(1_000_000)}\r\n${withLength}`),
    /answer with too long headers/,
  ],
  [
    "that switches to another protocol",
    raw(`HTTP/1.1 101 Other\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n${both}`),
    /broke before an answer came/,
  ],
  [
    "that is only a 100 Continue",
    raw("HTTP/1.1 100 Continue\r\n\r\n"),
    /broke before an answer came/,
  ],
  ["with the status 999", raw(`HTTP/1.1 999 ${"x".repeat(500)}\r\n${withLength}`), /HTTP 999/],
  [
    "100,000 arrays deep",
    answer(200, `${"[".repeat(100_000)}1${"]".repeat(100_000)}`),
    /is not JSON/,
  ],
];

const encodings = { gzip: gzipSync, br: brotliCompressSync, zstd: zstdCompressSync };
test.each(Object.entries(encodings))(
  "an answer in %s, which a proxy may make unasked, is named as that, and not as one of another address",
  async (encoding, encode) => {
    const account = "GET /v2/account";
    const react = (status: number) =>
      answer(status, encode(both), { "content-encoding": encoding.toUpperCase() });
    const script = [
      { expect: list, react: react(200) },
      { expect: account, react: react(200) },
      { expect: account, react: react(403) },
    ];
    await withServer(script, async ({ baseUrl }) => {
      const client = testClient(baseUrl);
      const failures = [await failureOf(client.listPage({ limit: 100 }, never))];
      failures.push(await failureOf(client.account(never)));
      for (const failure of failures) {
        expect(failure.kind).toBe("unreadable");
        expect(failure.message).toContain(
          `the body of the answer is encoded (${encoding}), which no request asks for`,
        );
        expect(nextStep(failure)).toBe(
          "Only the service, or a proxy on the way to it, can leave the encoding out: report this to its operator.",
        );
      }
      const refused = await failureOf(client.account(never));
      expect(refused.message).toContain(`answered Forbidden: a body in ${encoding} (HTTP 403)`);
      await client.close();
    });
  },
);

test.each(unreadable)(
  "the error about a response %s says what is wrong, and the outcome of a POST with such a response is unclear",
  async (_, react, problem) => {
    await withServer(
      [
        { expect: list, react },
        { expect: post, react },
      ],
      async ({ baseUrl }) => {
        const client = testClient(baseUrl);
        expect((await failureOf(client.listPage({ limit: 100 }, never))).message).toMatch(problem);
        const outcome = create(client);
        expect((await outcome).kind).toBe("unclear");
        expect((await failedPost(outcome)).message).toMatch(problem);
        await client.close();
      },
    );
  },
);

/** Any JSON value, as a value of a field or in place of a whole body. */
const anything = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(null, 1e308, -0, "", "\u0000", "\ud800", "\u001b[2J", "i-1"),
);
const item = fc.record(
  { id: anything, name: anything, status: anything, networks: anything, created_at: anything },
  { requiredKeys: [] },
);
const body = fc.oneof(
  anything,
  item,
  fc.record({ data: fc.oneof(anything, fc.array(item)), has_more: anything }, { requiredKeys: [] }),
);

test("for any JSON response, an id that is read can be part of a path and of a line", async () => {
  let responseBody = "";
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.end(responseBody));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const client = testClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`);
  const property = fc.asyncProperty(body, async (response) => {
    responseBody = JSON.stringify(response);
    const page = await client.listPage({ limit: 100 }, never).catch((error: unknown) => {
      expect(error).toMatchObject({ kind: "unreadable" });
      return { items: [] };
    });
    const outcome = await create(client);
    const ids = page.items.map(({ id }) => id);
    if (outcome.kind === "accepted") ids.push(outcome.accepted.id);
    else expect(outcome.kind).toBe("unclear");
    for (const id of ids) expect(id).toMatch(/^[^\p{Cc}\p{Cf}\p{Cs}]+$/u);
  });
  await fc.assert(property, { numRuns: 150 }).finally(async () => {
    await client.close();
    server.close();
  });
});
