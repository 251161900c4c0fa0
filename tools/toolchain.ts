/**
 * `npm run toolchain`: the Pulumi CLI and what belongs to it, found on PATH or built from Go modules.
 * Everything built is stamped with what it was made from: a second run does nothing.
 */
import { execFile } from "node:child_process";
import { existsSync, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { readIfThere, writeWhole } from "./support/files";
import { isOlder, oldestEngine } from "../provider/versions";
import { ensureGoTool, requiredVersion, type GoTool } from "./support/go";
import { runTool, say } from "./support/main";
import { exe, nodeBin, root, toolsBin, toolsDir } from "./support/paths";

const installPulumi =
  "install the Pulumi CLI (https://www.pulumi.com/docs/install/) so that `pulumi` is on PATH";

const engineModule = "github.com/pulumi/pulumi/pkg/v3";
const builtVersion = requiredVersion("engine", engineModule);

const engine: GoTool = {
  name: "pulumi",
  title: `the Pulumi CLI ${builtVersion}`,
  module: "engine",
  package: `${engineModule}/cmd/pulumi`,
  ldflags: `-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=${builtVersion}`,
  expected: "about 4 minutes on 2 cores, once",
  otherWay: installPulumi,
};

const sdkModule = "github.com/pulumi/pulumi/sdk/v3";

/** The hosts that run programs of a language. One more host is one more line. */
const hosts = {
  nodejs: host("nodejs", "hosts", `${sdkModule}/nodejs/cmd`, "20 seconds"),
  python: {
    ...host("python", "hosts", `${sdkModule}/python/cmd`, "5 seconds"),
    script: { module: sdkModule, path: "python/cmd/pulumi-language-python-exec" },
  },
  go: host("go", "hosts", `${sdkModule}/go`, "5 seconds"),
  java: host("java", "sdkgen-more", "github.com/pulumi/pulumi-java/pkg/cmd", "1 minute"),
  yaml: host("yaml", "yaml", "github.com/pulumi/pulumi-yaml/cmd", "1 minute"),
} satisfies Record<string, GoTool>;

export type Language = keyof typeof hosts;

const sdkgens = {
  sdkgen: sdkgen("sdkgen", "the SDK generator for Node.js, Python and Go"),
  "sdkgen-more": sdkgen("sdkgen-more", "the SDK generator for Java and .NET"),
};

function sdkgen(module: string, title: string): GoTool {
  const name = `compute-${module}`;
  const expected = "about 1 minute, once";
  return { name, title, module, package: ".", ldflags: "-s -w", expected };
}

/** The API docs of Pulumi's Registry; the tests look for broken links in them. */
const docsgen = sdkgen("docsgen", "the generator of API docs");

/** What `npm run bench` measures against; nothing else needs it. */
const peers = {
  go: {
    name: "compute-peer",
    title: "a minimal provider on the Go SDK",
    module: "peer",
    package: ".",
    ldflags: "-s -w",
    expected: "about 1 minute, once",
  },
  restapi: {
    name: "terraform-provider-restapi",
    title: "Terraform's generic REST provider",
    module: "restapi",
    package: "github.com/Mastercard/terraform-provider-restapi",
    ldflags: "-s -w",
    expected: "about 40 seconds, once",
  },
} satisfies Record<string, GoTool>;

function host(language: string, module: string, parent: string, time: string): GoTool {
  const name = `pulumi-language-${language}`;
  return {
    name,
    title: `the Pulumi language host for ${language}`,
    module,
    package: `${parent}/${name}`,
    ldflags: "-s -w",
    expected: `about ${time}, once`,
    otherWay: `${installPulumi}, with its language hosts beside it`,
  };
}

/** Makes of a directory what a Go proxy has of a module. */
const goModule: GoTool = {
  name: "compute-gomodule",
  title: "the packer of Go modules",
  module: "gomodule",
  package: ".",
  expected: "a few seconds, once",
};

/** Signs executables for macOS, on any machine. Only `npm run dist` needs it. */
const signer: GoTool = {
  name: "quill",
  title: "the signer of executables for macOS",
  module: "quill",
  package: "github.com/anchore/quill/cmd/quill",
  ldflags: "-s -w",
  expected: "about 1 minute, once",
};

/** Checks the workflows in .github/. */
const actionlint: GoTool = {
  name: "actionlint",
  title: "actionlint",
  module: "actionlint",
  package: "github.com/rhysd/actionlint/cmd/actionlint",
  ldflags: "-s -w",
  expected: "about 20 seconds, once",
};

/** A real S3-compatible server. Only the tests of state backends need it. */
const s3Server: GoTool = {
  name: "versitygw",
  title: "an S3-compatible server",
  module: "versitygw",
  package: "github.com/versity/versitygw/cmd/versitygw",
  ldflags: "-s -w",
  expected: "about 80 seconds on 2 cores, once",
};

export interface ToolchainOptions {
  /** The languages of the programs to be run; all if left out. */
  languages?: readonly Language[];
  /** Gets the one line that says which Pulumi CLI is used. */
  say?: (line: string) => void;
}

export interface Toolchain {
  /** The absolute path of the Pulumi CLI, and its version: "3.258.0". */
  pulumi: string;
  version: string;
  /** Node, the Pulumi CLI and its language hosts, in the order they must have on PATH. */
  binDirs: readonly string[];
  /** The environment of this process with that PATH, and with `extra`. */
  env(extra?: NodeJS.ProcessEnv): NodeJS.ProcessEnv;
}

export async function ensureToolchain(options: ToolchainOptions = {}): Promise<Toolchain> {
  const report = options.say ?? say;
  const languages = options.languages ?? (Object.keys(hosts) as Language[]);

  const found = await findPulumi(report);
  const pulumi = found?.path ?? (await ensureGoTool(engine));
  const version = found?.version ?? builtVersion.slice(1);
  report(`Pulumi CLI ${version}: ${describe(pulumi)}`);

  for (const language of languages) {
    const tool = hosts[language];
    // A Pulumi that was built here has the hosts that were built here, and no other.
    if (found === undefined || !isInstalled(tool.name, found.path)) await ensureGoTool(tool);
  }
  // A host built here is for want of one beside the Pulumi found: it must not stand before that.
  const binDirs = found ? [nodeBin, dirname(found.path), toolsBin] : [nodeBin, toolsBin];
  return { pulumi, version, binDirs, env: (extra) => environment(binDirs, extra) };
}

/** The path of a program that writes SDKs; the first one checks schema.json, too. */
export async function ensureSdkgen(which: keyof typeof sdkgens = "sdkgen"): Promise<string> {
  return ensureGoTool(sdkgens[which]);
}

export async function ensureDocsgen(): Promise<string> {
  return ensureGoTool(docsgen);
}

/** The path of a peer of the benchmarks. */
export async function ensurePeer(name: keyof typeof peers): Promise<string> {
  return ensureGoTool(peers[name]);
}

export async function ensureGoModuleTool(): Promise<string> {
  return ensureGoTool(goModule);
}

export async function ensureSigner(): Promise<string> {
  return ensureGoTool(signer);
}

export async function ensureActionlint(): Promise<string> {
  return ensureGoTool(actionlint);
}

export async function ensureS3Server(): Promise<string> {
  return ensureGoTool(s3Server);
}

interface FoundPulumi {
  path: string;
  version: string;
}

/** The first usable Pulumi CLI on PATH that is not one of ours. */
async function findPulumi(report: (line: string) => void): Promise<FoundPulumi | undefined> {
  const path = onPath("pulumi");
  if (path === undefined) return undefined;
  const version = await versionOf(path);
  if (version === undefined) {
    report(`${path} does not answer \`pulumi version\`, so it is not used.`);
    return undefined;
  }
  if (isOlder(version, oldestEngine)) {
    report(`${path} is ${version}, older than ${oldestEngine}, so it is not used.`);
    return undefined;
  }
  return { path, version };
}

/** Asks the executable, once: starting it takes long enough to be worth remembering. */
async function versionOf(path: string): Promise<string | undefined> {
  const { size, mtimeMs } = statSync(path);
  const memory = join(toolsDir, "stamps", "pulumi-on-path");
  const key = `${path} ${size} ${mtimeMs} `;
  const remembered = readIfThere(memory);
  if (remembered?.startsWith(key)) return remembered.slice(key.length);
  try {
    const { stdout } = await promisify(execFile)(path, ["version"], {
      env: { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true" },
      shell: path.endsWith(".cmd"),
      timeout: 30_000,
    });
    const version = /\d+\.\d+\.\d+/.exec(stdout)?.[0];
    // A version manager's shim is a small file that may start another version tomorrow.
    if (version !== undefined && size > 1_000_000) writeWhole(memory, key + version);
    return version;
  } catch {
    return undefined;
  }
}

function isInstalled(name: string, pulumi: string): boolean {
  const beside = [pulumi, realpathSync(pulumi)].map((path) => join(dirname(path), name + exe));
  return beside.some((path) => existsSync(path)) || onPath(name) !== undefined;
}

/** The absolute path of a command on PATH; ours don't count. */
export function onPath(name: string): string | undefined {
  const endings = process.platform === "win32" ? [".exe", ".cmd"] : [""];
  return (
    pathOf(process.env)
      .split(delimiter)
      .filter((directory) => directory !== "" && resolve(directory) !== toolsBin)
      .flatMap((directory) => endings.map((ending) => resolve(directory, name + ending)))
      // A folder that may not be read has nothing for us.
      .find((path) => existsSync(path) && statSync(path).isFile())
  );
}

function environment(binDirs: readonly string[], extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const result = { ...process.env, ...extra };
  // Windows calls it Path, and two spellings of it would be two variables.
  const path = [...binDirs, pathOf(result)].join(delimiter);
  for (const name of Object.keys(result)) if (isPath(name)) delete result[name];
  return { ...result, PATH: path };
}

function pathOf(environment: NodeJS.ProcessEnv): string {
  const name = Object.keys(environment).find(isPath);
  return (name !== undefined && environment[name]) || "";
}

function isPath(name: string): boolean {
  return process.platform === "win32" ? name.toUpperCase() === "PATH" : name === "PATH";
}

function describe(path: string): string {
  const fromRoot = relative(root, path);
  return fromRoot.startsWith("..") ? `${path}, from PATH` : fromRoot;
}

async function main(): Promise<void> {
  const { binDirs } = await ensureToolchain();
  for (const tool of Object.values(sdkgens)) await ensureGoTool(tool);
  say(`Ready. For a shell of your own: export PATH="${binDirs.join(delimiter)}${delimiter}$PATH"`);
}

if (require.main === module) runTool({}, main);
