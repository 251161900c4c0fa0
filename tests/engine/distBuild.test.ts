/** Tests the archive of `npm run dist`: what it contains, and that every build produces the same bytes. */
import { expect, test } from "@jest/globals";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { list } from "tar";
import metadata from "../../metadata.json";
import { ensureArchive, ensureExecutable, packPlugin } from "../../tools/dist";
import { makeExecutable } from "../../tools/dist/executable";
import { makeParts } from "../../tools/dist/parts";
import { executableName, thisPlatform } from "../../tools/dist/platforms";
import { hashOf } from "../../tools/support/files";

const here = thisPlatform();

test("the archive has the name that Pulumi looks for, and contains the executable and the licences", async () => {
  const archive = await ensureArchive();
  const entries: object[] = [];
  await list({
    file: archive,
    onReadEntry: ({ path, mode, uid }) => void entries.push({ path, mode, uid }),
  });

  expect(basename(archive)).toBe(`pulumi-resource-compute-v${metadata.version}-${here}.tar.gz`);
  expect(entries).toEqual([
    { path: "LICENSE", mode: 0o644, uid: undefined },
    { path: "THIRD-PARTY-NOTICES.txt", mode: 0o644, uid: undefined },
    { path: executableName(here), mode: 0o755, uid: undefined },
  ]);
});

test("two builds produce the same bytes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "compute-dist-"));
  try {
    const [executable, archive] = [join(folder, "executable"), join(folder, "archive")];
    await makeExecutable(here, await makeParts(), executable);
    await packPlugin(here, executable, archive);

    const digest = (path: string) => hashOf([readFileSync(path)]);
    expect(digest(executable)).toBe(digest(await ensureExecutable()));
    expect(digest(archive)).toBe(digest(await ensureArchive()));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
