/** `pulumi preview`, `up` and `up` again with the real engine, and what they cost in requests. */
import { expect, test } from "@jest/globals";
import { startEmulator } from "../../emulator";
import { instances, oneInstance, userData } from "./support/programs";
import { Stack } from "./support/stack";

test("a preview creates nothing and shows what will be (G10)", async () => {
  await using emulator = await startEmulator();
  await using stack = await Stack.create({ program: oneInstance(), baseUrl: emulator.url });

  const { code, output } = await stack.preview("--diff");

  expect(output).toContain('flavorId: "standard-2"');
  expect(code).toBe(0);
  expect(emulator.counts()).toEqual({});
});

test("up creates an instance, waits for it, and reads back its addresses", async () => {
  await using emulator = await startEmulator({ provisioningSeconds: 1 });
  await using stack = await Stack.create({
    program: oneInstance({ sshKeys: ["a", "b"], userData }),
    baseUrl: emulator.url,
  });

  const { code, output } = await stack.up();

  expect(output).toContain("PROVISIONING");
  expect(code).toBe(0);
  const [record] = emulator.control.instances();
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
});

test("up again, and refresh, change nothing and create nothing", async () => {
  await using emulator = await startEmulator({ provisioningSeconds: 0.2 });
  await using stack = await Stack.create({
    program: oneInstance({ userData, sshKeys: ["b", "a"] }),
    baseUrl: emulator.url,
  });
  await stack.up();

  stack.program(oneInstance({ userData: userData.replaceAll("\n", "\r\n"), sshKeys: ["a", "b"] }));
  const again = await stack.run("up", "--yes", "--expect-no-changes");
  const refreshed = await stack.run("refresh", "--yes", "--expect-no-changes");

  expect(again.output).toContain("2 unchanged");
  expect(again.code).toBe(0);
  expect(refreshed.code).toBe(0);
  expect(emulator.counts()["POST /v2/instances"]).toBe(1);
});

test("25 instances at once cost 25 POSTs, one account call, and listings by the second (G7)", async () => {
  await using emulator = await startEmulator({ provisioningSeconds: 5 });
  const names = Array.from({ length: 25 }, (_, index) => `web-${index + 1}`);
  await using stack = await Stack.create({
    program: instances(Object.fromEntries(names.map((name) => [name, {}]))),
    baseUrl: emulator.url,
  });

  const { code } = await stack.up("--parallel", "25");

  expect(code).toBe(0);
  const counts = emulator.counts();
  expect(counts["POST /v2/instances"]).toBe(25);
  expect(counts["GET /v2/account"]).toBe(1);
  // A look every half second at the most, one page each, and the baseline before the POSTs.
  const at = emulator.control.requests().map((request) => request.at);
  const seconds = (Math.max(...at) - Math.min(...at)) / 1000;
  expect(counts["GET /v2/instances"]).toBeLessThanOrEqual(2 * seconds + 4);
  expect(new Set((await stack.instances()).map(({ id }) => id)).size).toBe(25);
  expect(emulator.control.instances()).toHaveLength(25);
});
