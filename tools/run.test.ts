/** Tests tools/run.mjs in a clone without node_modules, with a fake npm and a local server. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { temporaryFolder } from "../provider/testing/temporaryFolder";
import { runToolProcess } from "../tests/support/tool";
import { root } from "./support/paths";

const copied = [
  "tools/run.mjs",
  "tools/support/pulumiArchive.cjs",
  "metadata.json",
  "package-lock.json",
];

let folder: string;
let server: Server | undefined;
beforeEach(() => {
  folder = temporaryFolder();
  for (const file of copied) cpSync(join(root, file), join(folder, file));
  mkdirSync(join(folder, "bin"));
});
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
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

/** Starts a server with these answers, and returns its address. */
async function serve(answer: RequestListener): Promise<string> {
  server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("npm start downloads the Pulumi CLI while npm installs, and the tool starts when both have ended", async () => {
  const archive = Promise.withResolvers<ServerResponse>();
  const url = await serve((request, response) => {
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
  const install = `await fetch("${url}/installing", { signal: AbortSignal.timeout(60_000) })`;
  const file = await runStart(install, { COMPUTE_PULUMI_MIRROR: url });
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
  let requests = 0;
  const url = await serve((_, response) => {
    requests++;
    response.end();
  });
  expect(await runStart("", { COMPUTE_PULUMI_MIRROR: url, ...prepare() })).toBe("");
  expect(requests).toBe(0);
});

test.each([
  [["--diff"], /^The command comes first.* `npm start -- up --diff`\. The commands: up, preview, /],
  [["up", "--wach"], /^Did you mean --watch\?/],
  [["destory"], /^There is no command "destory"\. Choose one of these: up, preview, /],
])("npm start -- %j says what to type, before it does anything", async (args, message) => {
  const { code, printed } = await runToolProcess("start", args);
  expect(printed).toMatch(message);
  expect(code).toBe(1);
});
