/** Tests `pulumi preview`, `up` and a second `up` with the real engine, and counts their requests. */
import { expect, test } from "@jest/globals";
import { oneInstance, userData } from "../support/programs";
import { Fixture } from "../support/fixture";

test("a preview shows the inputs of the instance and sends no request (G10)", async () => {
  await using fixture = await Fixture.create({ program: oneInstance() });

  const { code, output } = await fixture.stack.preview("--diff");

  expect(output).toContain('flavorId: "standard-2"');
  expect(code).toBe(0);
  expect(fixture.service.counts()).toEqual({});
});

test("up creates an instance, waits for it, and reads back its addresses", async () => {
  await using fixture = await Fixture.create({
    program: oneInstance({ sshKeys: ["a", "b"], userData }),
    service: { provisioningSeconds: Infinity },
  });

  const up = fixture.stack.start("up", "--yes", "--skip-preview");
  await up.printed("PROVISIONING");
  fixture.service.control.settle();

  expect((await up.ended).code).toBe(0);
  const [record] = fixture.service.control.instances();
  const { id, outputs } = await fixture.stack.instance();
  expect(id).toBe(record?.id);
  expect(outputs).toMatchObject({
    name: record?.name,
    status: "ACTIVE",
    ipv4: record?.ipv4_public,
    privateIpv4: record?.networks[0]?.ipv4,
    networks: [{ type: "private", ipv4: record?.networks[0]?.ipv4 }],
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    tokenKind: "test",
  });
});

test("a second up and a refresh change nothing and create nothing", async () => {
  await using fixture = await Fixture.create({
    program: oneInstance({ userData, sshKeys: ["b", "a"] }),
  });
  const { stack } = fixture;
  await stack.up();

  stack.program(oneInstance({ userData: userData.replaceAll("\n", "\r\n"), sshKeys: ["a", "b"] }));
  const again = await stack.run("up", "--yes", "--expect-no-changes");
  const refreshed = await stack.run("refresh", "--yes", "--expect-no-changes");

  expect(again.output).toContain("2 unchanged");
  expect(again.code).toBe(0);
  expect(refreshed.code).toBe(0);
  expect(fixture.posts()).toBe(1);
});
