/** Tests the order of a listing, and its pages. */
import { describe, expect, test } from "@jest/globals";
import { startEmulator, type Emulator, type EmulatorOptions } from "../index";
import { seeded } from "../random";
import { caller } from "../testClient";

const letters = [..."abcdefghijkl"];

async function withLetters(options: EmulatorOptions): Promise<Emulator> {
  const emulator = await startEmulator({ random: seeded(7), ...options });
  for (const name of letters) emulator.control.insert({ name, tenant: "acme" });
  return emulator;
}

async function allPages({ list }: ReturnType<typeof caller>, limit: number) {
  const names: string[] = [];
  for (let after = "", more = true; more;) {
    const page = await list(`?limit=${String(limit)}${after && `&starting_after=${after}`}`);
    names.push(...page.data.map(({ name }) => name));
    after = page.data.at(-1)?.id ?? "";
    more = page.has_more;
  }
  return names;
}

test("oldest and newest first", async () => {
  await using oldest = await withLetters({ listOrder: "oldest" });
  await using newest = await withLetters({ listOrder: "newest" });
  expect(await caller(oldest).names()).toEqual(letters);
  expect(await caller(newest).names()).toEqual(letters.toReversed());
});

test("shuffled: all instances, in another order each time", async () => {
  await using emulator = await withLetters({ listOrder: "shuffled" });
  const [first, second] = [await caller(emulator).names(), await caller(emulator).names()];
  expect(first.toSorted()).toEqual(letters);
  expect(second.toSorted()).toEqual(letters);
  expect(first).not.toEqual(second);
});

describe("with a cursor parameter", () => {
  test.each(["oldest", "newest", "shuffled"] as const)(
    "pages of the %s order show each instance once",
    async (listOrder) => {
      await using emulator = await withLetters({ listOrder, cursorParameter: "starting_after" });
      const seen = await allPages(caller(emulator), 5);
      expect(seen.toSorted()).toEqual(letters);
      expect(seen).toEqual(await caller(emulator).names());
    },
  );

  test("a page continues after an instance that is gone", async () => {
    await using emulator = await withLetters({ cursorParameter: "starting_after" });
    const id = (await caller(emulator).list("?limit=3")).data[2]?.id ?? "";
    emulator.control.remove(id);
    expect(await caller(emulator).names(`?limit=2&starting_after=${id}`)).toEqual(["d", "e"]);
  });

  test("another tenant's instance is no cursor", async () => {
    await using emulator = await withLetters({ cursorParameter: "starting_after" });
    const { id } = emulator.control.insert({ name: "x", tenant: "other" });
    expect(await caller(emulator).ask("GET", `/instances?starting_after=${id}`)).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_parameter" } },
    });
  });
});
