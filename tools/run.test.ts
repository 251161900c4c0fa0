/** Tests tools/run.mjs in a clone without node_modules, with a fake npm and a local server. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { beforeEach, expect, test } from "@jest/globals";
import { temporaryFolder } from "../provider/testing/temporaryFolder";
import { serve } from "../tests/support/serve";
import { runToolProcess } from "../tests/support/tool";
import { root } from "./support/paths";

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
  writeFileSync(
    join(folder, "bin", "npm"),
    `#!${process.execPath}\n(async () => { ${install}; ${link}; })();\n`,
    { mode: 0o755 },
  );
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
