/** A ledger that can't be kept, with the real engine: a warning at most, and never a wrong statement (G1). */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { expect } from "@jest/globals";
import { ledgerFolder } from "../../provider/ledger/folder";
import { testUnless } from "../../tools/support/unless";
import { oneInstance } from "./support/programs";
import { Fixture } from "./support/fixture";

/** Root can write everywhere; only a mount of its own stops it. */
const canMount =
  spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;
const noMounts = canMount ? undefined : "this machine allows no mount by `unshare -rm`";

const fillDisk = "cat /dev/zero > filler 2> /dev/null;";

for (const [what, mountOptions, prepare, reason] of [
  ["a read-only ledger", "-o ro", "", "read-only file system"],
  ["a full disk", "-o size=4k", fillDisk, "no space left on device"],
] as const) {
  const title = `${what}: the run makes one instance, and its only warning says what it can't keep`;
  testUnless(noMounts, title, async () => {
    await using fixture = await Fixture.create({ program: oneInstance() });
    const { stack } = fixture;
    const env = { PULUMI_HOME: stack.home, PULUMI_BACKEND_URL: stack.backend };
    const folder = dirname(dirname(ledgerFolder(env)));
    mkdirSync(folder);
    // The rest of the disk is as it was: only the folder of the ledger is a mount.
    const mount = `mount -t tmpfs ${mountOptions} tmpfs '${folder}'`;
    const script = `${mount} && { (cd '${folder}' && ${prepare} :); exec "$@"; }`;
    stack.startThrough("unshare", "-rm", "sh", "-c", script, "sh");

    const { code, output } = await stack.up();

    expect(output).toContain(reason);
    for (const [text] of output.matchAll(/warning: .*/g)) expect(text).toContain("the ledger");
    expect(code).toBe(0);
    expect(fixture.ids()).toEqual([(await stack.instance()).id]);
    await stack.expectNothingToDo();
  });
}
