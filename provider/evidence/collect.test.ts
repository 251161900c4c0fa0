/** Tests how a listing is fetched: in pages by the cursor, and by status without one. */
import { expect, test } from "@jest/globals";
import { answered, failed, fail, FakeService } from "../testing/fakeService";
import { errorOf } from "../testing/scene";
import { collect, pagesBy } from "./collect";
import type { CursorProblem } from "./listing";

const never = new AbortController().signal;

function service(count: number, statusOf: (n: number) => string = () => "ACTIVE"): FakeService {
  const fake = new FakeService();
  for (let n = 1; n <= count; n++) fake.has(`i-${n}`, { status: statusOf(n) });
  return fake;
}

const collectFrom = (fake: FakeService, cursorParameter?: string) =>
  collect(fake, async () => cursorParameter, never);

test("a listing of one page is complete after one request", async () => {
  const fake = service(100);
  const { complete, items } = await collectFrom(fake, "starting_after");
  expect(complete).toBe(true);
  expect(items.size).toBe(100);
  expect(fake.calls).toEqual(["list"]);
});

test("without a cursor, instances beyond one page are listed by status, and prove no absence (G3)", async () => {
  const fake = service(150, (n) => (n % 2 ? "ACTIVE" : "OFFLINE"));
  const { complete, completeStatuses, items } = await collectFrom(fake);
  expect(fake.calls).toEqual(["list", "list PROVISIONING", "list ACTIVE", "list OFFLINE"]);
  expect(items.size).toBe(150);
  expect(complete).toBe(false);
  expect([...completeStatuses]).toEqual(["PROVISIONING", "ACTIVE", "OFFLINE"]);
});

test("a status with more than one page is not listed completely", async () => {
  const { completeStatuses, items } = await collectFrom(service(150));
  expect([...completeStatuses]).toEqual(["PROVISIONING", "OFFLINE"]);
  expect(items.size).toBe(100);
});

test("with a cursor that the service supports, all pages are fetched", async () => {
  const fake = service(250);
  fake.cursorParameter = "starting_after";
  const { complete, items, cursorProblem } = await collectFrom(fake, "starting_after");
  expect(fake.calls).toEqual(["list", "list after i-100", "list after i-200"]);
  expect([complete, items.size, cursorProblem]).toEqual([true, 250, undefined]);
});

const idsOf = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => ({ id: `i-${from + n}` }));
const page = (items: { id: string }[], hasMore = false) => ({ items, hasMore, unreadable: 0 });
let pageCount = 0;
const repeated = "a page repeated instances of an earlier page";
const empty = "a page had no readable instance, although more were promised";
const endless = "the list had not ended after 500 pages";
const lasting = (why: string) => ({ why, isLasting: true });
const passing = (why: string) => ({ why, isLasting: false });

test.each<[string, FakeService["page"], CursorProblem, number]>([
  ["is ignored", undefined, lasting(repeated), 100],
  ["leads to an overlap", () => page([{ id: "i-100" }, { id: "i-150" }]), passing(repeated), 101],
  // The parameter may mean something else to the service.
  ["leads to an empty page before the end", () => page([]), passing(empty), 100],
  ["never ends", () => page([{ id: `p-${pageCount++}` }], true), lasting(endless), 599],
])("a cursor that %s is reported, and proves nothing (G3)", async (_what, after, problem, seen) => {
  const fake = service(150);
  fake.page = (query) => (query.cursor ? after?.(query) : undefined);
  const { complete, cursorProblem, items } = await collectFrom(fake, "starting_after");
  expect({ complete, size: items.size, cursorProblem }).toEqual({
    complete: false,
    size: seen,
    cursorProblem: problem,
  });
  // The instances are listed by status instead.
  expect(fake.calls.slice(-3)).toEqual(["list PROVISIONING", "list ACTIVE", "list OFFLINE"]);
});

test.each([
  // In the order of the last change, the newest last: i-1 has just become ACTIVE.
  ["to a later page", [...idsOf(201, 250), { id: "i-1" }]],
  // With the newest first: the last instance of the page before has just become ACTIVE, so the list begins anew behind it.
  ["to the first page", idsOf(1, 100)],
])(
  "an instance that moves %s while the pages are fetched makes only this listing incomplete (G3)",
  async (_where, last) => {
    const fake = service(250);
    const second = page(idsOf(101, 200), true);
    const third = page(last, true);
    fake.page = ({ cursor }) => cursor && (cursor.value === "i-100" ? second : third);
    const { complete, cursorProblem } = await collectFrom(fake, "starting_after");
    expect({ complete, cursorProblem }).toEqual({
      complete: false,
      cursorProblem: passing(repeated),
    });
  },
);

test("if the service refuses the cursor with a 400, the instances are listed by status", async () => {
  const fake = service(150);
  fake.listFaults.push(undefined, fail(answered(400, "GET")));
  const { complete, cursorProblem } = await collectFrom(fake, "nonsense");
  expect(complete).toBe(false);
  expect(cursorProblem).toEqual({ why: expect.stringContaining("HTTP 400"), isLasting: false });
});

/** The ids of 100 instances, and what the service answers to the guess. */
const firstIds = Array.from({ length: 100 }, (_, n) => `i-${n}`);
const guess = (again: readonly string[] | Error, ids: readonly string[]) => {
  const fake = new FakeService();
  const pageOf = (all: readonly string[]) => ({
    items: all.map((id) => ({ id })),
    hasMore: true,
    unreadable: 0,
  });
  fake.page = () => {
    if (again instanceof Error) throw again;
    return pageOf(again);
  };
  return { fake, result: pagesBy(fake, "starting_after", pageOf(ids), never) };
};
const half = firstIds.slice(50);
const more = ["i-100", "i-101"];

test.each<[string, readonly string[], readonly string[]]>([
  ["its second half again, and more", [...half, ...more], firstIds],
  ["also without some that went meanwhile", [...half.slice(2), ...more], firstIds],
  ["also with one that came meanwhile", ["new", ...half], firstIds],
  ["also of a short page", ["c", "d"], ["a", "b", "c", "d"]],
])("a parameter pages if the middle of the first page gives %s", async (_, again, ids) => {
  const { fake, result } = guess(again, ids);
  expect(await result).toBe(true);
  expect(fake.calls).toEqual([`list after ${ids[ids.length / 2 - 1] ?? ""}`]);
});

test.each<[string, readonly string[] | Error, readonly string[]]>([
  ["the first page again", firstIds, firstIds],
  ["another order", [...half].reverse(), firstIds],
  ["instances of the first half, too", ["i-3", ...half], firstIds],
  ["only one that is known", ["i-99", ...more], firstIds],
  ["nothing that is known", more, firstIds],
  ["nothing", [], firstIds],
  ["a page of which only one more is known", ["b"], ["a", "b"]],
  ["a 400", answered(400, "GET"), firstIds],
  ["a 401", answered(401, "GET"), firstIds],
  ["a 403", answered(403, "GET"), firstIds],
  ["a 500", answered(500, "GET"), firstIds],
  ["no answer", failed("unanswered", "time-out", "GET"), firstIds],
])("a parameter does not page if it gives %s", async (_, again, ids) => {
  const { fake, result } = guess(again, ids);
  expect(await result).toBe(false);
  expect(fake.calls).toHaveLength(1);
});

test.each([answered(401, "GET"), answered(403, "GET"), answered(500, "GET"), failed("unanswered")])(
  "if a page fails for another reason, the listing fails: %s",
  async (error) => {
    const fake = service(150);
    fake.listFaults.push(undefined, fail(error));
    expect(await errorOf(collectFrom(fake, "starting_after"))).toBe(error);
  },
);

test("an unreadable item does not hide the other items, but the listing proves no absence (G3)", async () => {
  const fake = service(3);
  fake.unreadable = 1;
  const { complete, unreadable, items } = await collectFrom(fake);
  expect([complete, items.size, unreadable]).toEqual([false, 3, 1]);
});

test("a first page without readable items has no id for the cursor", async () => {
  const fake = service(0);
  fake.page = () => ({ items: [], hasMore: true, unreadable: 5 });
  const { complete, cursorProblem, completeStatuses } = await collectFrom(fake, "starting_after");
  expect(complete).toBe(false);
  expect(cursorProblem?.why).toBe("no instance of the first page could be read");
  expect(completeStatuses.size).toBe(0);
});

test("an instance whose status changes between two requests has its latest status", async () => {
  const fake = service(150, (n) => (n === 1 ? "PROVISIONING" : "ACTIVE"));
  fake.listFaults.push(undefined, undefined, () => {
    fake.set("i-1", { status: "ACTIVE" });
  });
  const { items } = await collectFrom(fake);
  expect(items.get("i-1")?.status).toBe("ACTIVE");
});
