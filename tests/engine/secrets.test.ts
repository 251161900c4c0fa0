/** What engine and service might show of secrets, and nobody sees (G8). The search is in core/secrets.test.ts. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { instances, oneInstance, userData } from "./support/programs";
import { canaries } from "./support/secrets";
import { tokens } from "./support/stack";
import { World } from "./support/world";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const secretName = { "fn::secret": canaries.name };

test("no command shows a secret, also not one that the program exports", async () => {
  const outputs = { script: "${web.userData}", name: "${web.name}", all: "${web}" };
  const named = (flavorId: string) =>
    instances({ web: { inputs: { userData, name: secretName, flavorId } } }, { outputs });
  const env = { PULUMI_DEBUG_COMMANDS: "true" };
  await using world = await World.create({ program: named("standard-2"), env });
  const { stack, service } = world;
  const events = join(stack.project, "events.json");

  expect((await stack.preview("--json")).code).toBe(0);
  const up = await stack.up("--diff", "--event-log", events);
  expect(up.code).toBe(0);
  expect(readFileSync(events, "utf8")).toContain("standard-2");
  stack.program(named("standard-4"));
  for (const format of ["--diff", "--json", "--show-sames"]) {
    expect((await stack.preview(format)).code).toBe(0);
  }
  service.control.rename(world.ids()[0] ?? "", canaries.name.toUpperCase());
  expect((await stack.refresh("--diff")).code).toBe(0);

  expect(await stack.outputs()).toMatchObject({ script: "[secret]", name: "[secret]" });
  for (const command of [
    ["stack"],
    ["stack", "--show-urns", "--show-ids"],
    ["stack", "output", "--json"],
    ["stack", "export"],
    ["stack", "history", "--json"],
    ["stack", "history", "--full-dates"],
    ["config", "--json"],
  ]) {
    expect(await stack.succeed(...command)).not.toBe("");
  }
});

// Only a POST carries user data, so only its answer may hold a part of it that was cut.
const maskedToken = `sk_test_…${tokens.test.slice(-9)}`;
const whole = `${tokens.test} ${userData} ${base64(userData)}`;
const asJson = JSON.stringify({ authorization: `Bearer ${tokens.test}`, userData });
test.each([
  { how: "whole", post: whole, get: whole },
  { how: "in a JSON text", post: asJson, get: asJson },
  { how: "cut", post: `${maskedToken} ${base64(userData).slice(0, -9)}`, get: maskedToken },
])("a service that echoes secrets, $how, does not get them printed", async ({ post, get }) => {
  await using world = await World.create({
    program: oneInstance({ userData }),
    env: { COMPUTE_DEBUG: "1" },
  });
  const echo = (method: "GET" | "POST", text: string) => {
    const message = `Bad: ${text} \u001b[2J`;
    world.service.control.fault({
      ...{ method, path: "/v2/instances", kind: "status", status: 400, message },
    });
  };

  echo("POST", post);
  const create = await world.stack.up();
  expect((await world.stack.up()).code).toBe(0);
  echo("GET", get);
  const refresh = await world.stack.refresh();

  for (const { code, output } of [create, refresh]) {
    expect(output).toContain("HTTP 400");
    expect(output).not.toContain("\u001b[2J");
    expect(code).not.toBe(0);
  }
});
