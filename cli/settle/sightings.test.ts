/** Tests which listings may decide about a create. `tests/engine/settleWitness.test.ts` shows what becomes of it. */
import { expect, test } from "@jest/globals";
import { doubtsOf } from "../view";
import { isVouched, placeDifference } from "./sightings";
import { held, pending, provider, scope, stateOf, urnOf } from "./testing/states";

const live = { baseUrl: "https://a.example/v2", tokenKind: "live", tokenHash: "1" };
const own = `${urnOf("own", "pulumi:providers:compute")}::1`;
const db = (fields = {}) => held("db", "i-0", { outputs: { __origin: live }, ...fields });

/** A pending create without a file, in a state with these resources. */
function pendingIn(resources: object[]) {
  const state = stateOf(resources, [pending("web", { provider: `${provider}::${scope}` })]);
  const [doubt] = doubtsOf([state], []);
  if (!doubt) throw new Error("nothing is in doubt");
  return { state, doubt };
}

const there = { ...live, baseUrl: "https://b.example/v2" };
const moved = held("cache", "i-1", { outputs: { __origin: there } });

test.each([
  ["of live instances", [db()], "test", true],
  ["of live instances", [db()], "live", false],
  ["with an instance at either place", [moved, db()], "live", false],
  ["of instances elsewhere", [moved], "live", true],
  ["without instances", [], "test", false],
  ["of live instances, whose provider the program makes", [db({ provider: own })], "test", false],
])(
  "a create of a stack %s (%j) was sent elsewhere than a %s token lists: %s",
  (_, resources, tokenKind, isElsewhere) => {
    const difference = placeDifference(pendingIn(resources).doubt, { ...live, tokenKind }, "it");
    expect(difference !== undefined).toBe(isElsewhere);
  },
);

test.each([
  ["the listing shows an instance of the stack", [db()], ["i-0"], [], true],
  ["the listing shows none of the stack", [db()], ["i-9"], [], false],
  ["it shows an instance of another provider", [db({ provider: own })], ["i-0"], [], false],
  ["it shows one that the state has elsewhere", [held("db", "i-0")], ["i-0"], [], false],
  ["it shows the tag of the provider", [], [], [scope], true],
])(
  "a create without a file was sent to where %s: %j, %j, %j: %s",
  (_, resources, ids, scopes, isShown) => {
    const { state, doubt } = pendingIn(resources);
    const items = new Map(ids.map((id) => [id, { id }]));
    const listed = { items, origin: live };
    expect(isVouched(doubt, state, listed, new Set<string>(scopes))).toBe(isShown);
  },
);
