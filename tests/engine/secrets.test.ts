/** Tests that no command prints a secret (G8). support/secrets.test.ts tests the search for secrets itself. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { Fixture } from "./support/fixture";
import { instances, userData } from "./support/programs";
import { canaries } from "./support/secrets";

test.each(["secret", "hash"])(
  "no command prints a secret, even if the program exports it (compute:userDataInState: %s)",
  async (userDataInState) => {
    const outputs = { script: "${web.userData}", name: "${web.name}", all: "${web}" };
    const inputs = { userData, name: { "fn::secret": canaries.name } };
    const program = (flavorId: string) =>
      instances({ web: { inputs: { ...inputs, flavorId } } }, { outputs });
    const env = { PULUMI_DEBUG_COMMANDS: "true" };
    await using fixture = await Fixture.create({
      program: program("standard-2"),
      env,
      config: { userDataInState },
    });
    const { stack } = fixture;
    const events = join(stack.project, "events.json");

    await stack.preview("--json");
    await stack.up("--diff", "--event-log", events);
    expect(readFileSync(events, "utf8")).toContain("standard-2");
    stack.program(program("standard-4"));
    for (const format of ["--diff", "--json", "--show-sames"]) await stack.preview(format);
    fixture.control.rename(fixture.ids()[0] ?? "", canaries.name.toUpperCase());
    await stack.refresh("--diff");

    expect(await stack.outputs()).toMatchObject({ script: "[secret]", name: "[secret]" });
    for (const command of [
      "stack",
      "stack --show-urns --show-ids",
      "stack output --json",
      "stack export",
      "stack history --json",
      "stack history --full-dates",
      "config --json",
    ]) {
      expect(await stack.succeed(...command.split(" "))).not.toBe("");
    }
  },
);
