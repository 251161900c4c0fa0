/** Tests that a killed engine leaves no plugin behind, and that no instance is lost (G1) or created twice (G2). */
import { expect, test } from "@jest/globals";
import { Fixture, never } from "../support/fixture";
import { recordsOf } from "../support/stack";

/** Returns the ids of the creates in doubt, and "open" for one whose id is not known. */
function idsInDoubt({ stack }: Fixture): string[] {
  return recordsOf(stack).map(({ id = "open" }) => id);
}

/** Removes the lock of the killed run, and runs `up` again. */
async function upAgain(fixture: Fixture): Promise<string> {
  const { stack } = fixture;
  await stack.succeed("cancel", "--yes");
  fixture.control.finishProvisioning();
  const output = await stack.up();
  expect(fixture.ids()).toEqual([(await stack.instance()).id]);
  expect(fixture.posts()).toBe(1);
  expect(idsInDoubt(fixture)).toEqual([]);
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
    if (!isSaved) expect(idsInDoubt(fixture)).toEqual([id]);
    const again = await upAgain(fixture);
    if (!isSaved) expect(again).toContain(`an earlier run created ${id}`);
  },
);

test.concurrent(
  "after an engine was killed during the POST, the plugin writes the id to the ledger, then ends",
  async () => {
    await using fixture = await Fixture.create({ service: never });
    const whileOpen = () => expect(idsInDoubt(fixture)).toEqual(["open"]);
    await fixture.endUpInPost("engine killed", 0, whileOpen);

    const [id] = fixture.ids();
    expect(idsInDoubt(fixture)).toEqual([id]);
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
