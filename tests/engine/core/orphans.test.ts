/** Tests that a killed engine leaves no plugin behind, and that no instance is lost (G1). */
import { expect, test } from "@jest/globals";
import { gone } from "../support/processes";
import { oneInstance } from "../support/programs";
import { recordsOf } from "../support/stack";
import { Fixture } from "../support/fixture";

const program = oneInstance();
const never = { provisioningSeconds: Infinity };
const creates = { method: "POST", path: "/v2/instances" } as const;

const up = (fixture: Fixture) => fixture.stack.start("up", "--yes", "--skip-preview");

/** Returns the ids in the records of pending creates, and "open" for a record without an id. */
function pendingIds({ stack }: Fixture): string[] {
  return recordsOf(stack).flatMap(({ stage, id = "open" }) => (stage === "settled" ? [] : [id]));
}

/** Removes the lock of the killed run, and runs `up` again. */
async function upAgain(fixture: Fixture): Promise<string> {
  await fixture.stack.succeed("cancel", "--yes");
  fixture.service.control.settle();
  const { code, output } = await fixture.stack.up();
  expect(code).toBe(0);
  expect((await fixture.stack.instance()).id).toBe(fixture.ids()[0]);
  expect(fixture.ids()).toHaveLength(1);
  return output;
}

test.concurrent.each(["SIGKILL", "SIGHUP", "SIGTERM"] as const)(
  "after an engine was ended by %s during the wait, the plugin ends too, and the next up continues",
  async (signal) => {
    await using fixture = await Fixture.create({ program, service: never });
    const running = up(fixture);
    await running.printed("PROVISIONING");

    await gone(await running.killEngine(signal));

    const [id] = fixture.ids();
    // After SIGTERM the engine still saves the unfinished instance.
    const isSaved = signal === "SIGTERM";
    if (!isSaved) expect(pendingIds(fixture)).toEqual([id]);
    const output = await upAgain(fixture);
    if (!isSaved) expect(output).toContain(`an earlier run created ${id}`);
    expect(fixture.posts()).toBe(1);
  },
);

test.concurrent(
  "after an engine was killed during the POST, the plugin writes the id to the ledger, then ends",
  async () => {
    await using fixture = await Fixture.create({ program, service: never });
    const hanging = fixture.service.control.fault({ ...creates, kind: "hang", acted: true });
    const running = up(fixture);
    await running.reached(hanging.firstHit);

    const plugins = await running.killEngine("SIGKILL");
    expect(pendingIds(fixture)).toEqual(["open"]);
    hanging.release();
    await gone(plugins);

    const [id] = fixture.ids();
    expect(pendingIds(fixture)).toEqual([id]);
    expect(await upAgain(fixture)).toContain(`an earlier run created ${id}`);
    expect(fixture.posts()).toBe(1);
  },
);

test.concurrent(
  "after an engine was killed as soon as it had started a plugin, the plugin ends and sends nothing",
  async () => {
    await using fixture = await Fixture.create({ program });
    await gone(await up(fixture).killEngine("SIGKILL"));
    expect(fixture.service.counts()).toEqual({});
  },
);
