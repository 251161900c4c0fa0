/** A stack that uses the plugin as Pulumi installs it, and a machine with nothing but `pulumi`. */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import metadata from "../../../metadata.json";
import { root } from "../../../tools/support/paths";
import { Fixture, type FixtureOptions } from "./fixture";

/** A stack whose project does not name the plugin, which `pulumi plugin install` has installed. */
export async function installedFixture(options: FixtureOptions = {}): Promise<Fixture> {
  const fixture = await Fixture.create({ namesPlugin: false, ...options });
  const { name, version } = metadata;
  const install = ["plugin", "install", "resource", name, version, "--file", join(root, "bin")];
  await fixture.stack.succeed(...install);
  return fixture;
}

/** Returns the path of a folder that has only a `pulumi`. */
export function onlyPulumi({ stack }: Fixture): string {
  const folder = join(stack.folder, "only-pulumi");
  mkdirSync(folder);
  symlinkSync(process.env["COMPUTE_TEST_PULUMI"] ?? "", join(folder, "pulumi"));
  return folder;
}
