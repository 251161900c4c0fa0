/** Tests the limit on the creates of a session that run at a time. */
import { expect, test } from "@jest/globals";
import { Canceled } from "../abort";
import { CreateSlots } from "./creates";

/** Makes slots, and functions that let creates enter and leave them. */
function setUp(hasCursor = false) {
  const waiting = () => ({ [Symbol.dispose]: () => undefined });
  const slots = new CreateSlots({ hasCursor }, { waiting });
  const cancellation = new AbortController();
  const entered: string[] = [];
  const waited: string[] = [];
  const failed: Error[] = [];
  /** Begins this many creates at once. */
  const create = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const urn = `web-${n}`;
      slots
        .enter(urn, cancellation.signal, () => void waited.push(urn))
        .then(
          () => void entered.push(urn),
          (error: Error) => void failed.push(error),
        );
    }
    await new Promise(setImmediate);
  };
  const leave = (urn: string) => {
    slots.leave(urn);
    return new Promise(setImmediate);
  };
  return { slots, create, leave, entered, waited, failed, cancellation };
}

test("with a cursor, all creates run at once", async () => {
  const { create, entered } = setUp(true);
  await create(1000);
  expect(entered).toHaveLength(1000);
});

test("without a cursor, 100 creates run, as many as a page shows, and the next one enters when one leaves", async () => {
  const { create, leave, entered, waited } = setUp();
  await create(301);
  expect(entered).toHaveLength(100);
  expect(waited).toHaveLength(201);
  await leave("web-7");
  expect(entered.slice(100)).toEqual(["web-100"]);
  // A second `leave` frees no further slot.
  await leave("web-7");
  expect(entered).toHaveLength(101);
  for (let n = 0; n < 301; n++) await leave(entered[n] ?? "");
  expect(entered).toEqual(Array.from({ length: 301 }, (_, n) => `web-${n}`));
});

test("a create that already holds a slot enters at once", async () => {
  const { create, entered } = setUp();
  await create(100);
  await create(1);
  expect(entered.slice(99)).toEqual(["web-99", "web-0"]);
});

test("Ctrl-C ends the wait of all creates, and the next free slot goes to a later create", async () => {
  const { slots, create, leave, entered, failed, cancellation } = setUp();
  await create(150);
  cancellation.abort(new Canceled());
  await new Promise(setImmediate);
  await leave("web-0");
  expect(entered).toHaveLength(100);
  expect(failed).toEqual(Array.from({ length: 50 }, () => new Canceled()));
  const fail = () => {
    throw new Error("no slot is free");
  };
  await slots.enter("later", new AbortController().signal, fail);
});
