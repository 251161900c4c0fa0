/** Tests that a killed engine leaves no plugin behind, and that no instance is lost (G1) or created twice (G2). */
import { expect, test } from "@jest/globals";
import { Fixture, never } from "../support/fixture";
import { recordsOf } from "../support/stack";

/** Returns the ids in the records of pending creates, and "open" for a record without an id. */
function pendingIds({ stack }: Fixture): string[] {
  return recordsOf(stack).flatMap(({ stage, id = "open" }) => (stage === "settled" ? [] : [id]));
}

/** Removes the lock of the killed run, and runs `up` again. */
async function upAgain(fixture: Fixture): Promise<string> {
  const { stack } = fixture;
  await stack.succeed("cancel", "--yes");
  fixture.control.settle();
  const output = await stack.up();
  expect(fixture.ids()).toEqual([(await stack.instance()).id]);
  expect(fixture.posts()).toBe(1);
  await stack.expectNothingToDo();
  return output;
}

test.concurrent.each(["engine killed", "plugin killed", "SIGHUP", "SIGTERM"] as const)(
  "after %s during the wait, nothing keeps running, and the next up continues with the instance",
  async (how) => {
    await using fixture = await Fixture.create({ service: never });
    const up = await fixture.upInWait();

    await up.end(how);

    const [id] = fixture.ids();
    await up.failed();
    // After SIGTERM the engine still saves the unfinished instance.
    const isSaved = how === "SIGTERM";
    if (!isSaved) expect(pendingIds(fixture)).toEqual([id]);
    const again = await upAgain(fixture);
    if (!isSaved) expect(again).toContain(`an earlier run created ${id}`);
  },
);

test.concurrent(
  "after an engine was killed during the POST, the plugin writes the id to the ledger, then ends",
  async () => {
    await using fixture = await Fixture.create({ service: never });
    await fixture.endUpInPost("engine killed", 0, () =>
      expect(pendingIds(fixture)).toEqual(["open"]),
    );

    const [id] = fixture.ids();
    expect(pendingIds(fixture)).toEqual([id]);
    expect(await upAgain(fixture)).toContain(`an earlier run created ${id}`);
  },
);

test.concurrent(
  "after an engine was killed as soon as it had started a plugin, the plugin ends and sends nothing",
  async () => {
    await using fixture = await Fixture.create();
    await fixture.stack.start("up").end("engine killed");
    expect(fixture.control.counts()).toEqual({});
  },
);
