/** How the wait for an instance can end, and how the next `up` goes on (G1). */
import { expect, test } from "@jest/globals";
import { oneInstance } from "../support/programs";
import { World } from "../support/world";

const impatient = oneInstance({}, { customTimeouts: { create: "5s", update: "5s" } });
const never = { provisioningSeconds: Infinity };

test.concurrent(
  "after a time-out the id is in the state, and the next up finishes the same instance",
  async () => {
    await using world = await World.create({ program: impatient, service: never });

    const { code, output } = await world.stack.up();

    const [id] = world.ids();
    expect(output).toContain(`instance ${id} was PROVISIONING for 5 s (customTimeouts)`);
    expect(output).toContain("the next `pulumi up` goes on waiting for it");
    expect(code).not.toBe(0);
    const kept = await world.stack.instance();
    expect(kept.id).toBe(id);
    expect(kept.initErrors?.join()).toContain("PROVISIONING");

    const still = await world.stack.up();
    expect(still.output).toContain(`instance ${id} was PROVISIONING`);
    expect(still.code).not.toBe(0);
    expect((await world.stack.instance()).id).toBe(id);

    world.service.control.settle();
    const done = await world.stack.up();
    expect(done.code).toBe(0);
    const finished = await world.stack.instance();
    expect(finished).toMatchObject({ id, outputs: { status: "ACTIVE" } });
    expect(finished.initErrors ?? []).toEqual([]);
    expect(world.posts()).toBe(1);
  },
);

test.concurrent(
  "a refresh of an unfinished instance keeps it unfinished, and one of a finished one mends it",
  async () => {
    await using world = await World.create({ program: impatient, service: never });
    await world.stack.up();
    const [id] = world.ids();

    expect((await world.stack.refresh()).code).toBe(0);
    const unfinished = await world.stack.instance();
    expect(unfinished.id).toBe(id);
    expect(unfinished.initErrors?.join()).toContain("still PROVISIONING");

    const up = await world.stack.up();
    expect(up.output).toContain(`instance ${id} was PROVISIONING for 5 s`);
    expect(up.code).not.toBe(0);

    world.service.control.settle();
    expect((await world.stack.refresh()).code).toBe(0);
    const mended = await world.stack.instance();
    expect(mended.initErrors ?? []).toEqual([]);
    expect(mended).toMatchObject({ id, outputs: { status: "ACTIVE", ipv4: expect.any(String) } });
    await world.stack.expectNothingToDo();
    expect(world.posts()).toBe(1);
  },
);
