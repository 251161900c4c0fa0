/** Tests how many listings a search for an instance takes, and when it ends. */
import { expect, test } from "@jest/globals";
import { answered, fail } from "../testing/fakeService";
import { errorOf, scene, type Scene } from "../testing/scene";
import { ask } from "./ask";

const never = new AbortController().signal;
const questionOf = ({ session: { settings } }: Scene, id: string, listedBy = 0) => {
  const { pollIntervalMs } = settings;
  return { subject: { id }, listedBy, pollIntervalMs, noneOfOursMs: pollIntervalMs };
};
const find = (world: Scene, id = "i-1", listedBy = 0) =>
  ask(world.session.listings, questionOf(world, id, listedBy), never);

test("a listed instance is found with one listing", async () => {
  const world = scene();
  world.service.has("i-1");
  expect(await find(world)).toMatchObject({ kind: "listed", items: [{ id: "i-1" }] });
  expect(world.service.count("list")).toBe(1);
});

test("an instance is gone only after two complete listings a poll interval apart (G3)", async () => {
  const world = scene();
  const beginTimes: number[] = [];
  world.service.page = () => void beginTimes.push(world.clock.now());
  expect(await find(world)).toMatchObject({ kind: "absent" });
  expect(beginTimes).toEqual([0, world.session.settings.pollIntervalMs]);
});

test("an instance that only one listing lacks is not gone (G3)", async () => {
  const world = scene();
  world.service.listFaults.push(undefined, () => void world.service.has("i-1"));
  expect(await find(world)).toMatchObject({ kind: "listed" });
  expect(world.service.count("list")).toBe(2);
});

test("a listing with further pages that lacks the instance proves nothing (G3)", async () => {
  const world = scene();
  for (let n = 2; n < 200; n++) world.service.has(`i-${n}`);
  expect(await find(world)).toMatchObject({ kind: "open", why: "incomplete" });
});

test("a second listing that lacks the instance and is not complete proves nothing (G3)", async () => {
  const world = scene();
  world.service.listFaults.push(undefined, () => {
    world.service.unreadable = 1;
  });
  expect(await find(world)).toMatchObject({ why: "incomplete", listing: { unreadable: 1 } });
});

test("listings that have no id in common prove nothing (G3)", async () => {
  const world = scene();
  const changeIds = () => {
    const id = `i-other-${world.service.count("list")}`;
    world.service.instances.clear();
    world.service.has(id);
  };
  world.service.listFaults.push(changeIds, changeIds, changeIds);
  expect(await find(world)).toMatchObject({ kind: "open", why: "unstable" });
});

test("if a listing fails, the search fails, and the instance does not count as gone (G3)", async () => {
  for (const before of [[], [undefined]]) {
    const world = scene();
    world.service.listFaults.push(...before, fail(answered(500, "GET")));
    expect(await errorOf(find(world))).toMatchObject({ status: 500 });
  }
});

test("hundreds of simultaneous searches share their listings (G7)", async () => {
  const world = scene();
  const results = await Promise.all(
    Array.from({ length: 200 }, (_, n) => find(world, `gone-${n}`)),
  );
  expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(["absent"]));
  expect(world.service.count("list")).toBe(2);
});

test("searches one after the other share their listings, too, but none from before a write (G3)", async () => {
  const world = scene();
  world.service.has("i-1");
  world.session.noteShown({ id: "i-1", origin: undefined });
  for (let n = 0; n < 20; n++) expect((await find(world, `gone-${n}`)).kind).toBe("absent");
  expect(world.service.count("list")).toBe(2);
  await world.clock.sleep(5000);
  world.session.listings.markWrite();
  expect((await find(world, "gone-20")).kind).toBe("absent");
  expect(world.service.count("list")).toBe(4);
});

test("an earlier listing that shows the instance does not vouch for its tenant: the token may be another one since (G3)", async () => {
  const world = scene();
  world.service.has("i-1");
  await find(world);
  world.service.instances.delete("i-1");
  await world.clock.sleep(5000);
  const known = () => ({ vouchers: new Set<string>() });
  const verdict = await ask(world.session.listings, questionOf(world, "i-1"), never, { known });
  expect(verdict).toMatchObject({ why: "tenant" });
});

test("an instance that may not be listed yet is not gone before the settling time is over (G3)", async () => {
  const listedLate = scene();
  void listedLate.clock.sleep(30_000).then(() => listedLate.service.has("i-1"));
  expect(await find(listedLate, "i-1", 60_000)).toMatchObject({ kind: "listed" });
  const neverListed = scene();
  expect(await find(neverListed, "i-1", 60_000)).toMatchObject({ kind: "absent" });
  expect(neverListed.clock.now()).toBeGreaterThanOrEqual(60_000);
});
