/** Tests of what a session learns about Pulumi's state. */
import { expect, jest, test } from "@jest/globals";
import { originKey } from "../origin";
import { propertyMap, type PropertyMap } from "../propertyValue";
import { scene, type Scene } from "../testing/scene";

/** Outputs as in a state, with the session id `run` as their stamp, and with the hash of a token. */
function outputsOf({ session }: Scene, run?: string, tokenHash?: string): PropertyMap {
  const origin = { ...session.connection.place(), ...(tokenHash ? { tokenHash } : {}) };
  return propertyMap({ name: "web", [originKey]: propertyMap(origin), __run: run });
}

const listing = (...ids: string[]) => new Map(ids.map((id) => [id, {}]));

test.each([
  ["another session", "an-earlier-run", true],
  ["this session", undefined, false],
  ["no session, as of a `.get()`", "", false],
])("whether outputs with the stamp of %s prove that a state held them", (_whose, run, proves) => {
  const world = scene();
  const settled = jest.spyOn(world.session.ledger, "settleId");
  world.session.state.observe("i-1", outputsOf(world, run ?? world.session.id));
  expect(world.session.state.proven.has("i-1")).toBe(proves);
  expect(settled.mock.calls).toEqual(
    proves ? [[expect.objectContaining({ tokenKind: "live" }), "i-1", "state"]] : [],
  );
});

test("`hasId` is true for an id that came with any call, even if nothing is proven", () => {
  const world = scene();
  world.session.state.observe("i-1", propertyMap({}));
  expect(world.session.state.hasId("i-1")).toBe(true);
  expect(world.session.state.hasId("i-2")).toBe(false);
});

test("records are settled for the service in the outputs, not for the service in the settings", () => {
  const world = scene();
  const settled = jest.spyOn(world.session.ledger, "settleId");
  const otherOrigin = { baseUrl: "https://other.example/v2", tokenKind: "test", tokenHash: "0" };
  const outputs = propertyMap({ [originKey]: propertyMap(otherOrigin), __run: "an-earlier-run" });
  world.session.state.observe("i-1", outputs);
  expect(settled.mock.calls).toEqual([[expect.objectContaining(otherOrigin), "i-1", "state"]]);
});

test("a listing is of the same tenant if it shows another instance with the same token (G3)", () => {
  const world = scene();
  const { state } = world.session;
  state.observe("i-1", outputsOf(world, "r", "old-token"));
  state.observe("i-2", outputsOf(world, "r", "new-token"));
  expect(state.showsAnother(listing("i-1", "i-2"), "i-1", "old-token")).toBe(false);

  state.observe("i-3", outputsOf(world, "r", "old-token"));
  expect(state.showsAnother(listing("i-2", "i-3"), "i-1", "old-token")).toBe(true);
  expect(state.showsAnother(listing("i-2"), "i-1", "old-token")).toBe(false);
  // This instance has now been seen with both tokens.
  state.observe("i-3", outputsOf(world, "r", "new-token"));
  expect(state.showsAnother(listing("i-3"), "i-1", "old-token")).toBe(true);
});
