/** Builds executables from Go modules, and says what to do where it can't. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { isOlder } from "../../provider/versions";
import { captured, runCommand } from "./command";
import { hashOf, readIfThere, writeWhole, fieldOf, isMissing } from "./files";
import { withLock } from "./products";
import { say, ToolError } from "./main";
import { exe, root, toolsBin, toolsDir } from "./paths";

interface Script {
  module: string;
  path: string;
}

/** One executable that is built from Go modules. */
export interface GoTool {
  name: string;
  /** Its folder below the others, where it has the name of one of them. */
  folder?: string;
  /** What it is, for messages: "the Pulumi CLI". */
  title: string;
  /** The directory under `tools/go` whose go.mod and go.sum pin all it is made of. */
  module: string;
  /** The Go package of its `main`. */
  package: string;
  /** Beside those that leave out what is for debuggers. */
  ldflags?: string;
  /** A script that is needed beside the executable: the Go module that has it, and its path there. */
  script?: Script;
  /** How long a first build takes, about: "1 minute". */
  expected: string;
  /** What a person can do instead of building it. */
  otherWay?: string;
}

/** The path of the built tool; builds it where it is missing or older than what it is made from. */
export async function ensureBuilt(tool: GoTool): Promise<string> {
  const path = join(toolsBin, tool.folder ?? "", tool.name + exe);
  const stamp = join(toolsDir, "stamps", keyOf(tool));
  const wanted = fingerprint(tool);
  const outputs = [path, ...(tool.script === undefined ? [] : [scriptPath(tool.script)])];
  const isBuilt = () => readIfThere(stamp) === wanted && outputs.every((it) => existsSync(it));
  if (isBuilt()) return path;

  const onWait = () => say(`Waiting for another run, which is building ${tool.title} …`);
  await withLock(keyOf(tool), onWait, async () => {
    if (isBuilt()) return;
    await build(tool, path);
    if (tool.script !== undefined) await copyScript(tool, tool.script);
    writeWhole(stamp, wanted);
  });
  return path;
}

/** The version of a module that a go.mod of ours asks for: "v3.258.0". */
export function requiredVersion(module: string, dependency: string): string {
  const words = readGoMod(module).split(/\s+/);
  const version = words.find((word, i) => words[i - 1] === dependency && /^v\d/.test(word));
  if (version === undefined) throw new Error(`tools/go/${module}/go.mod lacks ${dependency}`);
  return version;
}

/** The version of Go that a go.mod of ours asks for: "1.25.11". */
export function goVersion(module: string): string {
  return /^go (\S+)$/m.exec(readGoMod(module))?.[1] ?? "";
}

/** Brings the go.mod and go.sum of a directory in line with its imports. */
export async function tidy(directory: string): Promise<void> {
  await captured("go", ["mod", "tidy"], { cwd: directory, env: goEnvironment() });
}

/** What it has alone of all tools. */
function keyOf({ folder, name }: GoTool): string {
  return folder === undefined ? name : `${name}-${folder}`;
}

function directoryOf(module: string): string {
  return join(root, "tools", "go", module);
}

function readGoMod(module: string): string {
  return readFileSync(join(directoryOf(module), "go.mod"), "utf8");
}

function fingerprint(tool: GoTool): string {
  const { module, package: main } = tool;
  const ours = [...readGoMod(module).matchAll(/=> \.\.\/(\S+)/g)].map(([, name = ""]) => name);
  const texts = [module, ...ours].map(directoryOf).flatMap((directory) =>
    readdirSync(directory)
      .filter((name) => /\.(go|mod|sum)$/.test(name))
      .sort()
      .flatMap((name) => [name, readFileSync(join(directory, name))]),
  );
  return hashOf([process.platform, process.arch, main, linkerFlags(tool), ...texts]);
}

function linkerFlags({ ldflags }: GoTool): string {
  return ["-s -w", ldflags].filter(Boolean).join(" ");
}

function scriptPath({ path }: Script): string {
  return join(toolsBin, basename(path));
}

async function copyScript(tool: GoTool, script: Script): Promise<void> {
  const arguments_ = ["list", "-mod=readonly", "-m", "-f", "{{.Dir}}", script.module];
  const options = { cwd: directoryOf(tool.module), env: goEnvironment() };
  const directory = (await captured("go", arguments_, options)).trim();
  writeWhole(scriptPath(script), readFileSync(join(directory, script.path)), 0o755);
}

async function build(tool: GoTool, path: string): Promise<void> {
  await checkGo(tool);
  // Go writes to a name of this run's own, so that a build cut short leaves nothing usable behind.
  const scratch = join(toolsDir, "scratch", keyOf(tool));
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  const output = join(scratch, `${process.pid}${exe}`);

  // Trimmed paths let the compiler's results be shared by all who have the same modules.
  const arguments_ = ["build", "-mod=readonly", "-buildvcs=false", "-trimpath", "-v", "-o", output];
  arguments_.push("-ldflags", linkerFlags(tool), tool.package);

  let modules = 0;
  let packages = 0;
  const other: string[] = [];
  say(`Building ${tool.title} (about ${tool.expected}, once) …`);
  const start = performance.now();
  const seconds = () => `${Math.round((performance.now() - start) / 1000)} s`;
  // It is seen to go on.
  const timer = setInterval(() => {
    say(`  ${seconds()}  ${modules} modules downloaded, ${packages} packages compiled`);
  }, 15_000);
  try {
    const code = await runCommand("go", arguments_, {
      cwd: directoryOf(tool.module),
      env: goEnvironment(),
      onLine(line) {
        if (line.startsWith("go: downloading ")) modules++;
        else if (/^[\w.~/-]+$/.test(line)) packages++;
        else other.push(line);
      },
    });
    if (code !== 0) throw new ToolError(explain(tool, other.slice(-20).join("\n")));
    say(`  done in ${seconds()}`);
  } finally {
    clearInterval(timer);
  }
  mkdirSync(dirname(path), { recursive: true });
  renameSync(output, path);
  rmSync(scratch, { recursive: true, force: true });
}

/** The person's own Go settings hold, but for those that would build something else. */
export function goEnvironment(): NodeJS.ProcessEnv {
  const environment = { ...process.env };
  delete environment["GOOS"];
  delete environment["GOARCH"];
  // No C compiler is needed, and no go.work of a directory above has a say.
  return { ...environment, CGO_ENABLED: "0", GOWORK: "off" };
}

async function checkGo(tool: GoTool): Promise<void> {
  const needed = goVersion(tool.module);
  let output: string;
  try {
    // In the module's directory, where a Go that can fetch a newer one of itself does so.
    const { stdout } = await promisify(execFile)("go", ["version"], {
      cwd: directoryOf(tool.module),
      env: goEnvironment(),
    });
    output = stdout;
  } catch (error) {
    const said = fieldOf(error, "stderr");
    const detail = typeof said === "string" ? said.trim() : "";
    const why = isMissing(error) ? `Go is not installed.` : `Go does not run here:\n${detail}`;
    throw new ToolError(waysOut(tool, why, needed));
  }
  const found = /go(\d+(?:\.\d+)*)/.exec(output)?.[1];
  if (found !== undefined && isOlder(found, needed)) {
    throw new ToolError(waysOut(tool, `The Go on PATH is ${found}, which is too old.`, needed));
  }
}

const networkTrouble =
  /dial tcp|no such host|i\/o timeout|connection re(fused|set)|network is unreachable|TLS handshake|proxyconnect|x509:|module lookup disabled|\b(403|404|407|5\d\d) [A-Z]/;

function explain(tool: GoTool, goSaid: string): string {
  if (networkTrouble.test(goSaid)) {
    const why = "Go could not download the modules it is made of. It said:";
    return `${waysOut(tool, `${why}\n${goSaid}`)}
  - make Go's module proxy reachable (GOPROXY, HTTPS_PROXY), or bring a filled GOMODCACHE`;
  }
  if (/no space left on device/.test(goSaid)) {
    return waysOut(tool, "The disk is full: about 4 GB are needed for Go's caches.");
  }
  if (/signal: killed/.test(goSaid)) {
    return waysOut(tool, "A compiler was killed, as happens when memory runs out.");
  }
  return waysOut(tool, `Go said:\n${goSaid}`);
}

function waysOut(tool: GoTool, why: string, goVersion?: string): string {
  const lines = [`Cannot build ${tool.title}. ${why}`, "Ways out:"];
  if (tool.otherWay !== undefined) lines.push(`  - ${tool.otherWay}`);
  if (goVersion !== undefined) {
    lines.push(`  - install Go ${goVersion} or later (https://go.dev/dl/), then run this again`);
  }
  return lines.join("\n");
}
