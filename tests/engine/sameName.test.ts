/**
 * One explicit name twice, in one program and in two at once, with a create left open in one of them:
 * an instance for each, made by one POST, and none is taken for the other's (G2).
 */
import { expect, test } from "@jest/globals";
import { startEmulator, type Emulator } from "../../emulator";
import { instances, oneInstance } from "./support/programs";
import { Stack } from "./support/stack";
import { World } from "./support/world";

const creates = { method: "POST", path: "/v2/instances" } as const;
const lists = { method: "GET", path: "/v2/instances" } as const;
const name = "web-main";

/** After such an answer a create may be sent once more: the easiest to make twice. */
const open = { ...creates, kind: "status", status: 503, acted: true } as const;

test("twice in one program, one create open: it is named, and each has its own once it is imported", async () => {
  const program = instances({ a: { inputs: { name } }, b: { inputs: { name } } });
  await using world = await World.create({ program });
  world.service.control.fault(open);

  const { stack } = world;
  const { code, output } = await stack.up();

  expect(code).not.toBe(0);
  expect(world.posts()).toBe(2);
  const { id: held } = await stack.instance();
  const left = world.ids().find((id) => id !== held);
  expect(output).toContain(`An instance named "${name}" has turned up since, ${left}`);

  const [command = ""] = /pulumi import compute:index:Instance [ab] i-\w+/.exec(output) ?? [];
  expect(command).toContain(left);
  await stack.type(command);
  expect((await stack.up()).code).toBe(0);
  await stack.expectNothingToDo();
  expect((await stack.instances()).map(({ id }) => id).sort()).toEqual(world.ids().sort());
  expect(world.posts()).toBe(2);
});

test("twice in two programs, one create open before the other's: neither is guessed, both are named", async () => {
  await using service = await startEmulator({ provisioningSeconds: 0 });
  const { control } = service;
  await using first = await stackAt(service);
  await using second = await stackAt(service);
  control.fault(open);
  // The look for the first one's instance, which waits until the second one has made its own.
  const look = control.fault({ ...lists, after: 1, kind: "hang" });
  const up = first.start("up", "--yes", "--skip-preview");
  await up.reached(look.firstHit);
  expect((await second.up()).code).toBe(0);
  look.release();
  const { code, output } = await up.ended;

  const [own = "", other = ""] = control.instances().map(({ id }) => id);
  expect(output).toMatch(/Several instances named "web-main" have turned up since/);
  for (const id of [own, other]) expect(output).toContain(id);
  expect(code).not.toBe(0);
  expect(await first.instances()).toEqual([]);
  expect((await second.instance()).id).toBe(other);

  // As the message says: find out which one it is, and take it over.
  await first.succeed(...importing(own));
  expect((await first.up()).code).toBe(0);
  expect((await second.up("--expect-no-changes")).code).toBe(0);
  expect([(await first.instance()).id, (await second.instance()).id]).toEqual([own, other]);
  expect(service.counts()["POST /v2/instances"]).toBe(2);
});

test("twice in two programs at the same moment, one create open: none is taken for the other's", async () => {
  await using service = await startEmulator({ provisioningSeconds: 0 });
  const { control } = service;
  await using first = await stackAt(service);
  await using second = await stackAt(service);
  control.fault(open);

  const runs = await Promise.all([first.up(), second.up()]);

  const ids = control.instances().map(({ id }) => id);
  const held = (await Promise.all([first.instances(), second.instances()]))
    .flat()
    .map(({ id }) => id);
  expect(ids).toHaveLength(2);
  expect(service.counts()["POST /v2/instances"]).toBe(2);
  expect(new Set(held).size).toBe(held.length);
  // Whoever was not answered has failed, and names what no state holds.
  const [failed, ...others] = runs.filter(({ code }) => code !== 0);
  expect(others).toEqual([]);
  expect(held).toHaveLength(1);
  expect(failed?.output).toContain(ids.find((id) => !held.includes(id)));
});

test.each(["made its own", "is about to make its own"] as const)(
  "on one machine, where the other program %s: it is not adopted",
  async (other) => {
    await using world = await World.create({ program: oneInstance({ name }) });
    const { stack, service } = world;
    await stack.succeed("stack", "init", "second", "--copy-config-from", "dev");
    service.control.fault({ ...creates, kind: "reset" });
    const look = service.control.fault({ ...lists, after: 1, kind: "hang" });
    const up = stack.start("up", "--yes", "--skip-preview", "--stack", "dev");
    await up.reached(look.firstHit);
    const unanswered = service.control.fault({ ...creates, kind: "hang", acted: true });
    const second = stack.start("up", "--yes", "--skip-preview", "--stack", "second");
    await second.reached(unanswered.firstHit);
    if (other === "made its own") {
      unanswered.release();
      expect((await second.ended).code).toBe(0);
    }
    look.release();
    const { code, output } = await up.ended;
    unanswered.release();

    expect(output).toContain(
      other === "made its own"
        ? "Whether it was created is not known: no instance"
        : `An instance named "${name}" has turned up since`,
    );
    expect(code).not.toBe(0);
    expect((await second.ended).code).toBe(0);
    // Now that it is known whose that instance is, this program gets its own.
    expect((await stack.up("--stack", "dev")).code).toBe(0);
    expect(world.ids()).toHaveLength(2);
    expect(world.posts()).toBe(3);
    for (const name of ["dev", "second"]) {
      await stack.expectNothingToDo("--stack", name);
    }
  },
);

function stackAt({ url }: Emulator): Promise<Stack> {
  return Stack.create({
    program: oneInstance({ name }),
    baseUrl: url,
    config: { pollIntervalSeconds: "0.2", settlingSeconds: "1" },
  });
}

const importing = (id: string) =>
  ["import", "compute:index:Instance", "web", id, "--yes", "--protect=false"] as const;
