/** Tests for each scripted fault what the caller sees, and whether the service has acted. */
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { startEmulator, type Emulator, type FaultScript } from "../index";
import { caller } from "../testClient";
import { TestClock } from "../testClock";

let emulator: Emulator;
let clock: TestClock;
let errors: string[];
beforeEach(async () => {
  clock = new TestClock();
  errors = [];
  emulator = await startEmulator({
    clock,
    provisioningSeconds: 10,
    errorLog: (line) => errors.push(line),
  });
});
afterEach(async () => {
  await emulator.close();
  expect(errors).toEqual([]);
});

const instanceCount = () => emulator.control.instances().length;
const lastRequest = () => emulator.control.requests().at(-1);
const newCaller = () => caller(emulator);
/** Scripts a fault for the next POST. */
const onCreate = (script: FaultScript) => emulator.control.fault({ method: "POST", ...script });

/** Returns the statuses of so many requests. */
async function statusesOf(count: number): Promise<number[]> {
  const statuses = [];
  for (let n = 0; n < count; n++) statuses.push((await newCaller().ask("GET", "/account")).status);
  return statuses;
}

describe("a fault applies", () => {
  test("to one request by default", async () => {
    emulator.control.fault({ kind: "status", status: 503 });
    expect(await statusesOf(2)).toEqual([503, 200]);
  });

  test("to as many requests as `times` says, after those that `after` lets through", async () => {
    const fault = emulator.control.fault({ kind: "status", status: 503, after: 2, times: 2 });
    expect(await statusesOf(6)).toEqual([200, 200, 503, 503, 200, 200]);
    expect(fault.hits).toBe(2);
  });

  test.each([Infinity, "always"] as const)(
    "to all requests with %s, until it is removed",
    async (times) => {
      const fault = emulator.control.fault({ kind: "status", status: 503, times });
      expect(await statusesOf(3)).toEqual([503, 503, 503]);
      fault.remove();
      expect(await statusesOf(1)).toEqual([200]);
    },
  );

  test("to requests that match its method, path and name", async () => {
    const when = (match: Partial<FaultScript>) =>
      emulator.control.fault({ kind: "status", status: 503, ...match } as FaultScript);
    const scripts = [
      when({ method: "DELETE" }),
      when({ path: "/v2/account/*" }),
      when({ name: "web-*" }),
    ];
    await newCaller().ask("GET", "/instances");
    expect(scripts.map(({ hits }) => hits)).toEqual([0, 0, 0]);
    await newCaller().ask("DELETE", "/account");
    await newCaller().ask("GET", "/account/x");
    await newCaller().ask("POST", "/instances", { name: "web-1" });
    expect(scripts.map(({ hits }) => hits)).toEqual([1, 1, 1]);
  });

  test("without a second delivery fault, which applies to the next request instead", async () => {
    emulator.control.fault({ kind: "status", status: 500 });
    emulator.control.fault({ kind: "status", status: 503 });
    expect(await statusesOf(3)).toEqual([500, 503, 200]);
  });

  test("visibly: the log names the fault, and firstHit resolves", async () => {
    const fault = emulator.control.fault({ kind: "body", text: "" });
    await newCaller().ask("GET", "/account");
    await fault.firstHit;
    expect(lastRequest()).toMatchObject({ faults: ["body"], acted: true, status: 200 });
  });

  test.each([
    { kind: "nonsense" },
    { kind: "status" },
    { kind: "status", status: 99 },
    { kind: "hang", time: 3 },
    { kind: "hang", times: -1 },
  ])("never if its script is invalid, which is an error: %j", (script) => {
    expect(() => emulator.control.fault(script as FaultScript)).toThrow(/^fault: /);
  });
});

describe("status", () => {
  test.each([429, 504])("%d before and after acting", async (status) => {
    onCreate({ kind: "status", status });
    expect(await newCaller().create("a")).toMatchObject({
      status,
      body: { error: { code: "scripted_fault", request_id: expect.stringMatching(/^req_/) } },
    });
    expect(instanceCount()).toBe(0);
    expect(lastRequest()).toMatchObject({ acted: false, status });
    onCreate({ kind: "status", status, acted: true });
    expect((await newCaller().create("b")).status).toBe(status);
    expect(instanceCount()).toBe(1);
    expect(lastRequest()).toMatchObject({ acted: true, status });
  });

  test("with Retry-After, without, and with a body of its own", async () => {
    emulator.control.fault({ kind: "status", status: 429, retryAfter: 7 });
    expect((await newCaller().ask("GET", "/account")).headers.get("retry-after")).toBe("7");
    emulator.control.fault({
      kind: "status",
      status: 429,
      body: "later",
      contentType: "text/plain",
    });
    const reply = await newCaller().ask("GET", "/account");
    expect([reply.headers.get("retry-after"), reply.text]).toEqual([null, "later"]);
  });
});

describe("no answer", () => {
  test.each([false, true])("reset, acted: %s", async (acted) => {
    onCreate({ kind: "reset", acted });
    await expect(newCaller().create("a")).rejects.toThrow();
    expect(instanceCount()).toBe(acted ? 1 : 0);
    expect(lastRequest()).toMatchObject({ status: undefined, acted });
  });

  test.each([false, true])("hang until released, acted: %s", async (acted) => {
    const fault = onCreate({ kind: "hang", acted });
    const reply = newCaller().create("a");
    await fault.firstHit;
    // Once a second request is answered, the first one has surely been handled.
    await newCaller().ask("GET", "/account");
    expect(instanceCount()).toBe(acted ? 1 : 0);
    fault.release();
    expect((await reply).status).toBe(202);
    expect(instanceCount()).toBe(1);
  });

  test("the emulator can be closed while a request hangs", async () => {
    const fault = onCreate({ kind: "hang" });
    const reply = newCaller().create("a");
    await fault.firstHit;
    await emulator.close();
    await expect(reply).rejects.toThrow();
    fault.release();
  });

  test("delay before and after acting", async () => {
    for (const acted of [false, true]) {
      const before = instanceCount();
      const fault = onCreate({ kind: "delay", milliseconds: 50, acted });
      const reply = newCaller().create("late");
      await fault.firstHit;
      // If the service acts before the delay, it has acted by now. The delay itself lasts much longer.
      await new Promise(setImmediate);
      expect(instanceCount() - before).toBe(acted ? 1 : 0);
      expect((await reply).status).toBe(202);
      expect(instanceCount() - before).toBe(1);
    }
  });
});

describe("bodies", () => {
  beforeEach(() => {
    emulator.control.insert({ name: "a", tenant: "acme" });
  });

  test("cut", async () => {
    onCreate({ kind: "cutBody" });
    await expect(newCaller().create("b")).rejects.toThrow();
    expect(instanceCount()).toBe(2);
    emulator.control.fault({ kind: "cutBody", bytes: 5 });
    expect(await rawResponse("/v2/instances")).toMatch(
      /Content-Length: \d{3}\r\n[^]*\r\n\r\n\{"obj$/i,
    );
  });

  test("HTML", async () => {
    emulator.control.fault({ kind: "html", status: 502 });
    const reply = await newCaller().ask("GET", "/instances");
    expect([reply.status, reply.headers.get("content-type")]).toEqual([502, "text/html"]);
    onCreate({ kind: "html", acted: true });
    expect(await newCaller().create("b")).toMatchObject({ status: 200, body: undefined });
    expect(instanceCount()).toBe(2);
  });

  test("any text", async () => {
    for (const text of ['{"id":', ""]) {
      onCreate({ kind: "body", text });
      expect(await newCaller().create("b")).toMatchObject({ status: 202, text });
    }
    expect(instanceCount()).toBe(3);
  });

  test("a redirect", async () => {
    onCreate({ kind: "redirect", location: "http://127.0.0.1:1/steal", status: 308 });
    const reply = await newCaller().create("b");
    expect([reply.status, reply.headers.get("location")]).toEqual([
      308,
      "http://127.0.0.1:1/steal",
    ]);
    expect(instanceCount()).toBe(1);
  });
});

describe("the instance that a POST makes", () => {
  test("never leaves PROVISIONING, not even by finishProvisioning(), until setStatus() heals it", async () => {
    onCreate({ kind: "neverLeavesProvisioning", name: "stuck" });
    await newCaller().create("fine");
    await newCaller().create("stuck");
    clock.advance(3600);
    emulator.control.finishProvisioning();
    expect(await newCaller().statuses()).toEqual(["ACTIVE", "PROVISIONING"]);
    const stuck = emulator.control.instances().find(({ name }) => name === "stuck");
    emulator.control.setStatus(stuck?.id ?? "", "ACTIVE");
    expect(await newCaller().statuses()).toEqual(["ACTIVE", "ACTIVE"]);
  });

  test("is the only thing that a fault of an instance or a listing is used up by", async () => {
    const ending = emulator.control.fault({ kind: "endsAs", status: "OFFLINE" });
    const omitting = emulator.control.fault({ kind: "omitItem" });
    await newCaller().ask("GET", "/account");
    expect([ending.hits, omitting.hits]).toEqual([0, 0]);
    await newCaller().create("web");
    clock.advance(11);
    expect(await newCaller().statuses()).toEqual([]);
    expect(await newCaller().statuses()).toEqual(["OFFLINE"]);
  });

  test("ends in a status that the API document does not list and no filter finds", async () => {
    onCreate({ kind: "endsAs", status: "RESCUE" });
    await newCaller().create("odd");
    clock.advance(11);
    expect(await newCaller().statuses()).toEqual(["RESCUE"]);
    expect(await newCaller().names("?status=ACTIVE")).toEqual([]);
  });

  test("appears in listings after a delay, even if the 202 was lost", async () => {
    onCreate({ kind: "appearsAfter", seconds: 90 });
    onCreate({ kind: "reset", acted: true });
    await expect(newCaller().create("late")).rejects.toThrow();
    clock.advance(89);
    expect([await newCaller().names(), instanceCount()]).toEqual([[], 1]);
    clock.advance(1);
    expect(await newCaller().names()).toEqual(["late"]);
  });
});

describe("a 202 that names an instance which existed before", () => {
  const other = { id: "i-other", name: "billing", tenant: "acme" };
  const idIn = ({ body }: { body: unknown }) => (body as { id: string }).id;

  test.each([false, true])("is otherwise a proper one, acted: %s", async (acted) => {
    emulator.control.insert(other);
    onCreate({ kind: "existingId", instance: "bill*", acted });
    const wrong = await newCaller().create("web");
    expect(wrong).toMatchObject({
      status: 202,
      body: { id: "i-other", name: "billing", status: "PROVISIONING" },
    });
    expect(await newCaller().names()).toEqual(acted ? ["billing", "web"] : ["billing"]);
    expect(emulator.control.requests()[0]).toMatchObject({
      faults: ["existingId"],
      acted,
      status: 202,
    });
    const right = await newCaller().create("web");
    expect(Object.keys(wrong.body as object)).toEqual(Object.keys(right.body as object));
  });

  test("names the oldest one with the id or name, and never the one that this POST makes", async () => {
    emulator.control.insert(other);
    emulator.control.insert({ ...other, id: "i-younger" });
    onCreate({ kind: "existingId", acted: true, times: "always" });
    expect(idIn(await newCaller().create("web"))).toBe("i-other");
    emulator.control.remove("i-other");
    emulator.control.remove("i-younger");
    const [web] = emulator.control.instances();
    expect(idIn(await newCaller().create("billing"))).toBe(web?.id);
  });

  test("is the true one if there is no such instance, or if it is another tenant's or token kind's", async () => {
    emulator.control.insert({ ...other, tenant: "elsewhere" });
    emulator.control.insert({ ...other, id: "i-live", tokenKind: "live" });
    onCreate({ kind: "existingId", instance: "billing" });
    const { body } = await newCaller().create("web");
    expect(body).toMatchObject({ name: "web" });
    expect(lastRequest()).toMatchObject({ acted: true });
    expect(await newCaller().names()).toEqual(["web"]);
  });

  test("is not the answer to a request that the service refuses", async () => {
    emulator.control.insert(other);
    onCreate({ kind: "existingId", acted: true });
    expect((await newCaller().ask("POST", "/instances", { name: "web" })).status).toBe(400);
    expect(lastRequest()).toMatchObject({ acted: true });
    expect(instanceCount()).toBe(1);
  });
});

describe("a listing", () => {
  beforeEach(() => {
    for (const name of ["web-1", "web-2", "db-1"])
      emulator.control.insert({ name, tenant: "acme", id: `i-${name}` });
  });
  const onList = (script: FaultScript) => emulator.control.fault(script);

  test("leaves instances out, by id or name", async () => {
    onList({ kind: "omitItem", instance: "web-*" });
    onList({ kind: "omitItem", instance: "i-db-1" });
    expect(await newCaller().names()).toEqual([]);
    expect(await newCaller().names()).toEqual(["web-1", "web-2", "db-1"]);
  });

  test("leaves public addresses out, or shows others", async () => {
    onList({ kind: "omitAddress", instance: "web-1" });
    onList({ kind: "omitAddress", instance: "web-2", instead: "0.0.0.0" });
    const shown = async () => (await newCaller().list()).data.map((item) => item.ipv4_public);
    const inserted = emulator.control.instances().map((instance) => instance.ipv4_public);
    expect(await shown()).toEqual([null, "0.0.0.0", inserted[2]]);
    expect(await shown()).toEqual(inserted);
  });

  test("shows an instance twice", async () => {
    onList({ kind: "duplicateIds", instance: "web-2" });
    expect(await newCaller().names()).toEqual(["web-1", "web-2", "web-2", "db-1"]);
  });

  test("shows another id in each call", async () => {
    onList({ kind: "changeIds", instance: "db-1", times: 2 });
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push((await newCaller().list()).data[2]?.id);
    expect(new Set(ids).size).toBe(3);
    expect(ids[2]).toBe("i-db-1");
  });

  test("shows another status than the true one", async () => {
    onList({ kind: "showStatus", instance: "db-1", status: "MIGRATING" });
    expect(await newCaller().statuses()).toEqual(["ACTIVE", "ACTIVE", "MIGRATING"]);
    expect(await newCaller().statuses()).toEqual(["ACTIVE", "ACTIVE", "ACTIVE"]);
  });

  test("claims that there are more pages", async () => {
    onList({ kind: "hasMoreForever" });
    expect(await newCaller().list()).toMatchObject({ has_more: true });
    expect(await newCaller().list()).toMatchObject({ has_more: false });
  });
});

/** Returns the bytes of a response, up to the end of the connection. */
async function rawResponse(path: string): Promise<string> {
  const socket = connect(emulator.port, "127.0.0.1");
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk_test_acme_1\r\n\r\n`);
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
}
