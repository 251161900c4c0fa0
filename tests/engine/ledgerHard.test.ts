/**
 * Tests the real engine where nothing can be written to the provider's folder: the only warnings are about that, and no created
 * instance is lost (G1).
 */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "@jest/globals";
import { testUnless } from "../../tools/support/unless";
import { Fixture } from "./support/fixture";

/** Root can write everywhere, so the tests mount a file system that nobody can write to. */
const canMount =
  spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;
const noMounts = canMount ? undefined : "this machine allows no mount by `unshare -rm`";

const unwritten = "the provider's files can't be written";

for (const [what, mountOptions, prepare, reason] of [
  ["a read-only ledger", "-o ro", "", "read-only file system"],
  ["a full disk", "-o size=4k", "cat /dev/zero > filler 2> /dev/null;", "no space left on device"],
] as const) {
  const title = `with ${what}, up creates one instance, and warns only about that`;
  testUnless(noMounts, title, async () => {
    await using fixture = await Fixture.create();
    const { stack } = fixture;
    // Only the folder of the ledger is mounted. The rest of the disk stays as it was.
    const folder = join(stack.home, "compute");
    mkdirSync(folder);
    const mount = `mount -t tmpfs ${mountOptions} tmpfs "${folder}"`;
    const script = `${mount} && { (cd "${folder}" && ${prepare} :); exec pulumi up; }`;

    const output = await stack.type(`unshare -rm sh -c '${script}'`);

    expect(output).toContain(reason);
    for (const [text] of output.matchAll(/warning: .*/g)) expect(text).toContain(unwritten);
    expect(await stack.ids()).toEqual(fixture.ids());
    // Another home would have no plugin, and Pulumi would fail to download one.
    expect(output).not.toContain("PULUMI_HOME");
    expect(await stack.expectNothingToDo()).not.toContain(unwritten);
  });
}
