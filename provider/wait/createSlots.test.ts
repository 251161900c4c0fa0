import { expect, test } from "@jest/globals";
import { Canceled } from "../abort";
import { CreateSlots } from "./createSlots";

/** The slots, and creates that enter them. */
function setUp(hasCursor = false) {
  const slots = new CreateSlots({ hasCursor });
  const cancellation = new AbortController();
  const inside: string[] = [];
  const held: string[] = [];
  const failed: Error[] = [];
  /** So many creates at once. */
  const create = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const urn = `web-${n}`;
      slots
        .enter(urn, cancellation.signal, () => void held.push(urn))
        .then(
          () => void inside.push(urn),
          (error: Error) => void failed.push(error),
        );
    }
    await new Promise(setImmediate);
  };
  const leave = (urn: string) => {
    slots.leave(urn);
    return new Promise(setImmediate);
  };
  return { create, leave, inside, held, failed, cancellation };
}

test("a cursor shows everything: all go at once", async () => {
  const { create, inside } = setUp(true);
  await create(1000);
  expect(inside).toHaveLength(1000);
});

test("as many go as a page shows, the next as each leaves, in order", async () => {
  const { create, leave, inside, held } = setUp();
  await create(301);
  expect(inside).toHaveLength(100);
  expect(held).toHaveLength(201);
  await leave("web-7");
  expect(inside.slice(100)).toEqual(["web-100"]);
  // To leave twice makes no more room.
  await leave("web-7");
  expect(inside).toHaveLength(101);
  for (let n = 0; n < 301; n++) await leave(inside[n] ?? "");
  expect(inside).toEqual(Array.from({ length: 301 }, (_, n) => `web-${n}`));
});

test("who comes back for a fresh baseline goes in at once", async () => {
  const { create, inside } = setUp();
  await create(100);
  await create(1);
  expect(inside.slice(99)).toEqual(["web-99", "web-0"]);
});

test("Ctrl-C ends the wait of all, and leaves their place to nobody", async () => {
  const { create, leave, inside, held, failed, cancellation } = setUp();
  await create(150);
  cancellation.abort(new Canceled());
  await leave("web-0");
  expect(inside).toHaveLength(100);
  expect(failed).toHaveLength(50);
  expect(failed.every((error) => error instanceof Canceled)).toBe(true);
  expect(held).toHaveLength(50);
});
