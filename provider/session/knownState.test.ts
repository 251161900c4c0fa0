/** Tests of what a session learns about Pulumi's state. */
import { expect, test } from "@jest/globals";
import { propertyMap, type PropertyMap } from "../pulumi/propertyValue";
import { held, scene, type Scene } from "../testing/scene";

/** Outputs as in a state, with the session id `run` as their stamp, and with the hash of a token. */
function outputsOf({ session }: Scene, run?: string, tokenHash?: string): PropertyMap {
  const origin = { ...session.connection.origin(), ...(tokenHash ? { tokenHash } : {}) };
  return propertyMap({ name: "web", __origin: propertyMap(origin), __run: run });
}

test("`shown` has an id that came with any call, even if nothing is proven", () => {
  const world = scene();
  world.session.noteShown(held(propertyMap({}), { id: "i-1" }));
  expect(world.session.state.shown.has("i-1")).toBe(true);
  expect(world.session.state.shown.has("i-2")).toBe(false);
});

test("the vouchers of an instance are the other ones that were recorded with its token (G3)", () => {
  const world = scene();
  const { state } = world.session;
  const originWith = (tokenHash: string) => ({ ...world.session.connection.origin(), tokenHash });
  const vouchers = (recorded = "old-token", configured = "new-token") => {
    const seen = { id: "i-1", origin: originWith(recorded) };
    const found = state.vouchersOf(seen, originWith(configured));
    return found && [...found];
  };
  state.noteShown(held(outputsOf(world, "r", "old-token"), { id: "i-1" }));
  state.noteShown(held(outputsOf(world, "r", "new-token"), { id: "i-2" }));
  expect(vouchers()).toEqual([]);

  state.noteShown(held(outputsOf(world, "r", "old-token"), { id: "i-3" }));
  expect(vouchers()).toEqual(["i-3"]);
  // This instance has now been seen with both tokens.
  state.noteShown(held(outputsOf(world, "r", "new-token"), { id: "i-3" }));
  expect(vouchers()).toEqual(["i-3"]);
  // With the recorded token, or with none recorded, no voucher is needed.
  expect(vouchers("old-token", "old-token")).toBeUndefined();
  expect(state.vouchersOf({ id: "i-1", origin: undefined }, originWith("x"))).toBeUndefined();
});
