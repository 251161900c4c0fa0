import { expect, test } from "@jest/globals";
import { answered, failed, fail, FakeService } from "../testing/fakeService";
import { errorOf } from "../testing/scene";
import { collect } from "./collect";

const never = new AbortController().signal;

function service(count: number, statusOf: (n: number) => string = () => "ACTIVE"): FakeService {
  const fake = new FakeService();
  for (let n = 1; n <= count; n++) fake.has(`i-${n}`, { status: statusOf(n) });
  return fake;
}

/** The listing, and what was said of the cursor. */
async function take(fake: FakeService, cursorParameter?: string) {
  const ignored: string[] = [];
  const options = { cursorParameter, onCursorIgnored: (why: string) => void ignored.push(why) };
  return { ...(await collect(fake, options, never)), ignored };
}

test("one page that has no more is complete, for one request", async () => {
  const fake = service(100);
  const { complete, items } = await take(fake, "starting_after");
  expect(complete).toBe(true);
  expect(items.size).toBe(100);
  expect(fake.calls).toEqual(["list"]);
});

test("without a cursor, more than a page is listed by status, and proves no absence (G3)", async () => {
  const fake = service(150, (n) => (n % 2 ? "ACTIVE" : "OFFLINE"));
  const { complete, completeStatuses, items } = await take(fake);
  expect(fake.calls).toEqual(["list", "list PROVISIONING", "list ACTIVE", "list OFFLINE"]);
  expect(items.size).toBe(150);
  expect(complete).toBe(false);
  expect([...completeStatuses]).toEqual(["PROVISIONING", "ACTIVE", "OFFLINE"]);
});

test("a status with more than a page is not complete", async () => {
  const { completeStatuses, items } = await take(service(150));
  expect([...completeStatuses]).toEqual(["PROVISIONING", "OFFLINE"]);
  expect(items.size).toBe(100);
});

test("a cursor that is honoured pages to the end", async () => {
  const fake = service(250);
  fake.cursorParameter = "starting_after";
  const { complete, items, ignored } = await take(fake, "starting_after");
  expect(fake.calls).toEqual(["list", "list after i-100", "list after i-200"]);
  expect(complete).toBe(true);
  expect(items.size).toBe(250);
  expect(ignored).toEqual([]);
});

test("a cursor that is ignored is said to be, and the statuses are listed instead", async () => {
  const fake = service(150);
  const { complete, ignored } = await take(fake, "starting_after");
  expect(complete).toBe(false);
  expect(ignored).toEqual(["a page repeated instances already seen"]);
  expect(fake.calls.slice(2)).toEqual(["list PROVISIONING", "list ACTIVE", "list OFFLINE"]);
});

test("a cursor that pages with an overlap proves nothing, but what it shows is used", async () => {
  const fake = service(150);
  fake.page = ({ cursor, status }) =>
    cursor && !status
      ? { items: [...fake.instances.values()].slice(99), hasMore: false, unreadable: 0 }
      : undefined;
  const { complete, items } = await take(fake, "starting_after");
  expect(complete).toBe(false);
  expect(items.size).toBe(150);
});

test("an empty page where more was promised proves nothing: it may be the cursor's fault (G3)", async () => {
  const fake = service(150);
  fake.page = ({ cursor }) => (cursor ? { items: [], hasMore: false, unreadable: 0 } : undefined);
  const { complete, ignored } = await take(fake, "offset");
  expect(complete).toBe(false);
  expect(ignored).toEqual(["a page that should have more was empty"]);
});

test("a service that refuses the cursor with a 400 is listed by status", async () => {
  const fake = service(150);
  fake.listFaults.push(undefined, fail(answered(400, "GET")));
  const { complete, ignored } = await take(fake, "nonsense");
  expect(complete).toBe(false);
  expect(ignored[0]).toContain("HTTP 400");
});

test.each([answered(401, "GET"), answered(403, "GET"), answered(500, "GET"), failed("unanswered")])(
  "a page that fails otherwise fails the listing: %s",
  async (error) => {
    const fake = service(150);
    fake.listFaults.push(undefined, fail(error));
    expect(await errorOf(take(fake, "starting_after"))).toBe(error);
  },
);

test("a service that has more for ever is given up, and proves nothing", async () => {
  const fake = service(1);
  let page = 0;
  fake.page = ({ status }) =>
    status ? undefined : { items: [{ id: `p-${page++}` }], hasMore: true, unreadable: 0 };
  const { complete, ignored } = await take(fake, "starting_after");
  expect(complete).toBe(false);
  expect(ignored).toEqual(["500 pages had no end"]);
});

test("an item that can't be read leaves the others, and the listing proves no absence (G3)", async () => {
  const fake = service(3);
  fake.unreadable = 1;
  const { complete, unreadable, items } = await take(fake);
  expect({ complete, unreadable, seen: items.size }).toEqual({
    complete: false,
    unreadable: 1,
    seen: 3,
  });
});

test("a first page of which nothing can be read has no cursor to go on with", async () => {
  const fake = service(0);
  fake.page = () => ({ items: [], hasMore: true, unreadable: 5 });
  const { complete, ignored, completeStatuses } = await take(fake, "starting_after");
  expect(complete).toBe(false);
  expect(ignored).toEqual(["no instance of a page could be read"]);
  expect(completeStatuses.size).toBe(0);
});

test("an instance that moves on between two requests is seen as it was last", async () => {
  const fake = service(150, (n) => (n === 1 ? "PROVISIONING" : "ACTIVE"));
  fake.listFaults.push(undefined, undefined, () => {
    fake.set("i-1", { status: "ACTIVE" });
  });
  const { items } = await take(fake);
  expect(items.get("i-1")?.status).toBe("ACTIVE");
});
