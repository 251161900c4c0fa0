/** Shows what docs/upgrade.md says: another version of the plugin takes the servers over as they are. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import metadata from "../../metadata.json";
import { installPlugin } from "../../tools/build";
import { Fixture } from "./support/fixture";
import { oneInstance } from "./support/programs";

const next = "9.9.9";
const program = (version: string) => oneInstance({}, { version });

test("another version of the plugin keeps each server and its name, and only the provider resource is a new one", async () => {
  const given = { program: program(metadata.version), namesPlugin: false };
  await using fixture = await Fixture.create(given);
  const { stack } = fixture;
  installPlugin(stack.home);
  const folderOf = (version: string) =>
    join(stack.home, "plugins", `resource-${metadata.name}-v${version}`);
  cpSync(folderOf(metadata.version), folderOf(next), { recursive: true });
  await stack.up();
  const [before] = await stack.instances();

  stack.program(program(next));
  expect(await stack.up()).toMatch(/ 2 unchanged/);

  const [after, ...others] = await stack.instances();
  expect(others).toEqual([]);
  expect([after?.id, after?.outputs?.["name"]]).toEqual([before?.id, before?.outputs?.["name"]]);
  const providers = (await stack.resources()).filter(({ type }) => type.startsWith("pulumi:prov"));
  expect(providers.map(({ urn }) => urn.split("::").at(-1))).toEqual(["default_9_9_9"]);
  expect(fixture.posts()).toBe(1);
  await stack.expectNothingToDo();
});
