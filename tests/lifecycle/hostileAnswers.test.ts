/**
 * G1, G2, G3, G8 and G9 against a service, or something before it, whose answers are anything at all:
 * whatever it says, what was made is in the state or named, nothing is dropped, and what a person
 * reads is fit for a terminal.
 */
import { gzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  drip,
  flood,
  HostileFront,
  raw,
  reply,
  serviceCalls,
  type Forgery,
  type Reply,
  type ServiceCall,
  type Truth,
} from "./fixtures/hostileFront";
import { expectShown } from "./fixtures/hostilePlugin";
import type { Plugin, Settings } from "./support/plugin";
import { inputs } from "./support/stack";
import { withWorld, type World } from "./support/world";

const runs = Number(process.env["COMPUTE_FUZZ_RUNS"] ?? 48);
/** Waits between tries are no part of what is shown here. */
const speed = 20;
const settings = {
  requestTimeoutSeconds: 10,
  requestsPerMinute: 1_000_000,
  settlingSeconds: 4,
  pollIntervalSeconds: 0.5,
  destroyPath: "/v2/instances/{id}",
  deletePolicy: "destroy",
};
const program = { web: inputs({ name: "web" }) };

interface Life {
  world: World;
  front: HostileFront;
  /** The errors and the warnings. */
  said: string[];
  /** Nothing failed while the answers were forged. */
  smooth: boolean;
}

/** Creates, refreshes and destroys with forged answers to one call; then everything is put right. */
async function live(
  call: ServiceCall,
  forgery: Forgery,
  { refuses = false, ...more }: Settings & { refuses?: boolean } = {},
): Promise<Life> {
  let life: Life | undefined;
  await withWorld(
    { requestsPerMinute: 1_000_000, destroyPath: settings.destroyPath },
    async (world) => {
      world.service.control.insert({ name: "other", id: "i-other" });
      const front = await HostileFront.start(world.service);
      const start = () => world.plugin({ ...settings, ...more, baseUrl: front.url }, speed);
      const failures: unknown[] = [];
      try {
        const { stack } = world;
        front.forge(call, forgery, refuses);
        const first = await start();
        failures.push(
          ...Object.values((await stack.up(first, program, { timeoutSeconds: 200 })).failed),
        );
        expectNothingLost(world, first);
        if (stack.resources.size > 0) {
          const held = stack.ids;
          failures.push(...Object.values((await stack.refresh(first)).failed));
          expect(stack.ids).toEqual(held);
          expectNothingLost(world, first);
        }
        first.stop();
        front.relent();

        // The same program, in a new run, against the service as it is.
        const second = await start();
        const mended = await stack.up(second, program, { timeoutSeconds: 200 });
        expect(world.ids.length).toBeLessThanOrEqual(2);
        if (Object.keys(mended.failed).length === 0) {
          expect(world.ids.filter((id) => id !== "i-other")).toEqual(stack.ids);
          front.forge(call, forgery, refuses);
          const destroyed = await stack.destroy(second, { timeoutSeconds: 200 });
          failures.push(...Object.values(destroyed.failed));
          // Gone from the state is gone from the service.
          for (const id of world.ids) if (id !== "i-other") expect(stack.ids).toContain(id);
        } else expectNothingLost(world, second);

        expect(front.forged).toBeGreaterThan(0);
        const said = [...stack.told, ...world.plugins.flatMap(({ warnings }) => warnings)];
        const logged = world.plugins.flatMap((plugin) =>
          plugin.logged.map(({ message }) => message),
        );
        for (const text of [...said, ...logged]) expectShown(text);
        life = { world, front, said, smooth: failures.length === 0 };
      } finally {
        await front.close();
      }
    },
  );
  if (!life) throw new Error("it was not lived to its end");
  return life;
}

/** G1: each instance is in the state, or a message names it or the name it was asked for with. */
function expectNothingLost(world: World, plugin: Plugin): void {
  const said = [...world.stack.told, ...plugin.warnings].join("\n");
  for (const { id, name } of world.instances) {
    if (id === "i-other" || world.stack.ids.includes(id)) continue;
    expect(said).toMatch(new RegExp(`${id}|"${name}"`));
  }
}

const withBody = (change: (json: Record<string, unknown>) => unknown): Forgery =>
  reply(({ body }) => ({
    body: JSON.stringify(change(JSON.parse(body || "{}") as Record<string, unknown>)),
  }));
/** Each instance in an answer, of a list or of a create. */
const withEach = (change: (item: Record<string, unknown>) => unknown): Forgery =>
  withBody((json) =>
    Array.isArray(json["data"]) ? { ...json, data: json["data"].map(change) } : change(json),
  );
const text = (make: (body: string) => string): Forgery =>
  reply(({ body }) => ({ body: make(body) }));
const ok = "HTTP/1.1 {status} OK\r\ncontent-type: application/json\r\n";
const deep = (open: string, close: string) => `${open.repeat(100_000)}1${close.repeat(100_000)}`;
const escapes =
  "\u001b[2J\u001b]8;;http://evil.example\u001b\\click\u001b]8;;\u001b\\\u009b31m\u202egnp.exe\u2066\r\nerror: forged\u2028error: forged\u0085error: forged\u0000\u0007";

/** Odd, and still what the document says: all goes as if nothing was. */
const sound: Record<string, Forgery> = {
  "a byte order mark": text((body) => `\ufeff${body}`),
  "the wrong content type": reply(({ body }) => ({
    body,
    headers: ["content-type: text/html; charset=utf-16"],
  })),
  "trailers after chunks": raw(
    `${ok}transfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n{hex}\r\n{body}\r\n0\r\nx-sum: 1\r\n\r\n`,
  ),
  "an early hint before it": raw(
    `HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${ok}content-length: {length}\r\n\r\n{body}`,
  ),
  "HTTP/1.0": raw("HTTP/1.0 {status} OK\r\n\r\n{body}"),
  "hundreds of headers": raw(
    `${ok}${"x-a: b\r\n".repeat(800)}content-length: {length}\r\n\r\n{body}`,
  ),
  "a __proto__ and a constructor in it": withEach((item) =>
    Object.assign(
      JSON.parse('{"__proto__":{"id":"p","polluted":1},"constructor":{"prototype":1}}') as object,
      item,
    ),
  ),
  "a number beyond all numbers": text((body) => body.replace("{", '{"n":1e999,"m":-1e999,')),
  "keys said twice": text((body) => body.replace("{", '{"id":"twice","data":[],"has_more":true,')),
};

/** What is small on the wire, and 100 MB when it is unpacked. */
const bomb = gzipSync(Buffer.alloc(100_000_000));

/** No sense can be made of it; and what a person is told of it. */
const senseless: Record<string, [Forgery, RegExp]> = {
  "a gzip bomb": [
    reply(() => ({ body: bomb, headers: ["content-encoding: gzip"] })),
    /is encoded \(gzip\), which was not asked for/,
  ],
  "an unknown encoding": [
    reply(() => ({ body: "\u0001\u0002", headers: ["content-encoding: x-odd"] })),
    /is encoded \(x-odd\)/,
  ],
  "UTF-16": [reply(({ body }) => ({ body: Buffer.from(body, "utf16le") })), /is not JSON/],
  "a megabyte of header": [
    raw(`${ok}x-big: ${"x".repeat(1_000_000)}\r\ncontent-length: {length}\r\n\r\n{body}`),
    /the headers of the answer are too long/,
  ],
  "a body longer than it says": [raw(`${ok}content-length: 5\r\n\r\n{body}`), /is not JSON/],
  "a body shorter than it says": [
    raw(`${ok}content-length: 99999\r\n\r\n{body}`),
    /broke in the middle of the answer|cut short/,
  ],
  "two lengths": [
    raw(`${ok}content-length: 1\r\ncontent-length: {length}\r\n\r\n{body}`),
    /cut short|HTTP\/1\.1 protocol/,
  ],
  "another protocol": [
    raw("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n{body}"),
    /broke before an answer came/,
  ],
  "a go-ahead nobody asked for": [
    raw("HTTP/1.1 100 Continue\r\n\r\n"),
    /broke before an answer came/,
  ],
  "a status of no class": [
    raw(`HTTP/1.1 999 ${"x".repeat(500)}\r\ncontent-length: {length}\r\n\r\n{body}`),
    /HTTP 999/,
  ],
  "no HTTP at all": [raw(`SSH-2.0-OpenSSH_9.0 ${escapes}\r\n`), /HTTP\/1\.1 protocol/],
  "chunks of no size": [
    raw(`${ok}transfer-encoding: chunked\r\n\r\nzz\r\n{body}\r\n0\r\n\r\n`),
    /HTTP\/1\.1 protocol/,
  ],
  "arrays 100,000 deep": [text(() => deep("[", "]")), /nested too deep/],
  "objects 100,000 deep": [text(() => deep('{"a":', "}")), /nested too deep/],
};

const cases = <Way>(table: Record<string, Way>, calls: readonly ServiceCall[]) =>
  Object.entries(table).flatMap(([what, way]) => calls.map((call) => ({ what, call, way })));

/** Lives that wait more than they compute, so many at once. */
async function each<T>(all: readonly T[], body: (one: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const lane = async () => {
    for (let one = left.shift(); one; one = left.shift()) await body(one);
  };
  await Promise.all(Array.from({ length: 6 }, lane));
}

test("an answer that is odd in form, and sound, changes nothing", async () => {
  await each(cases(sound, ["account", "list", "create"]), async ({ what, call, way }) => {
    const { smooth, said } = await live(call, way);
    expect({ what, call, smooth, said: smooth ? [] : said }).toEqual({
      what,
      call,
      smooth: true,
      said: [],
    });
  });
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

test("an answer that no sense can be made of loses nothing, and its fault is named", async () => {
  await each(cases(senseless, serviceCalls), async ({ what, call, way: [forgery, words] }) => {
    const { said } = await live(call, forgery);
    // What the account call or the destroy call says is not needed: no one is told of it.
    if (call === "account" || call === "destroy") return;
    expect({ what, call, said: said.join("\n") }).toMatchObject({
      said: expect.stringMatching(words),
    });
  });
});

test("an answer that drips is waited for no longer than a request may take", async () => {
  await each([...serviceCalls], async (call) => {
    await live(call, drip, { requestTimeoutSeconds: 1 });
  });
});

test("escapes in every text of every answer, and in errors, reach no terminal", async () => {
  const answers = [
    withEach((item) => ({ ...item, status: escapes, ipv4_public: escapes, created_at: escapes })),
    withEach((item) => {
      const networks = [{ type: escapes, ipv4: escapes }];
      return { ...item, name: `web${escapes}`, networks };
    }),
    withEach((item) => ({ ...item, name: "\ud800 \udfff", status: "\u0000" })),
  ];
  // A header can hold nothing below a space, but it can hold 8-bit controls.
  const headers = ["x-request-id: req\u009b31m", "location: http://evil.example/\u009b2J"];
  const error = { code: escapes, message: escapes, doc_url: escapes, request_id: escapes };
  const refusals = [
    ...[400, 401, 403, 404, 500].map((status) =>
      reply(() => ({ status, headers, body: JSON.stringify({ error }) })),
    ),
    reply(() => ({ status: 502, headers: ["content-type: text/html"], body: `<html>${escapes}` })),
    reply(() => ({ status: 307, headers, body: "" })),
    reply(() => ({ status: 500, headers, body: escapes })),
  ];
  const lives = serviceCalls.flatMap((call) => [
    ...answers.map((forgery) => ({ call, forgery, refuses: false })),
    ...refusals.map((forgery) => ({ call, forgery, refuses: true })),
  ]);
  let forged = 0;
  await each(lives, async ({ call, forgery, refuses }) => {
    const { said } = await live(call, forgery, { refuses });
    forged += said.filter((text) => text.includes("error: forged")).length;
  });
  // They were said, and did no harm.
  expect(forged).toBeGreaterThan(refusals.length);
});

test("of a body without end no more is read than an answer may have", async () => {
  const heads = [
    'HTTP/1.1 {status} OK\r\ncontent-length: 100000000\r\n\r\n{"a":"',
    "HTTP/1.1 {status} OK\r\n\r\n",
  ];
  for (const head of heads) {
    for (const call of ["account", "list", "create"] as const) {
      let floods = 0;
      const pour = flood(100_000_000, head);
      const { front } = await live(call, (socket, truth) => {
        floods++;
        pour(socket, truth);
      });
      expect(floods).toBeGreaterThan(0);
      // 8 MiB are read of a list, and the kernel holds some more on both sides.
      expect(front.written / floods).toBeLessThan(32_000_000);
    }
  }
});

/** JSON of any form, and of the forms of the document with anything in them. */
const oddText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom(
    escapes,
    "\ud800",
    "",
    "\u0000",
    "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
    "web",
    ".",
  ),
);
const anything = fc.oneof(oddText, fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(null, 1e308, -0));
const anyItem = fc.record(
  {
    id: anything,
    name: anything,
    status: anything,
    ipv4_public: anything,
    networks: anything,
    created_at: anything,
  },
  { requiredKeys: [] },
);
const anyBody = fc.oneof(
  anything,
  anyItem,
  fc.record(
    { data: fc.oneof(anything, fc.array(anyItem, { maxLength: 3 })), has_more: anything },
    { requiredKeys: [] },
  ),
  fc.record({
    error: fc.oneof(
      anything,
      fc.record({ code: anything, message: anything, doc_url: anything, request_id: anything }),
    ),
  }),
);
const anyReply: fc.Arbitrary<(truth: Truth) => Reply> = fc.oneof(
  fc
    .record({
      json: anyBody,
      status: fc.constantFrom(undefined, 200, 202, 204, 404, 418, 500, 503),
    })
    .map(({ json, status }) => (truth: Truth): Reply => ({
      ...(status === undefined ? {} : { status }),
      body: JSON.stringify(honest(json, truth)) ?? "",
    })),
  fc.uint8Array({ maxLength: 100 }).map((body) => (): Reply => ({ body })),
  fc.nat().map((share) => ({ body }: Truth): Reply => ({
    body: body.slice(0, share % (body.length + 1)),
  })),
);

/**
 * Without the lies that no client could see through: another id, a whole list that lacks it (and a
 * 400, 401 or 403 to a create that was taken, which the document rules out).
 */
function honest(json: unknown, { body }: Truth): unknown {
  if (typeof json !== "object" || json === null) return json;
  if ("data" in json && "has_more" in json && json.has_more === false) {
    return { ...json, has_more: true };
  }
  if (!("id" in json) || typeof json.id !== "string") return json;
  return { ...json, id: (JSON.parse(body || "{}") as { id?: string }).id };
}

test("arbitrary answers to any one call lose nothing, double nothing and forget nothing", async () => {
  const one = fc.tuple(fc.constantFrom(...serviceCalls), anyReply);
  await fc.assert(
    fc.asyncProperty(fc.array(one, { minLength: 6, maxLength: 6 }), async (batch) => {
      await each(batch, async ([call, make]) => void (await live(call, reply(make))));
    }),
    { numRuns: Math.ceil(runs / 6), endOnFailure: true },
  );
});
