/** Builds executables from Go modules. If that fails, the message says what a person can do. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { captured, runCommand } from "./command";
import { hashOf, readIfThere, writeWhole, isMissing } from "./files";
import { withLock } from "./products";
import { say, ToolError } from "./main";
import { exe, root, toolsBin, toolsDir } from "./paths";

export interface GoTool {
  name: string;
  /** If another tool has the same name. */
  folder?: string;
  /** If it is for another system than this one. */
  system?: "windows";
  /** For messages: "the Pulumi CLI". */
  title: string;
  /** The folder of tools/go that pins its modules. */
  module: string;
  /** The Go package of its `main`. */
  package: string;
  /** In addition to `-s -w`, which leave debug information out. */
  ldflags?: string;
  /** Leave out what the tool does not need. */
  tags?: string;
  /** A file of a Go module that must be beside the executable. */
  script?: { module: string; path: string };
  /** Must be beside the executable. */
  needs?: GoTool;
  /** How long a first build takes: "1 minute". */
  expected: string;
  /** What a person can do instead. */
  alternative?: string;
}

/** Builds the tool unless it is up to date. Returns its path. */
export async function ensureBuilt(tool: GoTool): Promise<string> {
  if (tool.needs !== undefined) await ensureBuilt(tool.needs);
  const [path = "", script] = outputsOf(tool);
  if (isBuilt(tool)) return path;
  // The sources may change during the minutes of the build.
  const sources = fingerprint(tool);
  await withLock(keyOf(tool), `building ${tool.title}`, async () => {
    if (isBuilt(tool)) return;
    await build(tool, path);
    if (tool.script !== undefined && script !== undefined) {
      const list = ["list", "-mod=readonly", "-m", "-f", "{{.Dir}}", tool.script.module];
      const options = { cwd: directoryOf(tool.module), env: goEnvironment() };
      const directory = (await captured("go", list, options)).trim();
      writeWhole(script, readFileSync(join(directory, tool.script.path)), 0o755);
    }
    writeWhole(stampOf(tool), sources);
  });
  return path;
}

export function isBuilt(tool: GoTool): boolean {
  return readIfThere(stampOf(tool)) === fingerprint(tool) && outputsOf(tool).every(existsSync);
}

/** Returns the version of a dependency in one of our go.mod files: "v3.258.0". */
export function requiredVersion(module: string, dependency: string): string {
  const words = readGoMod(module).split(/\s+/);
  const version = words.find((word, i) => words[i - 1] === dependency && /^v\d/.test(word));
  if (version === undefined) throw new Error(`tools/go/${module}/go.mod lacks ${dependency}`);
  return version;
}

/** Returns the version of Go in one of our go.mod files: "1.25.11". */
export function goVersion(module: string): string {
  return /^go (\S+)$/m.exec(readGoMod(module))?.[1] ?? "";
}

/** Updates go.mod and go.sum to what the code imports. */
export async function tidy(directory: string): Promise<void> {
  await captured("go", ["mod", "tidy"], { cwd: directory, env: goEnvironment() });
}

/** Returns the paths of the executable and, if it has one, of its script. */
function outputsOf({ name, folder = "", script, system }: GoTool): string[] {
  const scripts = script === undefined ? [] : [join(toolsBin, basename(script.path))];
  return [join(toolsBin, folder, name + (system ? ".exe" : exe)), ...scripts];
}

/** Returns the names of all its files, which are beside each other. */
export function filesOf(tool: GoTool): string[] {
  const needed = tool.needs === undefined ? [] : filesOf(tool.needs);
  return [...outputsOf(tool).map((path) => basename(path)), ...needed];
}

const keyOf = ({ folder, name }: GoTool) => (folder === undefined ? name : `${name}-${folder}`);
const stampOf = (tool: GoTool) => join(toolsDir, "stamps", keyOf(tool));
const directoryOf = (module: string) => join(root, "tools", "go", module);
const readGoMod = (module: string) => readFileSync(join(directoryOf(module), "go.mod"), "utf8");

/** Hashes what the executable is built from, but not the version of Go, nor what GOFLAGS and the like say. */
function fingerprint(tool: GoTool): string {
  const { module, package: main } = tool;
  const ours = [...readGoMod(module).matchAll(/=> \.\.\/(\S+)/g)].map(([, name = ""]) => name);
  // Only a relative path is a package of our own module.
  const folders = [module, ...ours, ...(main.startsWith("./") ? [join(module, main)] : [])];
  const namesAndContents = folders.map(directoryOf).flatMap((directory) =>
    readdirSync(directory)
      .filter((name) => /\.(go|mod|sum)$/.test(name))
      .sort()
      .flatMap((name) => [name, readFileSync(join(directory, name))]),
  );
  const { platform, arch } = process;
  return hashOf([
    tool.system ?? platform,
    arch,
    main,
    linkerFlags(tool),
    ...tagFlags(tool),
    ...namesAndContents,
  ]);
}

const linkerFlags = ({ ldflags }: GoTool) => ["-s -w", ldflags].filter(Boolean).join(" ");
const tagFlags = ({ tags }: GoTool) => (tags === undefined ? [] : ["-tags", tags]);

async function build(tool: GoTool, path: string): Promise<void> {
  // An interrupted build leaves no executable behind.
  const scratch = join(toolsDir, "scratch", keyOf(tool));
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  const output = join(scratch, `${process.pid}${exe}`);

  let modules = 0;
  let packages = 0;
  const errorLines: string[] = [];
  say(`Building ${tool.title} (about ${tool.expected}, once) …`);
  const start = performance.now();
  const seconds = () => `${Math.round((performance.now() - start) / 1000)} s`;
  const timer = setInterval(() => {
    say(`  ${seconds()}  ${modules} modules downloaded, ${packages} packages compiled`);
  }, 15_000);
  try {
    const arguments_ = [
      // With trimmed paths, checkouts with the same modules share the compiler's cache.
      ...["build", "-mod=readonly", "-buildvcs=false", "-trimpath", "-v", "-o", output],
      ...[...tagFlags(tool), "-ldflags", linkerFlags(tool), tool.package],
    ];
    const code = await runCommand("go", arguments_, {
      cwd: directoryOf(tool.module),
      env: { ...goEnvironment(), ...(tool.system && { GOOS: tool.system, GOARCH: "amd64" }) },
      onLine(line) {
        if (line.startsWith("go: downloading ")) modules++;
        else if (/^[\w.~/-]+$/.test(line)) packages++;
        else errorLines.push(line);
      },
    });
    if (code !== 0) throw new ToolError(explain(tool, errorLines.slice(-20).join("\n")));
    say(`  done in ${seconds()}`);
  } catch (error) {
    throw isMissing(error) ? new ToolError(explain(tool, undefined)) : error;
  } finally {
    clearInterval(timer);
  }
  mkdirSync(dirname(path), { recursive: true });
  renameSync(output, path);
  rmSync(scratch, { recursive: true, force: true });
}

/** The environment of this process, without another platform than its own. */
export function goEnvironment(): NodeJS.ProcessEnv {
  // Less garbage collection saves the compiler 7 % of its time.
  const environment: NodeJS.ProcessEnv = { GOGC: "400", ...process.env };
  delete environment["GOOS"];
  delete environment["GOARCH"];
  // No C compiler, and no go.work of a folder above.
  return { ...environment, CGO_ENABLED: "0", GOWORK: "off" };
}

const networkTrouble =
  /dial tcp|no such host|i\/o timeout|connection re(fused|set)|network is unreachable|TLS handshake|proxyconnect|x509:|module lookup disabled|\b(403|404|407|5\d\d) [A-Z]/;

/** `goOutput` is undefined if there is no Go. */
function explain(tool: GoTool, goOutput: string | undefined): string {
  const isNetwork = goOutput !== undefined && networkTrouble.test(goOutput);
  const what = isNetwork ? "Go could not download its modules" : "The output of Go";
  const problem = goOutput === undefined ? "Go is not installed." : `${what}:\n${goOutput}`;
  const remedies = [
    tool.alternative,
    isNetwork &&
      "make Go's module proxy reachable (GOPROXY, HTTPS_PROXY), or provide a filled GOMODCACHE",
    `install Go ${goVersion(tool.module)} or later (https://go.dev/dl/), and run the command again`,
  ].filter(Boolean);
  const list = remedies.map((remedy) => `\n  - ${remedy}`).join("");
  return `Cannot build ${tool.title}. ${problem}\nWhat you can do:${list}`;
}
