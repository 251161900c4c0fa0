/** Tests how listings are compared with states. tests/lifecycle/{audit,importPlan}.test.ts test the commands. */
import { expect, test } from "@jest/globals";
import type { Origin } from "../origin";
import type { StackInstance } from "./pulumi";
import { ledgerRecord } from "../testing/ledgerRecord";
import { compare, explainUnmanaged } from "./compare";
import type { RecordedCreate } from "./discard";

const here: Origin = { baseUrl: "https://a.example/v2", tokenKind: "live", tokenHash: "1" };
const service = (ids: string[], origin = here) => ({
  origin,
  listing: { items: new Map(ids.map((id) => [id, { id }])) },
});
const instance = (id: string, more: Partial<StackInstance> = {}): StackInstance => ({
  ...{ stack: "dev", urn: `urn:${id}`, id, origin: here, acceptedAt: undefined, external: false },
  ...more,
});

const names = ({ managed, unmanaged, missing, notComparable }: ReturnType<typeof compare>) => ({
  managed: managed.map(({ id, resources }) => `${id} by ${resources.length}`),
  unmanaged: unmanaged.map(({ item }) => item.id),
  missing: missing.map((it) => it.instance.id),
  notComparable: notComparable.map(({ id }) => id),
});

test("an instance that is listed and in a state is managed; one that is only listed is unmanaged, one only in a state is missing", () => {
  const all = [
    instance("both"),
    instance("twice"),
    instance("twice", { urn: "urn:other" }),
    instance("missing"),
  ];
  expect(names(compare([service(["both", "twice", "alone"])], all))).toEqual({
    managed: ["both by 1", "twice by 2"],
    unmanaged: ["alone"],
    missing: ["missing"],
    notComparable: [],
  });
});

test("an instance with the same id at another service or of another token kind is a different instance", () => {
  for (const other of [{ baseUrl: "https://b.example/v2" }, { tokenKind: "test" }]) {
    const all = [instance("i-1", { origin: { ...here, ...other } })];
    expect(names(compare([service(["i-1"])], all))).toMatchObject({
      ...{ managed: [], unmanaged: ["i-1"], missing: [], notComparable: ["i-1"] },
    });
  }
});

test("an instance that a program only reads is unmanaged, and never missing", () => {
  const all = [instance("i-1", { external: true }), instance("i-2", { external: true })];
  expect(names(compare([service(["i-1"])], all))).toMatchObject({
    unmanaged: ["i-1"],
    missing: [],
  });
});

test("an instance whose state names no service is managed if it is listed, and never missing", () => {
  const all = [instance("i-1", { origin: undefined }), instance("i-2", { origin: undefined })];
  expect(names(compare([service(["i-1"])], all))).toEqual({
    ...{ managed: ["i-1 by 1"], unmanaged: [], missing: [], notComparable: ["i-2"] },
  });
});

test("with two tokens of one service, an instance is missing from the listing of its own token", () => {
  const other = { ...here, tokenHash: "2" };
  const services = [service(["i-1"], other), service(["i-2"])];
  const { missing, managed } = compare(services, [instance("i-1"), instance("gone")]);
  expect(managed.map(({ id }) => id)).toEqual(["i-1"]);
  expect(missing.map((it) => it.service.origin.tokenHash)).toEqual(["1"]);
});

test("two tokens of one tenant list the same instances, and each instance counts once", () => {
  const services = [service(["i-1", "i-2"]), service(["i-1", "i-2"], { ...here, tokenHash: "2" })];
  const heldWithOtherToken = instance("i-1", { origin: { ...here, tokenHash: "2" } });
  expect(names(compare(services, [heldWithOtherToken]))).toMatchObject({
    ...{ managed: ["i-1 by 1"], unmanaged: ["i-2"] },
  });
});

test("an instance that two users of one tenant list is managed if one of them is in its state", () => {
  const ana = { ...here, account: "ana" };
  const ben = { ...here, account: "ben", tokenHash: "2" };
  const all = [instance("i-1", { origin: ana })];
  expect(names(compare([service(["i-1"], ana), service(["i-1"], ben)], all))).toMatchObject({
    managed: ["i-1 by 1"],
    unmanaged: [],
    missing: [],
  });
});

const live = { tokenKind: "live", baseUrl: here.baseUrl };
test.each([
  [{ ...live, id: "i-1" }, /^an earlier run created it for urn:\S+; the next `pulumi up` takes/],
  [live, /^it has the name of a pending create of urn:\S+; the next `pulumi up` takes/],
  [{ ...live, stateless: true }, /; to take it over: `pulumi import /],
  [{ ...live, stage: "replied" }, /; to take it over: `pulumi import /],
  [{ ...live, id: "i-2" }, undefined],
  [{ ...live, before: ["i-1"] }, undefined],
  [{ ...live, tokenKind: "test" }, undefined],
] as const)("a pending create with %j explains an instance of its name: %s", (more, note) => {
  const record = ledgerRecord("web", more as Parameters<typeof ledgerRecord>[1]);
  const creates = [{ record, isHere: true, owner: "dead" } as RecordedCreate];
  const known = { creates, onlyInStates: [], instances: [] };
  const found = explainUnmanaged({ id: "i-1", name: "web" }, here, known);
  if (note) expect(found).toMatchObject({ urn: record.urn, note: expect.stringMatching(note) });
  else expect(found).toBeUndefined();
});
