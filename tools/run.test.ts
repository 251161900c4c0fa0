/**
 * Tests tools/run.mjs in a clone without node_modules, with a fake npm and a local server. Also tests the arguments of
 * `npm start`.
 */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
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
  folder = mkdtempSync(join(tmpdir(), "compute-run-"));
  for (const file of copied) cpSync(join(root, file), join(folder, file));
  mkdirSync(join(folder, "bin"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Runs `npm start` in the clone. `install` is the JavaScript that its npm runs, and `start` that of its tools/start.ts.
 */
async function runStart(install: string, start: string, env: NodeJS.ProcessEnv): Promise<string> {
  const link = `require("node:fs").symlinkSync(${JSON.stringify(join(root, "node_modules"))}, "node_modules")`;
  writeFileSync(
    join(folder, "bin", "npm"),
    `#!${process.execPath}\n(async () => { ${install}; ${link}; })();\n`,
    { mode: 0o755 },
  );
  const parentDownload = JSON.stringify(join(root, "tools", "support", "parentDownload"));
  writeFileSync(
    join(folder, "tools", "start.ts"),
    `import { parentDownload } from ${parentDownload};\nvoid (async () => { ${start} })();\n`,
  );
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(folder, "tools", "run.mjs"), "start"],
    { env: { PATH: join(folder, "bin"), HOME: folder, ...env } },
  );
  return stdout;
}

test("npm start downloads the Pulumi CLI while npm installs and the tool works. The tool is notified of the end", async () => {
  const archive = Promise.withResolvers<ServerResponse>();
  const server = createServer((request, response) => {
    if (request.url === "/installing") {
      void archive.promise.then(() => response.end());
    } else if (request.url === "/working") {
      void archive.promise.then((pending) => pending.end("end"));
      response.end();
    } else {
      response.writeHead(200, { "content-length": "startend".length });
      response.write("start");
      archive.resolve(response);
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const downloads = join(folder, ".tools", "downloads");
  const list = `console.log(JSON.stringify(require("node:fs").readdirSync(${JSON.stringify(downloads)})));`;
  try {
    const printed = await runStart(
      // npm ends only after the archive has been requested.
      `await fetch("${url}/installing", { signal: AbortSignal.timeout(60_000) })`,
      // The archive ends only after the tool has started.
      `${list} await fetch("${url}/working"); await parentDownload(); ${list}`,
      { COMPUTE_PULUMI_MIRROR: url },
    );
    const [working, ended] = printed.trim().split("\n");
    expect(working).toMatch(/^\["pulumi-v[\d.]+-[\w-]+\.tar\.gz\.part"\]$/);
    expect(ended).toBe(working?.replace(".part", ""));
    const [file = ""] = JSON.parse(ended ?? "") as string[];
    expect(readFileSync(join(downloads, file), "utf8")).toBe("startend");
  } finally {
    server.closeAllConnections();
    server.close();
  }
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
  const server = createServer((_, response) => {
    requests++;
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const start = `await parentDownload(); console.log("started");`;
    const env = { COMPUTE_PULUMI_MIRROR: url, ...prepare() };
    expect(await runStart("", start, env)).toBe("started\n");
    expect(requests).toBe(0);
  } finally {
    server.close();
  }
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
