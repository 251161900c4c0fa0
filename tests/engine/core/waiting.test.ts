/** Tests a wait that times out: no instance is lost, and the next `up` continues with it (G1). */
import { expect, test } from "@jest/globals";
import { oneInstance } from "../support/programs";
import { Fixture } from "../support/fixture";

const impatient = oneInstance({}, { customTimeouts: { create: "5s", update: "5s" } });
const never = { provisioningSeconds: Infinity };

test.concurrent(
  "after a time-out the id is in the state, and the next up finishes the same instance",
  async () => {
    await using fixture = await Fixture.create({ program: impatient, service: never });

    const { code, output } = await fixture.stack.up();

    const [id] = fixture.ids();
    expect(output).toContain(
      `instance ${id} was still PROVISIONING when the operation's 5 s (customTimeouts) were over`,
    );
    expect(output).toContain("the next `pulumi up` goes on waiting for it");
    expect(code).not.toBe(0);
    const kept = await fixture.stack.instance();
    expect(kept.id).toBe(id);
    expect(kept.initErrors?.join()).toContain("PROVISIONING");

    const still = await fixture.stack.up();
    expect(still.output).toContain(`instance ${id} was still PROVISIONING`);
    expect(still.code).not.toBe(0);
    expect((await fixture.stack.instance()).id).toBe(id);

    fixture.service.control.settle();
    const done = await fixture.stack.up();
    expect(done.code).toBe(0);
    const finished = await fixture.stack.instance();
    expect(finished).toMatchObject({ id, outputs: { status: "ACTIVE" } });
    expect(finished.initErrors ?? []).toEqual([]);
    expect(fixture.posts()).toBe(1);
  },
);

test.concurrent(
  "a refresh keeps an instance unfinished while it is PROVISIONING, and finishes it when it is ACTIVE",
  async () => {
    await using fixture = await Fixture.create({ program: impatient, service: never });
    await fixture.stack.up();
    const [id] = fixture.ids();

    expect((await fixture.stack.refresh()).code).toBe(0);
    const unfinished = await fixture.stack.instance();
    expect(unfinished.id).toBe(id);
    expect(unfinished.initErrors?.join()).toContain("still PROVISIONING");

    const up = await fixture.stack.up();
    expect(up.output).toContain(`instance ${id} was still PROVISIONING when the operation's 5 s`);
    expect(up.code).not.toBe(0);

    fixture.service.control.settle();
    expect((await fixture.stack.refresh()).code).toBe(0);
    const finished = await fixture.stack.instance();
    expect(finished.initErrors ?? []).toEqual([]);
    expect(finished).toMatchObject({ id, outputs: { status: "ACTIVE", ipv4: expect.any(String) } });
    await fixture.stack.expectNothingToDo();
    expect(fixture.posts()).toBe(1);
  },
);
