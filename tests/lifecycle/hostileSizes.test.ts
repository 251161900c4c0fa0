/** G1 and G9 at sizes that no sound program reaches: deep properties, large user data, long texts. */
import { expect, test } from "@jest/globals";
import { Secret } from "../../provider/property/value";
import { expectFit, expectSound, quick, service } from "./fixtures/hostilePlugin";
import { ask, bytesField, deepBag } from "./fixtures/hostileWire";
import { inputs, urnOf } from "./support/stack";
import { withWorld } from "./support/world";

const instanceUrn = urnOf("web");

/** For each call, the field of its URN or token, and that of its properties. */
const places = {
  Check: [1, 3],
  CheckConfig: [1, 3],
  Diff: [2, 4],
  Update: [2, 4],
  Read: [2, 3],
  Delete: [2, 3],
  Create: [1, 2],
  Invoke: [1, 2],
} as const;

test.each(["struct", "list", "secret"] as const)(
  "properties nested hundreds of levels deep by %s are refused, in every call that takes any",
  async (via) => {
    await withWorld(service, async (world) => {
      const plugin = await world.plugin(quick);
      for (const levels of [60, 300]) {
        const deep = deepBag(levels, via);
        for (const name of Object.keys(places) as (keyof typeof places)[]) {
          const [target, at] = places[name];
          const aim = name === "Invoke" ? "compute:index:getInstances" : instanceUrn;
          const bytes = Buffer.concat([bytesField(target, aim), bytesField(at, deep)]);
          const answer = await ask(plugin.client, name, bytes);
          expectFit(name, answer);
          if (levels > 200) expect(answer.error?.message).toMatch(/levels deep/);
        }
      }
      expect(world.posts).toBe(0);
      await expectSound(world, plugin);
    });
  },
);

test.each([["😀"], ["\0"], ["a long enough line\n"]])(
  "1 MB user data of %j goes to the service as it is, and comes back",
  async (unit) => {
    await withWorld(service, async (world) => {
      const plugin = await world.plugin(quick);
      const userData = unit.repeat(Math.floor(2 ** 20 / Buffer.byteLength(unit)));
      const program = { web: inputs({ userData: new Secret(userData) }) };
      expect((await world.stack.up(plugin, program)).failed).toEqual({});
      const { user_data = "" } = world.instances[0]?.request ?? {};
      expect(Buffer.from(user_data, "base64").equals(Buffer.from(userData))).toBe(true);
      expect(world.stack.held().outputs["userData"]).toEqual(new Secret(userData));
      expect((await world.stack.up(plugin, program)).did).toEqual(["same web"]);
      await expectSound(world, plugin);
    });
  },
);

// The state of 1 MB, which Node's own HTTP/2 client does not take in an error: tests/engine/upgrade.test.ts.
test("a name of 10,000 characters does not cost an unfinished instance its id", async () => {
  await withWorld({ ...service, provisioningSeconds: Infinity }, async (world) => {
    const plugin = await world.plugin(quick);
    const userData = new Secret("CanaryUserData ".repeat(300));
    const program = { web: inputs({ name: "x".repeat(10_000), userData }) };
    const { failure } = await world.leaveUnfinished(plugin, program);
    expect(failure.unfinished?.id).toBe(world.ids[0]);
    world.expectAllHeld();
  });
});

test("a status of 10,000 characters is told in a message that fits, and the id is kept", async () => {
  await withWorld(service, async (world) => {
    const plugin = await world.plugin(quick);
    world.service.control.fault({
      ...{ kind: "showStatus", status: "漢\x1b[2J".repeat(2500), times: "always" },
    });
    const { failure } = await world.stack.up(plugin, { web: inputs() });
    expect(failure.message).toContain("漢");
    expect(failure.unfinished?.id).toBe(world.ids[0]);
    expectFit("Create", { replies: [], error: failure });
    world.expectAllHeld();
  });
});
