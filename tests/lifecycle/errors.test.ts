/** G9: the service's words reach the person. G8: secrets, and what could move a terminal, do not. */
import { expect, test } from "@jest/globals";
import { Secret } from "../../provider/property/value";
import { inputs } from "./support/stack";
import { testToken, userData, withWorld } from "./support/world";

const web = { web: inputs({ userData: new Secret(userData) }) };

test.each([400, 401, 403, 409, 500])(
  "a %i on the POST: code, message, request_id, doc_url and a next step",
  async (code) => {
    await withWorld({}, async (world) => {
      const { control } = world.service;
      const envelope = { code: "quota_reached", message: "No more cores." };
      control.fault({ kind: "status", status: code, ...envelope, method: "POST", times: 2 });
      const { failure } = await world.stack.up(await world.plugin(), web);
      const post = control.requests().findLast(({ method }) => method === "POST");
      for (const part of [
        "No more cores.",
        "quota_reached",
        post?.id ?? "no id",
        "https://docs.compute.example/errors#quota_reached",
        `HTTP ${code}`,
        "POST /v2/instances",
      ])
        expect(failure.message).toContain(part);
      expect(failure.message).toMatch(/run again|give a valid one|grant it|next `pulumi up`/);
    });
  },
);

test("a refused token stops everything with one clear error, and nothing is sent but the account call", async () => {
  await withWorld({}, async (world) => {
    world.service.control.declareToken(testToken, { state: "expired" });
    const program = Object.fromEntries(
      Array.from({ length: 10 }, (_, n) => [`web-${n}`, inputs()]),
    );
    const { failed } = await world.stack.up(await world.plugin(), program);
    expect(Object.keys(failed)).toHaveLength(10);
    for (const { message } of Object.values(failed)) {
      expect(message).toMatch(/expired_token.*compute:apiToken.*COMPUTE_API_TOKEN/);
    }
    expect(world.service.counts()).toEqual({ "GET /v2/account": 1 });
  });
});

test("a narrow token is used all the same, with a warning; a missing scope that is needed is the error", async () => {
  await withWorld({}, async (world) => {
    const { control } = world.service;
    control.declareToken(testToken, { scopes: ["list", "create"] });
    const plugin = await world.plugin();
    expect((await world.stack.up(plugin, web)).failed).toEqual({});
    expect(await plugin.warning(/missing_scope/)).toContain("compute:validateCredentials");
    control.declareToken(testToken, { scopes: ["account", "list"] });
    const two = { ...web, db: inputs() };
    const { failure } = await world.stack.up(await world.plugin(), two);
    expect(failure.message).toMatch(/missing_scope.*scope/);
    world.expectAllHeld();
  });
});

test("an answer that echoes token and user data does not bring them to the person", async () => {
  await withWorld({}, async (world) => {
    const base64 = Buffer.from(userData).toString("base64");
    const message = `bad request: Bearer ${testToken}; user_data ${base64}; ${userData}`;
    const { control } = world.service;
    for (const status of [400, 503]) {
      control.fault({ kind: "status", status, message, method: "POST", times: 2 });
      const { failure } = await world.stack.up(await world.plugin(), web);
      expect(failure.message).toContain("bad request");
      expect(failure.message).not.toMatch(/Canary/);
      expect(failure.message).not.toContain(base64);
      control.clearFaults();
    }
  });
});

test("terminal escapes of the service do not reach the person", async () => {
  await withWorld({}, async (world) => {
    const hostile = "\u001b[2J\u001b]0;x\u0007\u202eevil\r\u009b1m";
    const { control } = world.service;
    control.fault({ kind: "status", status: 400, message: hostile, code: hostile, method: "POST" });
    const plugin = await world.plugin();
    const { failure } = await world.stack.up(plugin, web);
    const hostileId = `i-${hostile}`;
    control.insert({ name: hostile, id: hostileId, status: hostile });
    const imported = await world.stack.import(plugin, "odd", hostileId).catch(() => undefined);
    await plugin.allWarnings();
    const seen = [
      failure.message,
      ...Object.values(imported?.failed ?? {}).map(({ message }) => message),
      ...plugin.logged.map(({ message }) => message),
    ].join("\n");
    // eslint-disable-next-line no-control-regex -- these are what must not be there
    expect(seen).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  });
});

/** `withWorld` looks for the canaries in every message and file, and in the state in clear. */
test("user data in clear from the program is a secret in the state; the debug log shows none of it", async () => {
  await withWorld({ provisioningSeconds: Infinity }, async (world) => {
    const plugin = await world.plugin();
    await world.leaveUnfinished(plugin, { web: inputs({ userData }) });
    await plugin.allWarnings();
    expect(plugin.logged.some(({ message }) => /POST/.test(message))).toBe(true);
    expect(world.records).toHaveLength(1);
    const { outputs, inputs: held } = world.stack.held();
    expect(held["userData"]).toEqual(new Secret(userData));
    expect(outputs["userData"]).toEqual(new Secret(userData));
  });
});

test("a name that the program made secret is in no message, no file, and not in the state in clear", async () => {
  await withWorld({ provisioningSeconds: Infinity }, async (world) => {
    const name = new Secret("CanaryUserDataName");
    const plugin = await world.plugin();
    await world.leaveUnfinished(plugin, { web: inputs({ name }) });
    expect(world.stack.held().outputs["name"]).toEqual(name);
    await plugin.allWarnings();
    expect(world.records).toHaveLength(1);
  });
});
