import { expect, test } from "@jest/globals";
import type { Origin } from "../origin";
import type { HeldInstance } from "./pulumi";
import { compare } from "./audit";

const here: Origin = { baseUrl: "https://a.example/v2", tokenKind: "live", tokenHash: "1" };
const place = (ids: string[], origin = here) => ({
  origin,
  listing: { items: new Map(ids.map((id) => [id, { id }])) },
});
const held = (id: string, more: Partial<HeldInstance> = {}): HeldInstance => ({
  ...{ stack: "dev", urn: `urn:${id}`, id, origin: here, acceptedAt: undefined, external: false },
  ...more,
});

const names = ({ managed, unheld, missing, elsewhere }: ReturnType<typeof compare>) => ({
  managed: managed.map(({ item, holders }) => `${item.id} by ${holders.length}`),
  unheld: unheld.map(({ item }) => item.id),
  missing: missing.map((it) => it.held.id),
  elsewhere: elsewhere.map((it) => it.held.id),
});

test("what is listed and held is managed, by however many; the rest is one or the other", () => {
  const all = [held("both"), held("twice"), held("twice", { urn: "urn:other" }), held("missing")];
  expect(names(compare([place(["both", "twice", "alone"])], all))).toEqual({
    managed: ["both by 1", "twice by 2"],
    unheld: ["alone"],
    missing: ["missing"],
    elsewhere: [],
  });
});

test("an instance of the same id that lives elsewhere is another one", () => {
  for (const other of [{ baseUrl: "https://b.example/v2" }, { tokenKind: "test" }]) {
    const all = [held("i-1", { origin: { ...here, ...other } })];
    expect(names(compare([place(["i-1"])], all))).toMatchObject({
      ...{ managed: [], unheld: ["i-1"], missing: [], elsewhere: ["i-1"] },
    });
  }
});

test("what a program only reads is managed by nobody, and never missing", () => {
  const all = [held("i-1", { external: true }), held("i-2", { external: true })];
  expect(names(compare([place(["i-1"])], all))).toMatchObject({ unheld: ["i-1"], missing: [] });
});

test("a state that does not say where it lives is believed where it is listed, and never missing", () => {
  const all = [held("i-1", { origin: undefined }), held("i-2", { origin: undefined })];
  expect(names(compare([place(["i-1"])], all))).toEqual({
    ...{ managed: ["i-1 by 1"], unheld: [], missing: [], elsewhere: ["i-2"] },
  });
});

test("of two tokens of one service, an instance is missed where its own token looks", () => {
  const other = { ...here, tokenHash: "2" };
  const places = [place(["i-1"], other), place(["i-2"])];
  const { missing, managed } = compare(places, [held("i-1"), held("gone")]);
  expect(managed.map(({ item }) => item.id)).toEqual(["i-1"]);
  expect(missing.map((it) => it.place.origin.tokenHash)).toEqual(["1"]);
});
