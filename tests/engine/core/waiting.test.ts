/** Tests a wait that times out: no instance is lost, and the next `up` continues with it (G1). */
import { expect, test } from "@jest/globals";
import { Fixture, lists, never } from "../support/fixture";
import { instances, oneInstance } from "../support/programs";

test("after a time-out the id is in the state, up and refresh keep the instance unfinished, and finish it once it is ACTIVE", async () => {
  const program = oneInstance({}, { customTimeouts: { create: "5s", update: "5s" } });
  await using fixture = await Fixture.create({ program, service: never });
  const { stack } = fixture;

  const first = await stack.fail("up");

  const [id] = fixture.ids();
  const waited = (option: string) =>
    `instance ${id} was still PROVISIONING when the operation's 5 s (customTimeouts.${option})`;
  expect(first).toContain(waited("create"));
  expect(first).toContain("the next `pulumi up` goes on waiting for it");
  const expectUnfinished = async () => {
    const { initErrors, ...kept } = await stack.instance();
    expect(kept.id).toBe(id);
    expect(initErrors?.join()).toContain("PROVISIONING");
  };
  await expectUnfinished();
  await stack.refresh();
  await expectUnfinished();
  expect(await stack.fail("up")).toContain(waited("update"));
  await expectUnfinished();

  fixture.control.finishProvisioning();
  await stack.refresh();
  const finished = await stack.instance();
  expect(finished.initErrors ?? []).toEqual([]);
  expect(finished).toMatchObject({ id, outputs: { status: "ACTIVE", ipv4: expect.any(String) } });
  await stack.expectNothingToDo();
  expect(fixture.posts()).toBe(1);
});

test("an instance that is ACTIVE before its address is listed is awaited, after a Ctrl-C by the next up, so that what uses the address gets it", async () => {
  const program = instances({ db: {}, web: { inputs: { userData: "#!/bin/sh\n# ${db.ipv4}\n" } } });
  await using fixture = await Fixture.create({ program, config: { settlingSeconds: "60" } });
  const { stack, control } = fixture;
  const late = control.fault({ ...lists, kind: "omitAddress", times: "always" });

  const first = stack.start("up");
  await first.printed("ACTIVE without an address");
  await first.end("Ctrl-C");

  expect(fixture.posts()).toBe(1);
  await stack.refresh();
  expect((await stack.instance()).initErrors?.join()).toContain("`pulumi up` waits for it");
  const next = stack.start("up");
  await next.printed("ACTIVE without an address");
  late.remove();
  await next.succeeded();

  const [db, web] = control.instances();
  const script = Buffer.from(web?.request.user_data ?? "", "base64").toString();
  expect(script).toBe(`#!/bin/sh\n# ${db?.ipv4_public}\n`);
  expect((await stack.instances()).flatMap(({ initErrors }) => initErrors ?? [])).toEqual([]);
  await stack.expectNothingToDo();
  expect(fixture.posts()).toBe(2);
});
