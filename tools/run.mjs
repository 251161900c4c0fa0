/**
 * The entry of every npm script: `npm start` is `node tools/run.mjs start`.
 *
 * Plain JavaScript that runs on any Node from 18 on without installed packages. It installs what
 * package-lock.json names, and runs `tools/NAME.ts` on the Node that is one of those packages.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { clearInterval, setInterval } from "node:timers";
import { isatty } from "node:tty";
import { fileURLToPath, pathToFileURL } from "node:url";
import pulumiArchive from "./support/pulumiArchive.cjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const nodeModules = join(root, "node_modules");
const bin = join(nodeModules, ".bin");

/** For a machine on which no packaged Node runs. As in provider/version.ts. */
const oldestNodes = readJson(join(root, "metadata.json")).sdk.nodejs.pluginNodes;

const [name, ...args] = process.argv.slice(2);
const names = readdirSync(join(root, "tools")).filter((file) => /^[a-z]+\.ts$/.test(file));
if (!names.includes(`${name}.ts`)) {
  const known = names.map((file) => file.slice(0, -3)).join(", ");
  fail(
    `${name ? `There is no script "${name}".` : "The command names no script."} The scripts are: ${known}`,
  );
}
if (!isInstalled()) {
  const download = beginDownload();
  await install(download);
  await download;
}
run(packagedNode() ?? currentNode());

/** Whether node_modules has what package-lock.json names, according to npm's own record. */
function isInstalled() {
  const installed = readPackages(join(nodeModules, ".package-lock.json"));
  return Object.entries(readPackages(join(root, "package-lock.json"))).every(([path, wanted]) => {
    if (!path.includes("node_modules/")) return true; // A workspace, for which the entry of its link counts.
    const found = installed[path];
    if (found) return found.version === wanted.version && found.integrity === wanted.integrity;
    // npm leaves out packages for other platforms. The Node for this platform must be installed.
    return wanted.optional === true && !isNodeForHere(wanted);
  });
}

async function install(download) {
  const beside = download ? ", and downloading the Pulumi CLI beside it" : "";
  console.error(`Installing what package-lock.json names (about half a minute, once)${beside} …`);
  const start = Date.now();
  // Not with the Node in node_modules, because npm deletes that folder first.
  const path = (process.env.PATH ?? "").split(delimiter).filter((entry) => resolve(entry) !== bin);
  // No script of a package runs where a token may be near.
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const npm = spawn("npm", ["ci", ...options], {
    cwd: root,
    env: { ...process.env, PATH: path.join(delimiter) },
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  const why = await new Promise((settle) => {
    npm.on("error", (error) => settle(`npm does not start (${error.message}).`));
    npm.on("close", (status) => settle(status === 0 ? undefined : "See npm's output above."));
  });
  if (why)
    fail(
      `The installation failed. ${why} It needs the network, or a filled npm cache; and in a folder with # or % in its path, npm 10 or later.`,
    );
  console.error(`  done in ${Math.round((Date.now() - start) / 1000)} s`);
}

/**
 * Begins to download the Pulumi CLI for `npm start` if there is none on this machine. Resolves at the end, even if the
 * download fails: tools/support/officialPulumi.ts checks the archive, and downloads it if it is not there. Undefined if
 * nothing is downloaded now.
 */
function beginDownload() {
  const { archiveAddress, archivePath, pinnedPulumi, thisPlatform } = pulumiArchive;
  const folders = [...(process.env.PATH ?? "").split(delimiter), join(homedir(), ".pulumi", "bin")];
  // No checksum is pinned for Windows, so the name of the CLI needs no `.exe`.
  const files = folders.map((folder) => join(folder, "pulumi"));
  const others = [join(homedir(), ".pulumi", "versions"), join(root, ".tools", "bin")];
  // Many versions of Node ignore a proxy. Then tools/start.ts downloads the CLI, with a package that uses the proxy.
  const hasProxy = Object.entries(process.env).some(
    ([key, value]) => /^(https?|all)_proxy$/i.test(key) && value,
  );
  const isPinned = thisPlatform in pinnedPulumi.sha256;
  if (name !== "start" || hasProxy || !isPinned || [...files, ...others].some(existsSync)) {
    return undefined;
  }
  const address = archiveAddress(pinnedPulumi, thisPlatform);
  return pulumiArchive
    .download(address, archivePath(address), { say: console.error })
    .catch(() => undefined);
}

/** The Node that package-lock.json pins for this platform, if it runs here: it needs glibc, at its usual place. */
function packagedNode() {
  const packages = Object.entries(readPackages(join(nodeModules, ".package-lock.json")));
  const [path, entry] = packages.find(([, candidate]) => isNodeForHere(candidate)) ?? [];
  const node = path && join(root, path, entry.bin.node);
  if (node && spawnSync(node, ["--version"]).status === 0) return node;
  // npm would start the next script with it.
  rmSync(join(bin, "node"), { force: true });
}

function isNodeForHere({ bin, os, cpu }) {
  const matches = (value, here) => [value].flat().includes(here);
  return Boolean(bin?.node) && matches(os, process.platform) && matches(cpu, process.arch);
}

/** The Node that runs this file. Ends with an error if it is too old. */
function currentNode() {
  const [here, ...wanted] = [process.versions.node, ...oldestNodes].map((version) =>
    version.split(".").map(Number),
  );
  const [major, minor] = wanted.find(([first]) => first === here[0]) ?? wanted.at(-1);
  if (here[0] > major || (here[0] === major && here[1] >= minor)) return process.execPath;
  fail(
    `This is Node ${process.versions.node}, and no packaged Node runs on this machine (${process.platform} ` +
      `${process.arch}). Install Node.js ${oldestNodes.join(" or ")}, or a later one: https://nodejs.org`,
  );
}

/** Runs the tool, and ends as the tool ends. */
function run(node) {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
  const child = spawn(node, ["--import", tsx, join(root, "tools", `${name}.ts`), ...args], {
    stdio: "inherit",
    // Some versions of npm leave no link to it in node_modules/.bin.
    env: { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) },
  });
  child.on("error", (error) => fail(`${node} does not start: ${error.message}`));

  // A terminal sends Ctrl-C to the child, too, and many programs stop at once if they get it twice. Without a
  // terminal, this process must pass the signal on.
  const hasTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor));
  process.on("SIGINT", () => hasTerminal || child.kill("SIGINT"));
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));

  // At a SIGTERM, npm ends only the shell between it and this process.
  const starter = process.ppid;
  const look = setInterval(() => {
    if (process.env.npm_lifecycle_event !== name || process.ppid === starter) return;
    clearInterval(look);
    child.kill("SIGTERM");
  }, 100).unref();

  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function readPackages(lockfile) {
  return existsSync(lockfile) ? readJson(lockfile).packages : {};
}

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
