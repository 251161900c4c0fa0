/** Tests which listings may decide about a create. `tests/engine/settleWitness.test.ts` shows what becomes of it. */
import { expect, test } from "@jest/globals";
import { ledgerRecord } from "../../provider/testing/ledgerRecord";
import { scene } from "../../provider/testing/scene";
import type { ServiceListing } from "../listings";
import type { Terminal } from "../terminal";
import { doubtsOf, viewOf } from "../view";
import { isVouched, placeDifference, sightingsOf } from "./sightings";
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

test.each([
  ["a minute later, if the first shows none of ours", "live", [], 60],
  ["a poll interval later, if the first shows what the state has", "live", ["i-0"], 3],
  ["a poll interval later with a test token", "test", [], 3],
] as const)("the second listing comes %s", async (_, tokenKind, listed, seconds) => {
  const { session, service, clock, ctx } = scene();
  for (const id of listed) service.has(id);
  const origin = { ...session.connection.origin(), tokenKind };
  const state = stateOf([held("db", "i-0", { outputs: { __origin: origin } })]);
  const at = new Date(clock.date().getTime() - 3_600_000).toISOString();
  const left = ledgerRecord("web", { ...origin, urn: urnOf("web"), scope, id: "i-1", at });
  const record = { ...left, at, liveness: "dead", isHere: true, settle: () => true } as const;
  using operation = session.operations.begin(300);
  const listing = await session.list(operation);
  const found = { session, origin, listing } as ServiceListing;
  const view = viewOf([found], [state], [record], clock);
  const { doubts } = view;
  const said: string[] = [];
  const io = { ...ctx, warn: (line: string) => void said.push(line) } as unknown as Terminal;
  const search = { service: found, state, view, doubts, scopes: new Set<string>() };
  const begunAt = clock.now();
  expect([...(await sightingsOf(search, io)).values()]).toEqual([{ kind: "absent" }]);
  expect((clock.now() - begunAt) / 1000).toBeCloseTo(seconds, 0);
  expect(said).toEqual([expect.stringContaining(`for up to ${seconds} s`)]);
});
