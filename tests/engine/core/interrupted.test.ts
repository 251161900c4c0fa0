/** Tests Ctrl-C during the wait: no instance is lost (G1), and none is created twice (G2). */
import { expect, test } from "@jest/globals";
import { Fixture, never } from "../support/fixture";

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

  fixture.control.settle();
  await stack.up();
  const finished = await stack.instance();
  expect(finished).toMatchObject({ id, outputs: { status: "ACTIVE", ipv4: expect.any(String) } });
  expect(finished.initErrors ?? []).toEqual([]);
  expect(fixture.posts()).toBe(1);
});
