/**
 * Tests the real engine with a ledger that can't be written: the only warnings are about the ledger, and no created
 * instance is lost (G1).
 */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { expect } from "@jest/globals";
import { ledgerFolder } from "../../provider/ledger/folder";
import { testUnless } from "../../tools/support/unless";
import { oneInstance } from "./support/programs";
import { Fixture } from "./support/fixture";

/** Root can write everywhere, so the tests mount a file system that nobody can write to. */
const canMount =
  spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;
const noMounts = canMount ? undefined : "this machine allows no mount by `unshare -rm`";

const fillDisk = "cat /dev/zero > filler 2> /dev/null;";

for (const [what, mountOptions, prepare, reason] of [
  ["a read-only ledger", "-o ro", "", "read-only file system"],
  ["a full disk", "-o size=4k", fillDisk, "no space left on device"],
] as const) {
  const title = `with ${what}, up creates one instance, and warns only about the ledger`;
  testUnless(noMounts, title, async () => {
    await using fixture = await Fixture.create({ program: oneInstance() });
    const { stack } = fixture;
    const env = { PULUMI_HOME: stack.home, PULUMI_BACKEND_URL: stack.backend };
    const folder = dirname(dirname(ledgerFolder(env)));
    mkdirSync(folder);
    // Only the folder of the ledger is mounted. The rest of the disk stays as it was.
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
