/** Tests that no command prints a secret (G8). core/secrets.test.ts tests the search for secrets itself. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { instances, userData } from "./support/programs";
import { canaries } from "./support/secrets";
import { Fixture } from "./support/fixture";

const secretName = { "fn::secret": canaries.name };

test("no command prints a secret, even if the program exports it", async () => {
  const outputs = { script: "${web.userData}", name: "${web.name}", all: "${web}" };
  const named = (flavorId: string) =>
    instances({ web: { inputs: { userData, name: secretName, flavorId } } }, { outputs });
  const env = { PULUMI_DEBUG_COMMANDS: "true" };
  await using fixture = await Fixture.create({ program: named("standard-2"), env });
  const { stack, service } = fixture;
  const events = join(stack.project, "events.json");

  expect((await stack.preview("--json")).code).toBe(0);
  const up = await stack.up("--diff", "--event-log", events);
  expect(up.code).toBe(0);
  expect(readFileSync(events, "utf8")).toContain("standard-2");
  stack.program(named("standard-4"));
  for (const format of ["--diff", "--json", "--show-sames"]) {
    expect((await stack.preview(format)).code).toBe(0);
  }
  service.control.rename(fixture.ids()[0] ?? "", canaries.name.toUpperCase());
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
