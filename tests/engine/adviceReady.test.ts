/**
 * Follows what the messages of a wait, a refresh, an update and `pulumi do` advise to its end: the state and the service
 * agree, no instance is doubled (G2), and none is lost (G1).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { describeUnless } from "../../tools/support/unless";
import { beginDoing, creating, doing } from "./support/do";
import { creates, Fixture, lists, never } from "./support/fixture";
import { emptyProgram, instances, oneInstance } from "./support/programs";
import { isOldest } from "./support/stack";
import { expectAgreement, printed, typePrinted } from "./support/typing";

test("an instance that is removed at the service during the wait is created anew by the next up", async () => {
  await using fixture = await Fixture.create({ service: never });
  const { stack, control, service } = fixture;
  const up = await fixture.upInWait();
  // Only an instance that was listed is missed.
  const listings = () => service.control.counts()["GET /v2/instances"] ?? 0;
  for (const before = listings(); listings() < before + 2; await sleep(20));
  control.remove(fixture.ids()[0] ?? "");
  const failed = await up.failed();
  expect(printed(failed, "pulumi up")).toBe("pulumi up");

  const again = await fixture.upInWait();
  control.finishProvisioning();
  await again.succeeded();

  await expectAgreement(fixture);
  expect(fixture.posts()).toBe(2);
  expect((await stack.instance()).outputs?.["status"]).toBe("ACTIVE");
});

test("if the listings are cut off before a new instance, the cursor parameter and the printed up finish it", async () => {
  await using fixture = await Fixture.create({
    service: { cursorParameter: "after" },
    config: { settlingSeconds: "2" },
  });
  const { stack, control } = fixture;
  for (let n = 0; n < 101; n++) control.insert({ name: `other-${n}` });
  const output = await stack.fail("up");
  const { id = "" } = await stack.instance();

  await typePrinted(fixture, output, "cursorParameter=NAME", { NAME: "after" });

  await expectAgreement(fixture, [id]);
  expect(await stack.instance()).toMatchObject({
    id,
    outputs: { status: "ACTIVE", ipv4: expect.stringMatching(/\d/) },
  });
  expect(fixture.posts()).toBe(1);
});

test("if the listings are cut off before a new instance and there is no cursor, the printed refresh shows its status once it is listed", async () => {
  await using fixture = await Fixture.create({ config: { settlingSeconds: "2" } });
  const { stack, control } = fixture;
  const others = Array.from({ length: 101 }, (_, n) => control.insert({ name: `other-${n}` }).id);
  const failed = await stack.fail("up");
  const { id = "" } = await stack.instance();

  const output = await typePrinted(fixture, failed, "cursorParameter=none");
  expect(output).toContain("`pulumi refresh` records them once it is listed");
  expect((await stack.instance()).outputs?.["ipv4"]).toBe("");
  for (const other of others.slice(0, 50)) control.remove(other);
  await stack.refresh();

  await expectAgreement(fixture, [id]);
  expect((await stack.instance()).outputs?.["ipv4"]).toMatch(/\d/);
  expect(fixture.posts()).toBe(1);
});

test("after the warning that an instance is OFFLINE, it is started at the service, and the printed refresh shows that", async () => {
  await using fixture = await Fixture.create({ service: { endStatus: "OFFLINE" } });
  const { stack, control } = fixture;
  const output = await stack.up();
  const [id = ""] = fixture.ids();

  control.setStatus(id, "ACTIVE");
  await typePrinted(fixture, output, "pulumi refresh");

  await expectAgreement(fixture, [id]);
  expect((await stack.instance()).outputs?.["status"]).toBe("ACTIVE");
  expect(fixture.posts()).toBe(1);
});

test("after the warning that no address is listed, the printed refresh records one that came later", async () => {
  await using fixture = await Fixture.create();
  const { stack, control } = fixture;
  const late = control.fault({ ...lists, kind: "omitAddress", times: "always" });
  const output = await stack.up();
  expect((await stack.instance()).outputs?.["ipv4"]).toBe("");

  late.remove();
  await typePrinted(fixture, output, "pulumi refresh");

  await expectAgreement(fixture);
  const [record] = control.instances();
  expect((await stack.instance()).outputs?.["ipv4"]).toBe(record?.ipv4_public);
  expect(fixture.posts()).toBe(1);
});

test("after the warning that an instance is DELETED, the printed state delete drops it, and the next up creates it again", async () => {
  await using fixture = await Fixture.create();
  const { stack, control } = fixture;
  await stack.up();
  const [id = ""] = fixture.ids();
  control.setStatus(id, "DELETED");
  await typePrinted(fixture, await stack.refresh(), "pulumi state delete");

  await stack.up();
  await expectAgreement(
    fixture,
    fixture.ids().filter((other) => other !== id),
  );
});

test.each(["becomes ACTIVE", "is removed at the service"])(
  "an instance that ends its wait with an unknown status and then %s is finished, or created again, by the next up",
  async (what) => {
    await using fixture = await Fixture.create();
    const { stack, control } = fixture;
    control.fault({ ...creates, kind: "endsAs", status: "RESCUE" });
    const failed = await stack.fail("up");
    expect(printed(failed, "pulumi up")).toBe("pulumi up");
    const [id = ""] = fixture.ids();

    if (what === "becomes ACTIVE") control.setStatus(id, "ACTIVE");
    else control.remove(id);
    await stack.up();

    await expectAgreement(fixture);
    expect(fixture.posts()).toBe(what === "becomes ACTIVE" ? 1 : 2);
  },
);

test("a refresh whose listing lacks an unfinished instance keeps it, and the next up goes on waiting for it", async () => {
  await using fixture = await Fixture.create({ service: never });
  const { stack, control } = fixture;
  const up = await fixture.upInWait();
  await up.end("Ctrl-C");
  for (const kind of ["omitItem", "hasMoreForever"] as const) {
    control.fault({ ...lists, kind, times: "always" });
  }
  expect(await stack.refresh()).toContain("was not finished when last seen. The next `pulumi up`");

  control.clearFaults();
  control.finishProvisioning();

  await expectAgreement(fixture);
  expect(fixture.posts()).toBe(1);
});

test("an imported instance that is gone when the program claims its inputs is created anew after the printed refresh", async () => {
  await using fixture = await Fixture.create({ program: emptyProgram });
  const { stack, control } = fixture;
  control.insert({ id: "i-by-hand", name: "web" });
  await stack.type("pulumi import compute:index:Instance web i-by-hand --protect=false --yes");
  control.remove("i-by-hand");
  stack.program(oneInstance({ name: "web" }));
  const failed = await stack.fail("up");
  expect(failed).toContain("instance i-by-hand no longer exists");

  await typePrinted(fixture, failed, "pulumi refresh");
  await typePrinted(fixture, failed, "pulumi up");

  expect(fixture.posts()).toBe(1);
  await expectAgreement(fixture);
});

test("an unfinished instance keeps the longest script that an input may have in its state (G1)", async () => {
  const userData = "€".repeat(666_000);
  await using fixture = await Fixture.create({
    program: oneInstance({ userData }),
    service: never,
  });
  const { stack, control } = fixture;
  const up = await fixture.upInWait();
  await up.end("Ctrl-C");
  expect((await stack.instance()).outputs).toHaveProperty("userData");
  control.finishProvisioning();
  await stack.up();
  expect(fixture.posts()).toBe(1);
});

const noDo = isOldest ? "the oldest engine has no `do`" : undefined;
describeUnless(noDo, "after a create by `pulumi do` without a stack", () => {
  test("whose wait failed, the printed import takes the instance over", async () => {
    await using fixture = await beginDoing({ service: never });
    const { stack, control } = fixture;
    const create = stack.start(...creating);
    await create.printed("PROVISIONING");
    const broken = control.fault({ ...lists, kind: "status", status: 400, times: "always" });
    expect(await create.failed()).toContain("exists, and no state holds it");
    broken.remove();
    control.finishProvisioning();

    await typePrinted(fixture, create.output, "pulumi import", { "<name>": "web" });

    stack.program(oneInstance());
    await expectAgreement(fixture);
    expect(fixture.posts()).toBe(1);
  });

  test("without a clear answer, the service's listing has the name, and an import takes the instance over", async () => {
    await using fixture = await beginDoing();
    const { stack, control } = fixture;
    control.fault({ ...creates, kind: "reset", acted: true });
    const hidden = control.fault({ ...lists, kind: "omitItem", times: "always" });
    const failed = await stack.fail(...creating, "--compute:settling-seconds=1");
    const [, name = ""] = /Look for "(.*?)" in the service's listing before/.exec(failed) ?? [];
    hidden.remove();

    const listed = JSON.parse(await stack.succeed(...doing("list"))) as {
      id: string;
      name: string;
    }[];
    const id = listed.find((instance) => instance.name === name)?.id ?? "";
    await stack.type(`pulumi import compute:index:Instance Instance ${id}`);

    stack.program(instances({ Instance: {} }));
    await expectAgreement(fixture);
    expect(fixture.posts()).toBe(1);
  });
});
