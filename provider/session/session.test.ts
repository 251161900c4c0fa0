/** Tests of what a session tells all its operations. */
import { expect, test } from "@jest/globals";
import { whyOpen } from "../evidence/why";
import type { Open } from "../evidence/witness";
import { askAbout } from "../instance/existence";
import { answered, fail, type FakeService } from "../testing/fakeService";
import { errorOf, scene } from "../testing/scene";

test("a session warns only once that the service ignores the cursor", async () => {
  const { session, service, messages, clock } = scene({ cursorParameter: "after" });
  for (let n = 0; n < 150; n++) service.has(`i-${n}`);
  await session.list(session.operations.begin(60));
  await clock.sleep(10_000);
  await session.list(session.operations.begin(60));
  expect(messages.warnings).toEqual([expect.stringContaining('compute:cursorParameter "after"')]);
});

test("without the setting, the usual cursor is tried once in a session, and nothing is said of it", async () => {
  for (const cursorParameter of [undefined, "starting_after"]) {
    const { session, service, messages, clock } = scene();
    service.cursorParameter = cursorParameter;
    for (let n = 0; n < 150; n++) service.has(`i-${n}`);
    for (let n = 0; n < 3; n++) {
      const { complete } = await session.list(session.operations.begin(60));
      expect(complete).toBe(cursorParameter !== undefined);
      await clock.sleep(10_000);
    }
    expect(service.count("list after")).toBe(cursorParameter === undefined ? 1 : 4);
    expect(messages.warnings).toEqual([]);
  }
});

test("once the usual cursor has led to the end, a page that is refused does not end its use", async () => {
  const { session, service, clock } = scene();
  service.cursorParameter = "starting_after";
  for (let n = 0; n < 150; n++) service.has(`i-${n}`);
  for (const complete of [true, false, true]) {
    if (!complete) service.listFaults.push(undefined, fail(answered(404, "GET")));
    expect(await session.list(session.operations.begin(60))).toMatchObject({ complete });
    await clock.sleep(10_000);
  }
});

test('with the cursor parameter "none", none is tried', async () => {
  const { session, service } = scene({ cursorParameter: "none" });
  for (let n = 0; n < 150; n++) service.has(`i-${n}`);
  await session.list(session.operations.begin(60));
  expect(service.count("list after")).toBe(0);
  expect(service.count("list")).toBe(4);
});

let endlessCount = 0;
const endless: FakeService["page"] = ({ cursor }) =>
  cursor && {
    items: [{ id: `p-${endlessCount++}` }],
    hasMore: true,
    unreadable: 0,
  };

test.each<[string, FakeService["page"], number]>([
  ["the list never ends", endless, 499],
  ["the parameter is ignored", undefined, 1],
])(
  "if %s, the cursor is used for one listing of the session, and one warning says what follows",
  async (_what, page, pagesAfterFirst) => {
    const { session, service, messages, clock } = scene({ cursorParameter: "after" });
    for (let n = 0; n < 150; n++) service.has(`i-${n}`);
    service.page = page;
    for (let n = 0; n < 4; n++) {
      const { complete } = await session.list(session.operations.begin(60));
      expect(complete).toBe(false);
      await clock.sleep(10_000);
    }
    expect(service.count("list after")).toBe(pagesAfterFirst);
    // Each listing has an unfiltered page, and one of each status.
    expect(service.count("list")).toBe(pagesAfterFirst + 4 * 4);
    expect(messages.warnings).toEqual([
      expect.stringMatching(
        /compute:cursorParameter "after".*The rest of this run lists without it.*Set compute:cursorParameter to/,
      ),
    ]);
  },
);

test("after a page that the service refused, the next listing uses the cursor again", async () => {
  const { session, service, messages, clock } = scene({ cursorParameter: "after" });
  service.cursorParameter = "after";
  for (let n = 0; n < 150; n++) service.has(`i-${n}`);
  // For example, the last instance of the page before was removed meanwhile.
  service.listFaults.push(undefined, fail(answered(404, "GET")));
  await session.list(session.operations.begin(60));
  await clock.sleep(10_000);
  expect(await session.list(session.operations.begin(60))).toMatchObject({
    complete: true,
  });
  expect(messages.warnings).toEqual([expect.not.stringContaining("The rest of this run")]);
});

test("after an instance that moved while the pages were fetched, the next listing uses the cursor again", async () => {
  const { session, service, messages, clock } = scene({ cursorParameter: "after" });
  service.cursorParameter = "after";
  for (let n = 0; n < 250; n++) service.has(`i-${n}`);
  // The list is in the order of the last change, and the first instance has just changed.
  service.listFaults.push(undefined, () => {
    const moved = service.instances.get("i-0");
    service.instances.delete("i-0");
    service.has("i-0", moved);
  });
  for (const complete of [false, true]) {
    expect(await session.list(session.operations.begin(60))).toMatchObject({
      complete,
    });
    await clock.sleep(10_000);
  }
  expect(messages.warnings).toEqual([
    expect.stringMatching(/\(a page repeated instances.*The next listing uses the parameter again/),
  ]);
});

test("a search for an instance says that the cursor was given up", async () => {
  const { session, service } = scene({ cursorParameter: "after" });
  for (let n = 0; n < 150; n++) service.has(`i-${n}`);
  const instance = { id: "i-none", origin: undefined, acceptedAt: undefined };
  const { verdict } = await askAbout(session, instance, session.operations.begin(60));
  expect(verdict).toMatchObject({ kind: "open", why: "incomplete" });
  expect(whyOpen(verdict as Open, session)).toContain(
    'this run no longer uses compute:cursorParameter "after"',
  );
});

test.each([
  ["10 s ago", -10_000, 20_000],
  ["in the future, since the wall clock was set back", 10_000, 30_000],
  ["at no valid date", NaN, 30_000],
])("the settling time of a POST that was sent %s ends in time", (_when, sinceNow, left) => {
  const { session, clock } = scene({ settlingSeconds: 30 });
  const at = new Date(clock.date().getTime() + sinceNow);
  const postedAt = Number.isNaN(sinceNow) ? "no date" : at.toISOString();
  expect(session.settledBy(postedAt)).toBe(clock.now() + left);
});

test("an operation that waits for the first listing ends at once if the account call gets a pause that is too long (G6)", async () => {
  const { session, service, clock } = scene();
  service.accountAnswer = () => {
    const error = answered(429, "GET");
    const call = { method: "GET", path: "/v2/account" } as const;
    session.operations.retrying({ ...call, error, inMs: 3_600_000, isAsked: true });
    return new Promise(() => undefined);
  };
  using operation = session.operations.begin(300);
  const begunAt = clock.now();
  const error = await errorOf(session.list(operation));
  expect(error).toMatchObject({ name: "TimedOut", pause: { error: { status: 429 } } });
  expect(clock.now()).toBe(begunAt);
});
