/** G4: Delete tells the truth. */
import { expect, test } from "@jest/globals";
import type { EmulatorOptions, FaultScript } from "../../emulator";
import { OperationCanceled } from "../../provider/errors";
import type { Settings } from "./support/plugin";
import { inputs } from "./support/stack";
import { liveToken, withWorld, type World } from "./support/world";

const web = { web: inputs() };
const destroyPath = "/v2/instances/{id}";
const live = { apiToken: liveToken };

async function withOne(
  options: EmulatorOptions,
  settings: Settings,
  body: (world: World) => Promise<void>,
) {
  await withWorld(options, async (world) => {
    expect((await world.stack.up(await world.plugin(settings), web)).failed).toEqual({});
    await body(world);
  });
}
const deletes = ({ service }: World) =>
  service.control.requests().filter(({ method }) => method === "DELETE").length;

test.concurrent("fail: an instance that is gone already is a success", async () => {
  await withOne({}, live, async (world) => {
    world.service.control.remove(world.stack.held().id);
    expect((await world.stack.destroy(await world.plugin(live))).did).toEqual(["delete web"]);
  });
});

test.concurrent("fail: one that a single listing lacks still fails", async () => {
  await withOne({}, live, async (world) => {
    world.service.control.fault({ kind: "omitItem", path: "/v2/instances" });
    const { failure } = await world.stack.destroy(await world.plugin(live));
    expect(failure.message).toMatch(/still exists and is billed/);
    world.expectAllHeld();
  });
});

test.concurrent(
  "retain: it is dropped with a warning that names it, also when the service is down",
  async () => {
    await withOne({}, live, async (world) => {
      const { id } = world.stack.held();
      await world.service.refuseConnections();
      const plugin = await world.plugin({ ...live, deletePolicy: "retain" });
      expect((await world.stack.destroy(plugin)).did).toEqual(["delete web"]);
      expect(await plugin.warning(/dropped from the state, not destroyed/)).toMatch(
        new RegExp(`${id}.*billed`),
      );
      expect(world.ids).toEqual([id]);
    });
  },
);

test.concurrent("retain is never the answer for another token's instance", async () => {
  await withOne({}, live, async (world) => {
    const { failure } = await world.stack.destroy(await world.plugin());
    expect(failure.message).toMatch(/made with a live token/);
    world.expectAllHeld();
  });
});

test.concurrent.each([0, 0.5])(
  "destroyPath: DELETE is sent once, and the instance is gone (after %f s)",
  async (destroySeconds) => {
    await withOne({ destroyPath, destroySeconds }, live, async (world) => {
      const plugin = await world.plugin({ ...live, destroyPath });
      expect((await world.stack.destroy(plugin)).did).toEqual(["delete web"]);
      expect(world.ids).toEqual([]);
      expect(deletes(world)).toBe(1);
      expect(await plugin.allWarnings()).toEqual([]);
    });
  },
);

test.concurrent(
  "destroyPath: one that is still listed at the time-out stays in the state",
  async () => {
    await withOne({ destroyPath, destroySeconds: 60 }, live, async (world) => {
      const plugin = await world.plugin({ ...live, destroyPath });
      const { failure } = await world.stack.destroy(plugin, { timeoutSeconds: 3 });
      expect(failure.message).toMatch(/\b3 s.*customTimeouts.*stays in the state/);
      world.expectAllHeld();
    });
  },
);

test.concurrent("destroyPath: Ctrl-C while it goes keeps it in the state", async () => {
  await withOne({ destroyPath, destroySeconds: 60 }, live, async (world) => {
    const plugin = await world.plugin({ ...live, destroyPath });
    const seen = world.service.control.fault({ kind: "delay", milliseconds: 0, method: "DELETE" });
    const running = world.stack.destroy(plugin);
    await seen.firstHit;
    await plugin.client.cancel();
    const { failure } = await running;
    world.expectAllHeld();
    // DELETE was sent: to say that nothing was changed would be a lie.
    expect(failure.message).not.toContain(new OperationCanceled().message);
    expect(failure.message).toContain("told to go");
  });
});

test.concurrent(
  "destroyPath that the service does not have (404): it stays, and the setting is named",
  async () => {
    await withOne({}, live, async (world) => {
      const { failure } = await world.stack.destroy(await world.plugin({ ...live, destroyPath }));
      expect(failure.message).toMatch(/404.*compute:destroyPath/);
      world.expectAllHeld();
    });
  },
);

test.concurrent("destroyPath, 404 since it is gone already: success", async () => {
  await withOne({ destroyPath }, live, async (world) => {
    const plugin = await world.plugin({ ...live, destroyPath });
    const delay = { kind: "delay", milliseconds: 200, method: "DELETE" } as const;
    const removed = world.service.control.fault(delay).firstHit.then(() => {
      world.service.control.remove(world.stack.held().id);
    });
    expect((await world.stack.destroy(plugin)).did).toEqual(["delete web"]);
    await removed;
    expect(world.ids).toEqual([]);
  });
});

const broken: Record<string, [FaultScript, RegExp]> = {
  "500": [{ kind: "status", status: 500 }, /destroyed.*HTTP 500.*request_id/],
  "403": [{ kind: "status", status: 403 }, /not destroyed.*HTTP 403.*scope/],
  "a reset": [{ kind: "reset" }, /connection broke/],
};
test.concurrent.each(Object.keys(broken))(
  "destroyPath answers with %s: it stays in the state",
  async (what) => {
    await withOne({ destroyPath }, live, async (world) => {
      const [fault, message] = broken[what] ?? [];
      if (!fault || !message) throw new Error(what);
      world.service.control.fault({ ...fault, method: "DELETE", times: "always" });
      const { failure } = await world.stack.destroy(await world.plugin({ ...live, destroyPath }));
      expect(failure.message).toMatch(message);
      world.expectAllHeld();
    });
  },
);

test.concurrent(
  "destroyPath, an answer lost after the service acted: success, as it is gone",
  async () => {
    await withOne({ destroyPath }, live, async (world) => {
      world.service.control.fault({ kind: "reset", acted: true, method: "DELETE" });
      const plugin = await world.plugin({ ...live, destroyPath });
      expect((await world.stack.destroy(plugin)).did).toEqual(["delete web"]);
      expect(world.ids).toEqual([]);
    });
  },
);

test.concurrent(
  "destroyPath, gone but not provably so: it stays, with the command for who knows better",
  async () => {
    await withOne({ destroyPath }, live, async (world) => {
      world.crowd(120, "live");
      const { failure } = await world.stack.destroy(await world.plugin({ ...live, destroyPath }));
      expect(failure.message).toMatch(/can't be proven.*pulumi state delete/);
      expect(world.stack.ids).toHaveLength(1);
    });
  },
);

test.concurrent(
  "with destroyPath a replacement makes the new one first, and then destroys the old",
  async () => {
    await withOne({ destroyPath }, live, async (world) => {
      const [old = ""] = world.ids;
      const plugin = await world.plugin({ ...live, destroyPath });
      const run = await world.stack.up(plugin, { web: inputs({ flavorId: "kvm-2" }) });
      expect(run.failed).toEqual({});
      expect(world.ids).not.toContain(old);
      world.expectAllHeld();
      const methods = world.service.control.requests().map(({ method }) => method);
      expect(methods.lastIndexOf("POST")).toBeLessThan(methods.indexOf("DELETE"));
      expect(await plugin.allWarnings()).toEqual([]);
    });
  },
);
