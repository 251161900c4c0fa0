/** Tests a stack whose state is a copy of another stack's, whose servers go on serving (G4). */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { destroyPath, Fixture } from "./support/fixture";
import { tokens } from "./support/stack";

test.each([{ flags: [] }, { flags: ["--refresh"] }])(
  "`up` of a copied stack with $flags makes servers of its own, and the first stack's servers live",
  async ({ flags }) => {
    const service = { destroyPath };
    await using fixture = await Fixture.create({ token: tokens.live, config: service, service });
    const { stack } = fixture;
    await stack.up();
    const [first = ""] = fixture.ids();
    await stack.type("pulumi stack export --file state.json");
    await stack.succeed("stack", "init", "copy");
    await stack.type("cp Pulumi.dev.yaml Pulumi.copy.yaml");
    await stack.type("pulumi stack import --force --file state.json");

    const output = await stack.up(...flags);

    expect(output).toContain(
      `its instance ${first} was not destroyed: it is of the stack proj/dev, and this run is of proj/copy`,
    );
    const [, second = ""] = fixture.ids();
    expect(fixture.ids()).toEqual([first, second]);
    await stack.expectNothingToDo();
    await stack.destroy();
    expect(fixture.ids()).toEqual([first]);
    await stack.succeed("stack", "select", "dev");
    await stack.expectNothingToDo();
    await stack.destroy();
    expect(fixture.ids()).toEqual([]);
    expect(readdirSync(join(stack.home, "compute", "runs"))).toEqual([]);
  },
);
