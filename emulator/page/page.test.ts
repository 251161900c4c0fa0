/** Tests the page over HTTP: its headers, its events, and the requests that are refused. browser.test.ts uses a browser. */
import { createHash } from "node:crypto";
import { request } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { Script } from "node:vm";
import { describe, expect, test } from "@jest/globals";
import { startEmulator, type Emulator } from "../index";
import { caller } from "../testClient";
import { TestClock } from "../testClock";
import type { Overview } from "./overview";

/** Opens the stream of events. `next` resolves with the next overview, or with undefined at the end of the stream. */
async function openEvents({ origin }: Emulator) {
  const closing = new AbortController();
  const response = await fetch(`${origin}/control/events`, { signal: closing.signal });
  if (response.body === null) throw new Error("the response has no body");
  const parts = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    contentType: response.headers.get("content-type"),
    async next(): Promise<Overview | undefined> {
      while (!text.includes("\n\n")) {
        const { done, value } = await parts.read();
        if (done) return undefined;
        text += value;
      }
      const end = text.indexOf("\n\n");
      const [event, rest] = [text.slice(0, end), text.slice(end + 2)];
      text = rest;
      expect(event).toMatch(/^data: .*$/);
      return JSON.parse(event.slice("data: ".length)) as Overview;
    },
    [Symbol.dispose]: () => closing.abort(),
  };
}

/** Sends a request with any headers. `fetch` would set some of them itself. */
async function send(
  { port }: Emulator,
  method: string,
  path: string,
  headers: Record<string, string>,
) {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const sent = request({ host: "127.0.0.1", port, method, path, headers }, (response) => {
    resolve(response.statusCode);
    response.destroy();
  });
  sent.on("error", reject).end(method === "POST" ? '{"kind": "reset"}' : undefined);
  return await promise;
}

describe("the page", () => {
  test("may run its own script, use its own style, and nothing else", async () => {
    await using emulator = await startEmulator({ controlEndpoints: true });
    const response = await fetch(`${emulator.origin}/`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const html = await response.text();
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    for (const tag of ["script", "style"]) {
      const elements = [...html.matchAll(new RegExp(`<${tag}\\b([^>]*)>([^]*?)</${tag}>`, "g"))];
      expect(elements.map(([, attributes]) => attributes)).toEqual([""]);
      const content = elements[0]?.[2] ?? "";
      const hash = createHash("sha256").update(content).digest("base64");
      expect(policy).toContain(`${tag}-src 'sha256-${hash}'`);
      if (tag === "script") expect(() => new Script(content)).not.toThrow();
    }
    expect(html).not.toMatch(/<[^>]*\s(on\w+|style)=/);
  });

  test("says at each fault what it does, and until when", async () => {
    await using emulator = await startEmulator({ controlEndpoints: true });
    const html = await (await fetch(`${emulator.origin}/`)).text();
    const [, source = ""] = /const faults = (\[[^]*?\n {8}\]);/.exec(html) ?? [];
    const faults = new Script(source).runInNewContext() as Record<string, string>[];
    expect(faults.map(({ title, effect, end }) => `${title}: ${effect}, ${end}`)).toEqual([
      "429 storm: each request gets a 429, until the next click; the run goes on",
      "Server errors: each request gets a 503, until the next click; the run waits a minute, then pulumi up again",
      "Sold out: the next create is refused (422), once; the run takes a fallback flavor, or pulumi up again",
      "Slow responses: each takes 3 s, until the next click; the run goes on",
      "Lagging list: shows new instances 20 s late, until the next click; the run waits for them",
      "Lost response: the next create is made, but not answered, once; the run finds the instance",
      "Never ready: the next instance stays in PROVISIONING, once; its button ACTIVE ends it",
      "OFFLINE: the next instance ends OFFLINE, once; its button ACTIVE ends it",
    ]);
  });

  test("is served only with the control API", async () => {
    await using emulator = await startEmulator();
    expect((await fetch(`${emulator.origin}/`)).status).toBe(401);
    expect((await fetch(`${emulator.origin}/control/events`)).status).toBe(401);
  });
});

describe("the events", () => {
  test("show instances, requests, windows and faults, and again after each change", async () => {
    const clock = new TestClock();
    const options = { clock, provisioningSeconds: 10, requestsPerMinute: 5 };
    await using emulator = await startEmulator({ ...options, controlEndpoints: true });
    using events = await openEvents(emulator);
    expect(events.contentType).toBe("text/event-stream");
    expect(await events.next()).toEqual({
      instances: [],
      instanceCount: 0,
      requests: [],
      windows: [],
      requestsPerMinute: 5,
      faults: [],
    });

    emulator.control.insert({ name: "we\n\nb", id: "i-1", status: "PROVISIONING" });
    const created = new Date(clock.now()).toISOString();
    expect(await events.next()).toMatchObject({
      instanceCount: 1,
      instances: [{ id: "i-1", name: "we\n\nb", status: "PROVISIONING", since: created }],
    });

    clock.advance(3);
    emulator.control.setStatus("i-1", "ACTIVE");
    expect(await events.next()).toMatchObject({
      instances: [{ status: "ACTIVE", since: new Date(clock.now()).toISOString() }],
    });

    const { id } = emulator.control.fault({ kind: "status", status: 503, label: "busy" });
    const busy = { id, kind: "status", label: "busy" };
    expect((await events.next())?.faults).toEqual([{ ...busy, hits: 0, isSpent: false }]);
    await caller(emulator).ask("GET", "/account");
    // The fault applies to one request only, so it is spent.
    expect(await events.next()).toMatchObject({
      faults: [{ ...busy, hits: 1, isSpent: true, metBy: "GET /v2/account" }],
      requests: [{ status: 503, faults: ["busy"] }],
    });
  });

  test("come without tokens and without user data", async () => {
    await using emulator = await startEmulator({ controlEndpoints: true });
    const token = "sk_live_acme_secret";
    await caller(emulator, token).create("web", { user_data: "c2VjcmV0" });
    using events = await openEvents(emulator);
    const overview = await events.next();
    expect(overview).toMatchObject({
      instances: [{ name: "web", tokenKind: "live" }],
      requests: [{ method: "POST", path: "/v2/instances", name: "web", status: 202 }],
      windows: [{ endpoint: "POST /v2/instances", tokenKind: "live", tokenNumber: 1, count: 1 }],
    });
    expect(JSON.stringify(overview)).not.toMatch(/acme_secret|c2VjcmV0/);
  });

  test("show each create and failure, however many listings came after it, and equal requests once", async () => {
    await using emulator = await startEmulator({ controlEndpoints: true });
    const { ask, create, list } = caller(emulator);
    await create("web");
    emulator.control.fault({ kind: "status", status: 503, label: "busy" });
    await list();
    for (let limit = 1; limit <= 60; limit++) await list(`?limit=${limit}`);
    for (let times = 0; times < 3; times++)
      for (const limit of [1, 2]) await list(`?limit=${limit}`);
    emulator.control.fault({ kind: "status", status: 429, times: 2, label: "storm" });
    for (let times = 0; times < 2; times++) await create("db");
    await ask("GET", "/account");
    using events = await openEvents(emulator);
    const { requests = [] } = (await events.next()) ?? {};
    const rows = requests.map(
      ({ method, path, query, name, status, faults, count }) =>
        `${method} ${path.slice(4)} ${name ?? query["limit"] ?? ""} ${status} ${faults.join()} × ${count}`,
    );
    expect(rows.slice(0, 4)).toEqual([
      "GET account  200  × 1",
      "POST instances db 429 storm × 2",
      "GET instances 2 200  × 4",
      "GET instances 1 200  × 4",
    ]);
    expect(rows.slice(-3)).toEqual([
      "GET instances 14 200  × 1",
      "GET instances  503 busy × 1",
      "POST instances web 202  × 1",
    ]);
  });

  test("are one event for many changes at once, with the newest instances only", async () => {
    await using emulator = await startEmulator({ controlEndpoints: true });
    using events = await openEvents(emulator);
    await events.next();
    for (let n = 1; n <= 500; n++) emulator.control.insert({ name: `web-${String(n)}` });
    const next = await events.next();
    expect(next).toMatchObject({ instanceCount: 500, instances: { length: 200 } });
    expect(next?.instances[0]?.name).toBe("web-500");
  });

  test("do not count as requests, and leave the windows of the limit alone", async () => {
    await using emulator = await startEmulator({ controlEndpoints: true, requestsPerMinute: 3 });
    const { ask } = caller(emulator);
    using events = await openEvents(emulator);
    for (const count of [1, 2, 3]) {
      expect((await ask("GET", "/account")).status).toBe(200);
      let windows;
      do windows = (await events.next())?.windows;
      while (windows?.[0]?.count !== count);
    }
    expect((await ask("GET", "/account")).status).toBe(429);
    expect(emulator.control.counts()).toEqual({ "GET /v2/account": 4 });
  });

  test("do not come while nothing changes", async () => {
    await using emulator = await startEmulator({ controlEndpoints: true });
    using events = await openEvents(emulator);
    await events.next();
    // Longer than two intervals: an event without a change would come first.
    await wait(600);
    emulator.control.insert({ name: "web" });
    expect((await events.next())?.instanceCount).toBe(1);
  });

  test("end when the page is closed", async () => {
    let reads = 0;
    const clock = { now: () => ++reads };
    await using emulator = await startEmulator({ controlEndpoints: true, clock });
    {
      using events = await openEvents(emulator);
      await events.next();
    }
    // This would never end if the emulator went on reading its state.
    for (let before = -1; before !== reads; await wait(600)) before = reads;
  });

  test("end when the emulator is closed", async () => {
    await using emulator = await startEmulator({ controlEndpoints: true });
    using events = await openEvents(emulator);
    await events.next();
    await emulator.close();
    await expect(events.next()).rejects.toThrow();
  });
});

describe("other web pages", () => {
  const paths = [
    ["GET", "/"],
    ["GET", "/control/events"],
    ["GET", "/control/instances"],
    ["POST", "/control/faults"],
  ] as const;

  test.each([
    "elsewhere.example",
    "127.0.0.1.elsewhere.example",
    "localhost.elsewhere.example",
    "10.0.0.1",
  ])("at a domain that points at this machine are refused: %j", async (host) => {
    await using emulator = await startEmulator({ controlEndpoints: true });
    const hosts = [host, `${host}:${String(emulator.port)}`];
    for (const Host of hosts)
      for (const [method, path] of paths)
        for (const headers of [{ Host }, { Host, Origin: `http://${Host}` }])
          expect(await send(emulator, method, path, headers)).toBe(403);
    expect(emulator.control.faults()).toEqual([]);
  });

  test.each([
    "http://elsewhere.example",
    "null",
    "http://127.0.0.1:1",
    "https://127.0.0.1:PORT",
    "http://localhost:PORT",
  ])("with the origin %s are refused", async (origin) => {
    await using emulator = await startEmulator({ controlEndpoints: true });
    const Origin = origin.replace("PORT", String(emulator.port));
    for (const [method, path] of paths)
      expect(await send(emulator, method, path, { Origin })).toBe(403);
    expect(emulator.control.faults()).toEqual([]);
  });

  test.each(["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])(
    "do not keep the emulator's own page at %s from the control API",
    async (name) => {
      await using emulator = await startEmulator({ controlEndpoints: true });
      const Host = `${name}:${String(emulator.port)}`;
      const headers = { Host, Origin: `http://${Host.toLowerCase()}` };
      for (const [method, path] of paths)
        expect(await send(emulator, method, path, headers)).toBe(200);
      expect(emulator.control.faults()).toMatchObject([{ kind: "reset" }]);
    },
  );
});
