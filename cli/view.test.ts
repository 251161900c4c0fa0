/** Tests which create has made an instance, and of which stack it is: the one answer of `audit` and `settle`. */
import { expect, test } from "@jest/globals";
import type { LedgerRecord } from "../provider/ledger/record";
import { ledgerRecord } from "../provider/testing/ledgerRecord";
import { stateOf, urnOf } from "./settle/testing/states";
import { parseState } from "./state";
import { doubtsOf, makerOf } from "./view";

const here = { baseUrl: "https://a.example/v2", tokenKind: "live", tokenHash: "1" };
const recordOf = (more: Partial<LedgerRecord> = {}, isHere = true) => ({
  ...ledgerRecord("web", { baseUrl: here.baseUrl, tokenKind: "live", ...more }),
  at: "2026-03-01T00:00:00Z",
  liveness: "dead" as const,
  isHere,
  settle: () => true,
});

test.each([
  [{ id: "i-1" }, true],
  [{}, true],
  [{ id: "i-2" }, false],
  [{ before: ["i-1"] }, false],
  [{ tokenKind: "test" }, false],
  [{ name: undefined }, false],
  [{ name: undefined, id: "i-1" }, true],
])("a create in doubt with %j may have made an instance of its name: %s", (more, mayBe) => {
  const record = recordOf(more);
  const doubts = doubtsOf([], [record]);
  // The service may add a domain.
  const maker = makerOf({ id: "i-1", name: "web.example.com" }, doubts, here);
  expect(maker?.record).toBe(mayBe ? record : undefined);
});

test("the create with the id of an instance has made it, and not an earlier one of its name", () => {
  const [named, made] = [recordOf(), recordOf({ id: "i-1", urn: urnOf("db") })];
  const maker = makerOf({ id: "i-1", name: "web" }, doubtsOf([], [named, made]), here);
  expect(maker?.record).toBe(made);
});

const empty = (stack: string) => parseState(stack, JSON.stringify({ deployment: null }));

test("after `stack rename`, a create belongs to the stack that has its provider resource, under that one's URN", () => {
  const provider = "urn:pulumi:renamed::proj::pulumi:providers:compute::x";
  const resources = [{ urn: provider, type: "pulumi:providers:compute", id: "s1" }];
  const renamed = parseState(
    "organization/proj/renamed",
    JSON.stringify({ deployment: { resources } }),
  );
  const record = recordOf({ scope: "s1" });
  const states = [empty("organization/proj/dev"), renamed];
  expect(doubtsOf(states, [record])).toMatchObject([
    { stack: "organization/proj/renamed", urn: record.urn.replace("dev", "renamed") },
  ]);
});

test.each([
  ["organization/proj/dev", true, "organization/proj/dev"],
  ["dev", true, "dev"],
  ["organization/other/dev", true, undefined],
  ["organization/proj/develop", true, undefined],
  ["organization/proj/dev", false, undefined],
])(
  "without its provider resource, a create is of stack %s of this backend (%s): %s",
  (name, isHere, stack) => {
    expect(doubtsOf([empty(name)], [recordOf({}, isHere)])).toMatchObject([{ stack }]);
  },
);

test("of two stacks with the same URNs, a create belongs to the one that has its provider resource", () => {
  const [alice, acme] = [stateOf([], [], "alice/proj/dev"), empty("acme/proj/dev")];
  const scope = alice.resources.map((one) => one.scope).find(Boolean);
  const [doubt, ...others] = doubtsOf([acme, alice], [recordOf({ scope })]);
  expect(doubt?.stack).toBe("alice/proj/dev");
  expect(others).toEqual([]);
});
