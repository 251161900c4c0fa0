/** An engine that dies leaves no plugin behind, and no instance that nobody knows of (G1). */
import { expect, test } from "@jest/globals";
import { gone } from "../support/processes";
import { oneInstance } from "../support/programs";
import { recordsOf } from "../support/stack";
import { World } from "../support/world";

const program = oneInstance();
const never = { provisioningSeconds: Infinity };
const creates = { method: "POST", path: "/v2/instances" } as const;

const up = (world: World) => world.stack.start("up", "--yes", "--skip-preview");

/** The ids in the records of pending creates; "open" for a record without an id. */
function pendingIds({ stack }: World): string[] {
  return recordsOf(stack).flatMap(({ stage, id = "open" }) => (stage === "settled" ? [] : [id]));
}

/** The next run, once the lock of the dead one is off. */
async function upAgain(world: World): Promise<string> {
  await world.stack.succeed("cancel", "--yes");
  world.service.control.settle();
  const { code, output } = await world.stack.up();
  expect(code).toBe(0);
  expect((await world.stack.instance()).id).toBe(world.ids()[0]);
  expect(world.ids()).toHaveLength(1);
  return output;
}

test.concurrent.each(["SIGKILL", "SIGHUP", "SIGTERM"] as const)(
  "an engine ended by %s during the wait: the plugin ends too, and the next up goes on",
  async (signal) => {
    await using world = await World.create({ program, service: never });
    const running = up(world);
    await running.printed("PROVISIONING");

    await gone(await running.killEngine(signal));

    const [id] = world.ids();
    // After SIGTERM the engine still saves the unfinished instance.
    const isSaved = signal === "SIGTERM";
    if (!isSaved) expect(pendingIds(world)).toEqual([id]);
    const output = await upAgain(world);
    if (!isSaved) expect(output).toContain(`an earlier run created ${id}`);
    expect(world.posts()).toBe(1);
  },
);

test.concurrent(
  "an engine killed during the POST: the plugin brings the id into the ledger, then ends",
  async () => {
    await using world = await World.create({ program, service: never });
    const hanging = world.service.control.fault({ ...creates, kind: "hang", acted: true });
    const running = up(world);
    await running.reached(hanging.firstHit);

    const plugins = await running.killEngine("SIGKILL");
    expect(pendingIds(world)).toEqual(["open"]);
    hanging.release();
    await gone(plugins);

    const [id] = world.ids();
    expect(pendingIds(world)).toEqual([id]);
    expect(await upAgain(world)).toContain(`an earlier run created ${id}`);
    expect(world.posts()).toBe(1);
  },
);

test.concurrent(
  "an engine killed as soon as it has started a plugin: it ends without a call",
  async () => {
    await using world = await World.create({ program });
    await gone(await up(world).killEngine("SIGKILL"));
    expect(world.service.counts()).toEqual({});
  },
);
