/** Tests tools/run.mjs in a clone without node_modules, with a fake npm and a local server. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import type { ServerResponse } from "node:http";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { beforeEach, expect } from "@jest/globals";
import { shellQuote } from "../provider/shellQuote";
import { temporaryFolder } from "../provider/testing/temporaryFolder";
import { serve } from "../tests/support/serve";
import { runToolProcess } from "../tests/support/tool";
import { root } from "./support/paths";
import { posixTest as test } from "./support/unless";

const copied = [
  "tools/run.mjs",
  "tools/support/pulumiArchive.cjs",
  "metadata.json",
  "package-lock.json",
];

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
  for (const file of copied) cpSync(join(root, file), join(folder, file));
  mkdirSync(join(folder, "bin"));
});

/**
 * Runs `npm start` in the clone. `install` is the JavaScript that its npm runs. Its tools/start.ts prints the names of the
 * files that have been downloaded.
 */
async function runStart(install: string, env: NodeJS.ProcessEnv): Promise<string> {
  const link = `require("node:fs").symlinkSync(${JSON.stringify(join(root, "node_modules"))}, "node_modules")`;
  const npm = join(folder, "bin", "npm");
  const scripts = `if (!process.argv.includes("--ignore-scripts")) throw new Error("packages run scripts")`;
  writeFileSync(`${npm}.js`, `(async () => { ${scripts}; ${install}; ${link}; })();\n`);
  const command = [process.execPath, `${npm}.js`].map((word) => shellQuote(word)).join(" ");
  writeFileSync(npm, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
  const list = `require("node:fs").globSync("*", { cwd: ${JSON.stringify(downloads())} })`;
  writeFileSync(join(folder, "tools", "start.ts"), `console.log(${list}.join());\n`);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(folder, "tools", "run.mjs"), "start"],
    { env: { PATH: join(folder, "bin"), HOME: folder, ...env } },
  );
  return stdout.trim();
}

const downloads = () => join(folder, ".tools", "downloads");

test("npm start downloads the Pulumi CLI while npm installs, and the tool starts when both have ended", async () => {
  const archive = Promise.withResolvers<ServerResponse>();
  await using server = await serve((request, response) => {
    if (request.url !== "/installing") {
      response.writeHead(200, { "content-length": "startend".length });
      response.write("start");
      return archive.resolve(response);
    }
    // npm ends only after the archive has been requested, and the archive only after npm.
    void archive.promise.then((pending) => {
      response.end();
      setTimeout(() => pending.end("end"), 500);
    });
  });
  const install = `await fetch("${server.url}/installing", { signal: AbortSignal.timeout(60_000) })`;
  const file = await runStart(install, { COMPUTE_PULUMI_MIRROR: server.url });
  expect(file).toMatch(/^pulumi-v[\d.]+-[\w-]+\.tar\.gz$/);
  expect(readFileSync(join(downloads(), file), "utf8")).toBe("startend");
});

test.each<[string, () => NodeJS.ProcessEnv]>([
  [
    "a CLI on PATH",
    () => {
      writeFileSync(join(folder, "bin", "pulumi"), "", { mode: 0o755 });
      return {};
    },
  ],
  ["a proxy, which many versions of Node ignore", () => ({ https_proxy: "http://127.0.0.1:9" })],
])("with %s, nothing is downloaded beside the installation", async (_, prepare) => {
  await using server = await serve((_, response) => response.end());
  expect(await runStart("", { COMPUTE_PULUMI_MIRROR: server.url, ...prepare() })).toBe("");
  expect(server.paths).toEqual([]);
});

const packaged = relative(root, process.execPath);

/** Runs `npm start` in the clone with these packages, and prints what `node` is to its tool. */
async function printNode(options: readonly string[] = []): Promise<string> {
  const source =
    'console.log(require("node:child_process").execSync("node -p process.execPath") + "")';
  writeFileSync(join(folder, "tools", "start.ts"), source);
  const args = [...options, join(folder, "tools", "run.mjs"), "start"];
  const env = { PATH: join(folder, "bin"), HOME: folder };
  return (await promisify(execFile)(process.execPath, args, { env })).stdout.trim();
}

/** Installs links to the packages that are installed here. Without links in .bin, as npm 8 and 9. */
function linkPackages(): void {
  const modules = join(root, "node_modules");
  mkdirSync(join(folder, "node_modules"));
  for (const name of readdirSync(modules).filter((name) => name !== ".bin"))
    symlinkSync(join(modules, name), join(folder, "node_modules", name));
}

/** Puts a Node into the clone that ends like one that another C library needs. */
function breakPackagedNode(): void {
  const node = join(folder, packaged);
  rmSync(join(node, "..", ".."));
  mkdirSync(join(node, ".."), { recursive: true });
  writeFileSync(node, "#!/not/there/ld-linux-x86-64.so.2\n", { mode: 0o755 });
}

test("a tool runs on the packaged Node, also what it starts, even if npm has linked no command", async () => {
  linkPackages();
  expect(await printNode()).toBe(process.execPath);
});

test("where the packaged Node does not run, as on musl, a tool runs on the Node of the machine, and npm's link to the other goes", async () => {
  linkPackages();
  breakPackagedNode();
  const link = join(folder, "node_modules", ".bin", "node");
  mkdirSync(join(link, ".."));
  symlinkSync(join(folder, packaged), link);
  expect(await printNode()).toBe(process.execPath);
  expect(readdirSync(join(link, ".."))).toEqual([]);
});

test.each(["18.0.0", "22.18.0", "23.9.0"])(
  "where the packaged Node does not run, and the Node of the machine is %s, the script says what is needed",
  async (version) => {
    linkPackages();
    breakPackagedNode();
    const pass = `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"${version}"})`;
    await expect(printNode([`--import=${pass}`])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /This is Node [\d.]+, and no packaged Node runs on this machine \(.*\)\. Install Node\.js 22\.19 or 23\.10, or a later one: /,
      ),
    });
  },
);

test.each([
  [["--diff"], /^The command comes first.* `npm start -- up --diff`\. The commands: up, preview, /],
  [["destory"], /^There is no command "destory"\. Choose one of these: up, preview, /],
])("npm start -- %j says what to type, before it does anything", async (args, message) => {
  const { code, printed } = await runToolProcess("start", args);
  expect(printed).toMatch(message);
  expect(code).toBe(1);
});

test("SIGTERM to `npm run emulator` ends the emulator", async () => {
  const npm = spawn("npm", ["run", "emulator", "--", "--port", "0"], {
    cwd: root,
    stdio: ["ignore", "pipe", "ignore"],
  });
  // All processes that hold the pipe have ended.
  const closed = once(npm, "close");
  let origin = "";
  for await (const line of createInterface({ input: npm.stdout })) {
    [, origin = ""] = /^Compute emulator ready at (\S+)\/v2 /.exec(line) ?? [];
    if (origin) break;
  }
  expect((await fetch(`${origin}/control/instances`)).status).toBe(200);
  npm.stdout.resume();
  npm.kill("SIGTERM");
  await closed;
  await expect(fetch(origin)).rejects.toThrow();
}, 60_000);
