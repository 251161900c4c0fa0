/** Tests `pulumi preview`, `up` and a second `up` with the real engine, and counts their requests. */
import { expect, test } from "@jest/globals";
import { Fixture, never } from "../support/fixture";
import { oneInstance, userData } from "../support/programs";

test("a preview only lists (G10), up waits for the instance and reads back its addresses, and then nothing is left to do", async () => {
  await using fixture = await Fixture.create({
    program: oneInstance({ sshKeys: ["b", "a"], userData }),
    service: never,
  });
  const { stack, control } = fixture;

  expect(await stack.preview("--diff")).toMatch(/flavorId *: "standard-2"/);
  expect(control.counts()).toEqual({ "GET /v2/account": 1, "GET /v2/instances": 1 });

  const up = await fixture.upInWait();
  control.finishProvisioning();
  await up.succeeded();
  const [record] = control.instances();
  const { id, outputs } = await stack.instance();
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

  stack.program(oneInstance({ userData: userData.replaceAll("\n", "\r\n"), sshKeys: ["a", "b"] }));
  expect(await stack.type("pulumi up --expect-no-changes")).toContain("2 unchanged");
  await stack.refresh("--expect-no-changes");
  expect(fixture.posts()).toBe(1);
});
