/** Tests Ctrl-C and a killed plugin during the wait: no instance is lost (G1), and none is created twice (G2). */
import { expect, test } from "@jest/globals";
import { oneInstance } from "../support/programs";
import { Fixture } from "../support/fixture";

const program = oneInstance();

test("after Ctrl-C during the wait the id is in the state, and the next up finishes the same instance", async () => {
  await using fixture = await Fixture.create({
    program,
    service: { provisioningSeconds: Infinity },
  });
  const up = fixture.stack.start("up", "--yes", "--skip-preview");
  await up.printed("PROVISIONING");

  up.interrupt();
  const { code, output } = await up.ended;

  const [id] = fixture.ids();
  expect(code).not.toBe(0);
  expect(output).toContain(`the wait for instance ${id} was canceled`);
  const kept = await fixture.stack.instance();
  expect(kept).toMatchObject({ id, outputs: { status: "PROVISIONING" } });
  expect(kept.outputs?.["networks"]).toHaveLength(1);

  fixture.service.control.settle();
  const again = await fixture.stack.up();

  expect(again.code).toBe(0);
  const finished = await fixture.stack.instance();
  expect(finished).toMatchObject({ id, outputs: { status: "ACTIVE", ipv4: expect.any(String) } });
  expect(finished.initErrors ?? []).toEqual([]);
  expect(fixture.posts()).toBe(1);
});

test("after a plugin was killed during the wait, the next up takes over the instance and creates none", async () => {
  await using fixture = await Fixture.create({
    program,
    service: { provisioningSeconds: Infinity },
  });
  const up = fixture.stack.start("up", "--yes", "--skip-preview");
  await up.printed("PROVISIONING");

  up.killPlugin();

  expect((await up.ended).code).not.toBe(0);
  const [id] = fixture.ids();
  fixture.service.control.settle();
  const again = await fixture.stack.up();
  expect(again.output).toContain(`an earlier run created ${id}`);
  expect(again.code).toBe(0);
  expect((await fixture.stack.instance()).id).toBe(id);
  expect(fixture.posts()).toBe(1);

  await fixture.stack.expectNothingToDo();
  expect(fixture.ids()).toEqual([id]);
});
