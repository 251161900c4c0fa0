/** Tests the lines of the Info column, and how many of them the engine is sent. */
import { expect, test } from "@jest/globals";
import { Redactor } from "../redaction";
import { answered, failed } from "../testing/fakeService";
import { VirtualClock } from "../testing/virtualClock";
import { InfoColumn } from "./infoColumn";

function setUp({ isAtTerminal = false } = {}) {
  const clock = new VirtualClock();
  const shown: string[] = [];
  const none = () => undefined;
  const status = (_urn: string, text: string) => void shown.push(text);
  const messages = { status, info: none, warning: none, debug: none };
  const column = new InfoColumn({
    clock,
    messages,
    redactor: new Redactor(),
    env: {},
    isAtTerminal,
  });
  const begin = (seconds = 900, id?: string) =>
    column.begin({ urn: "web", id, beginsAt: clock.now(), seconds });
  /** What was shown since the last call. */
  const news = () => shown.splice(0);
  return { clock, begin, news };
}

const provisioning = { what: "PROVISIONING", id: "i-1" };

test("in a pipeline, a line is shown after a second, and then each half minute", async () => {
  const { clock, begin, news } = setUp();
  // In floating-point numbers, 10 s after this are less than 10 s.
  await clock.advance(11_001.1);
  using line = begin();
  line.show(provisioning);
  await clock.advance(185_000);
  expect(news()).toEqual(
    ["1 s", "31 s", "61 s", "91 s", "2 min", "2 min", "3 min"].map(
      (time) => `PROVISIONING, ${time} of 15 min, i-1`,
    ),
  );
});

test("at a terminal, a line moves each second", async () => {
  const { clock, begin, news } = setUp({ isAtTerminal: true });
  using line = begin();
  line.show(provisioning);
  await clock.advance(3500);
  expect(news()).toEqual([1, 2, 3].map((s) => `PROVISIONING, ${s} s of 15 min, i-1`));
});

test("what begins anew is shown with the next tick", async () => {
  const { clock, begin, news } = setUp();
  using line = begin();
  line.show({ what: "listing instances" });
  await clock.advance(999);
  line.show({ what: "create sent" });
  await clock.advance(3000);
  expect(news()).toEqual(["create sent, 1 s of 15 min"]);
});

test("trouble comes first, until it ends, and the instance that the call names comes last", async () => {
  const { clock, begin, news } = setUp();
  using line = begin(900, "i-2");
  line.show({ what: "DELETE sent" });
  line.meet({ error: failed("unreachable"), nextAt: 2000 });
  await clock.advance(1500);
  line.meet({ error: failed("unreachable") });
  await clock.advance(9500);
  line.meet(undefined);
  await clock.advance(1000);
  expect(news()).toEqual([
    "no connection, next try in 1 s, 1 s of 15 min, i-2",
    "DELETE sent, 12 s of 15 min, i-2",
  ]);
});

test("from two minutes on, times are in minutes, a time-out if it is whole ones, and a pause has its end in local time", async () => {
  const { clock, begin, news } = setUp();
  const lines = [20, 90, 150, 3600].map((seconds) => begin(seconds));
  lines.forEach((line) =>
    line.meet({ error: answered(429, "GET"), nextAt: 1_201_000, until: new Date(0) }),
  );
  await clock.advance(1000);
  expect(news()).toEqual(
    ["20 s", "90 s", "150 s", "60 min"].map((limit): unknown =>
      expect.stringMatching(
        `^429, next try in 20 min \\(19(69|70)-\\d\\d-\\d\\d \\d\\d:\\d\\d:00 \\S+\\), 1 s of ${limit}$`,
      ),
    ),
  );
});

test.each([
  // Each at 1, 31, 61, 91, 121 and 151 s.
  [{ isAtTerminal: false, count: 100 }, 600],
  // Ten a second, however many they are.
  [{ isAtTerminal: true, count: 100 }, 1790],
  [{ isAtTerminal: true, count: 1000 }, 1790],
  [{ isAtTerminal: true, count: 5 }, 895],
])("instances that wait for three minutes, %j: %d lines", async ({ count, ...where }, lines) => {
  const { clock, begin, news } = setUp(where);
  const waiting = Array.from({ length: count }, () => begin());
  waiting.forEach((line, n) => line.show({ what: "PROVISIONING", id: `i-${n}` }));
  await clock.advance(179_999);
  expect(news()).toHaveLength(lines);
  waiting.forEach((line) => line[Symbol.dispose]());
  expect(clock.sleeping).toBe(0);
});

test("at a terminal, no line of many is left out, and what begins anew comes before what only moves", async () => {
  const { clock, begin, news } = setUp({ isAtTerminal: true });
  const lines = Array.from({ length: 100 }, () => begin());
  lines.forEach((line, n) => line.show({ what: "PROVISIONING", id: `i-${n}` }));
  await clock.advance(10_000);
  expect(new Set(news().map((text) => text.replace(/.* /, ""))).size).toBe(100);
  lines[99]?.meet({ error: answered(429, "GET") });
  await clock.advance(2000);
  expect(news()).toContainEqual(expect.stringMatching(/^429, .* i-99$/));
});

test("no timer runs without an operation under way", async () => {
  const { clock, begin, news } = setUp({ isAtTerminal: true });
  const [first, second] = [begin(), begin()];
  first.show(provisioning);
  await clock.advance(1500);
  expect(clock.sleeping).toBe(1);
  first[Symbol.dispose]();
  second[Symbol.dispose]();
  expect(clock.sleeping).toBe(0);
  // A wait of an operation may end later than the operation.
  first.meet({ error: answered(429, "GET") });
  await clock.advance(5000);
  expect(news()).toHaveLength(1);
});
