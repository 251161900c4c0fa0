/** Tests Ctrl-C during the wait: no instance is lost (G1), and none is created twice (G2). */
import { expect, test } from "@jest/globals";
import { Fixture, hangs, never } from "../support/fixture";
import { recordsOf } from "../support/stack";

test("after Ctrl-C during the wait the id is in the state, and the next up finishes the same instance", async () => {
  await using fixture = await Fixture.create({ service: never });
  const { stack } = fixture;
  const up = await fixture.upInWait();

  await up.end("Ctrl-C");

  const [id] = fixture.ids();
  expect(await up.failed()).toContain(`the wait for instance ${id} was canceled`);
  const kept = await stack.instance();
  expect(kept).toMatchObject({ id, outputs: { status: "PROVISIONING" } });
  expect(kept.outputs?.["networks"]).toHaveLength(1);

  fixture.control.finishProvisioning();
  await stack.up();
  const finished = await stack.instance();
  expect(finished).toMatchObject({ id, outputs: { status: "ACTIVE", ipv4: expect.any(String) } });
  expect(finished.initErrors ?? []).toEqual([]);
  expect(fixture.posts()).toBe(1);
});

test("after Ctrl-C twice during the POST nobody reads its answer, so the next up takes the instance over", async () => {
  await using fixture = await Fixture.create();
  const { stack } = fixture;
  const hanging = fixture.control.fault(hangs);
  const up = stack.start("up");
  await up.reached(hanging.firstHit);
  // The engine gives the Create up, and still waits until the plugin has ended.
  await up.end("Ctrl-C twice", () => {
    void up.printed("update failed").then(() => hanging.release());
  });

  const [id] = fixture.ids();
  expect(await stack.instances()).toEqual([]);
  expect(recordsOf(stack)).toMatchObject([{ id }]);

  expect(await stack.up()).toContain(`an earlier run created ${id}`);
  expect((await stack.instance()).id).toBe(id);
  expect(fixture.ids()).toEqual([id]);
  expect(fixture.posts()).toBe(1);
  await stack.expectNothingToDo();
});
