/**
 * `npm start` in a clone whose path has characters that mean something in URLs and shells, on a machine that has Node and
 * nothing else: PATH is an empty folder, and so is the home.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { create } from "tar";
import { shellQuote } from "../../provider/shellQuote";
import { runCommand } from "../../tools/support/command";
import { repositoryFiles, root } from "../../tools/support/paths";
import { pinnedPulumi, thisPlatform } from "../../tools/support/pulumiArchive.cjs";
import { testUnless } from "../../tools/support/unless";
import { noTerminals } from "./support/processes";

let folder: string;
let clone: string;
/** An archive of the engine under test, laid out as the official one. */
let archive: Buffer;
const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(request.url ?? "");
  response.writeHead(200, { "content-length": archive.length }).end(archive);
});

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "compute-start-"));
  clone = join(folder, "it's #1 50% ü");
  for (const file of repositoryFiles()) cpSync(join(root, file), join(clone, file));
  const modules = join(clone, "node_modules");
  mkdirSync(modules);
  // npm 8 and 9 leave no Node in .bin.
  const installed = readdirSync(join(root, "node_modules")).filter((name) => name !== ".bin");
  for (const name of installed) symlinkSync(join(root, "node_modules", name), join(modules, name));
  mkdirSync(join(folder, "empty"));

  const content = join(folder, "archive", "pulumi");
  mkdirSync(content, { recursive: true });
  const directories = (process.env["COMPUTE_TEST_PATH"] ?? "").split(delimiter);
  const cwd =
    directories.find((directory) => existsSync(join(directory, "pulumi-language-nodejs"))) ?? "";
  cpSync(process.env["COMPUTE_TEST_PULUMI"] ?? "", join(content, "pulumi"), { dereference: true });
  // A host that was built here consists of two executables.
  for (const name of globSync("{pulumi-language,compute-host}-nodejs", { cwd }))
    cpSync(join(cwd, name), join(content, name), { dereference: true });
  const file = join(folder, "archive.tar.gz");
  await create({ file, gzip: { level: 1 }, cwd: join(folder, "archive") }, ["pulumi"]);
  archive = readFileSync(file);

  const pins = join(clone, "tools", "support", "pulumiArchive.cjs");
  const sha256 = createHash("sha256").update(archive).digest("hex");
  const text = readFileSync(pins, "utf8");
  writeFileSync(pins, text.replace(pinnedPulumi.sha256[thisPlatform] ?? "no pin", sha256));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const script = join("tools", "run.mjs");

function inClone() {
  const empty = join(folder, "empty");
  const mirror = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { cwd: clone, env: { PATH: empty, HOME: empty, COMPUTE_PULUMI_MIRROR: mirror } };
}

/** Runs `npm start` in the clone with these arguments. Returns what it printed. */
async function start(...args: string[]): Promise<string> {
  const lines: string[] = [];
  const options = { ...inClone(), onLine: (line: string) => lines.push(line) };
  const code = await runCommand(process.execPath, [script, "start", ...args], options);
  const printed = lines.join("\n");
  if (code !== 0) throw new Error(`npm start ended with ${code}:\n${printed}`);
  return printed;
}

test("npm start needs Node and nothing else: it downloads the Pulumi CLI once, and makes the instances", async () => {
  const printed = await start();
  expect(printed).toContain(join(".tools", "bin", `pulumi-${pinnedPulumi.version}`, "pulumi"));
  expect(printed).not.toContain("Building");
  expect(printed).toContain("3 created");
  expect(printed).toMatch(/names .*web-1.*web-2/);
  // No address that is dead now.
  expect(printed).not.toContain("http://127.0.0.1");

  expect(await start("destroy")).toContain("3 deleted");
  const { version } = pinnedPulumi;
  expect(asked).toEqual([`/v${version}/pulumi-v${version}-${thisPlatform}.tar.gz`]);
});

test("after two Ctrl-C in the middle of a create, npm start settles what is in doubt, and goes on with the instances", async () => {
  const interrupted = spawn(process.execPath, [script, "start"], {
    ...inClone(),
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  const ended = once(interrupted, "close");
  for await (const line of createInterface({ input: interrupted.stdout })) {
    if (line.includes("PROVISIONING")) break;
  }
  interrupted.stdout.resume();
  // As at a Ctrl-C, all processes of the group get the signal.
  for (let times = 0; times < 2; times++) process.kill(-(interrupted.pid ?? 0), "SIGINT");
  await ended;

  const printed = await start();
  expect(printed).toContain("Nothing is in doubt any more.");
  expect(printed).not.toContain("3 created");
  expect(printed).toMatch(/names .*web-1.*web-2/);
  expect(await start("destroy")).toContain("3 deleted");
});

testUnless(
  noTerminals,
  "at a terminal the emulator and its page stay until Ctrl-C, and other commands use them",
  async () => {
    const { cwd, env } = inClone();
    const line = `PATH=${shellQuote(env.PATH)} exec ${shellQuote(process.execPath)} ${script} start`;
    using terminal = spawn("script", ["-qec", line, "/dev/null"], {
      cwd,
      env: { ...env, PATH: process.env["PATH"] },
      stdio: ["pipe", "pipe", "ignore"],
    });
    const ended = once(terminal, "close");
    let page = "";
    for await (const printed of createInterface({ input: terminal.stdout })) {
      [, page = ""] = /page, until Ctrl-C: (http\S+)/.exec(printed) ?? [];
      if (page !== "") break;
    }
    terminal.stdout.resume();
    expect(await (await fetch(page)).text()).toContain("emulated");
    // No command offers itself as the next one.
    const third = await start("up", "-c", "count=3");
    expect(third).toContain("1 created");
    expect(third).not.toContain("npm start -- up -c count=3");
    const refreshed = await start("refresh");
    expect(refreshed).toContain("4 unchanged");
    expect(refreshed).not.toContain("npm start -- refresh");
    const emptied = await start("destroy");
    expect(emptied).toContain("4 deleted");
    // Of what stays at the service, the provider speaks, and no second message.
    expect(emptied.split("Duration:").at(-1)).not.toContain("sandbox");

    // The terminal turns this character into a SIGINT.
    terminal.stdin.write("\u0003");
    expect(await ended).toEqual([0, null]);
    await expect(fetch(page)).rejects.toThrow();
  },
);
