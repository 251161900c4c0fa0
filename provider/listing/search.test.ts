import { expect, test } from "@jest/globals";
import { answered, fail } from "../testing/fakeService";
import { errorOf, scene, type Scene } from "../testing/scene";
import { search } from "./search";

const never = new AbortController().signal;
const find = ({ session }: Scene, id = "i-1", settledAt = 0) =>
  search(id, session.listings, { ...session.settings, settledAt }, never);

test("an instance that is listed is found, for one listing", async () => {
  const world = scene();
  world.service.has("i-1");
  expect(await find(world)).toMatchObject({ kind: "found", item: { id: "i-1" } });
  expect(world.service.count("list")).toBe(1);
});

test("gone takes two complete listings, a poll interval apart (G3)", async () => {
  const world = scene();
  const begun: number[] = [];
  const note = () => void begun.push(world.clock.now());
  world.service.listFaults.push(note, note);
  expect(await find(world)).toMatchObject({ kind: "gone" });
  expect(begun).toHaveLength(2);
  const [first = 0, second = 0] = begun;
  expect(second - first).toBeGreaterThanOrEqual(world.session.settings.pollIntervalMs);
});

test("an instance that one listing leaves out is not gone (G3)", async () => {
  const world = scene();
  world.service.listFaults.push(undefined, () => void world.service.has("i-1"));
  expect(await find(world)).toMatchObject({ kind: "found" });
});

test("lacking in a listing that has more is no evidence (G3)", async () => {
  const world = scene();
  for (let n = 2; n < 200; n++) world.service.has(`i-${n}`);
  expect(await find(world)).toMatchObject({ kind: "unproven" });
});

test("lacking in a second listing that is not complete is no evidence either (G3)", async () => {
  const world = scene();
  world.service.listFaults.push(undefined, () => {
    world.service.unreadable = 1;
  });
  expect(await find(world)).toMatchObject({ kind: "unproven", incomplete: { unreadable: 1 } });
});

test("two listings that have no id in common prove nothing (G3)", async () => {
  const world = scene();
  world.service.has("i-other");
  world.service.listFaults.push(undefined, () => {
    world.service.instances.delete("i-other");
    world.service.has("i-another");
  });
  expect(await find(world)).toEqual({ kind: "unstable" });
});

test.each([401, 403, 500])(
  "a listing that fails with %i is an error, never gone (G3)",
  async (status) => {
    for (const faults of [
      [fail(answered(status, "GET"))],
      [undefined, fail(answered(status, "GET"))],
    ]) {
      const world = scene();
      world.service.listFaults.push(...faults);
      expect(await errorOf(find(world))).toMatchObject({ status });
    }
  },
);

test("hundreds of searches at once share their listings (G7)", async () => {
  const world = scene();
  const results = await Promise.all(
    Array.from({ length: 200 }, (_, n) => find(world, `gone-${n}`)),
  );
  expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(["gone"]));
  expect(world.service.count("list")).toBe(2);
});

test("one that may not be listed yet is not gone before it had the time to be (G3)", async () => {
  const late = scene();
  void late.clock.sleep(30_000).then(() => late.service.has("i-1"));
  expect(await find(late, "i-1", 60_000)).toMatchObject({ kind: "found" });
  const never = scene();
  expect(await find(never, "i-1", 60_000)).toMatchObject({ kind: "gone" });
  expect(never.clock.now()).toBeGreaterThanOrEqual(60_000);
});
