/** Installs an example of each language with the commands of docs/install.md, so that its program can run. */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import metadata from "../../../metadata.json";
import { installPlugin } from "../../../tools/build";
import { ensurePacked } from "../../../tools/sdk/pack";
import { blocksOf } from "../../../tools/docs/markdown";
import { readPage } from "../../../tools/docs/pages";
import { captured } from "../../../tools/support/command";
import { temporaryFolder } from "../../../tools/support/files";
import { npmOptions } from "../../../tools/support/npm";
import { ownPulumi } from "../../../tools/support/ownPulumi";
import { withLock } from "../../../tools/support/products";
import { root } from "../../../tools/support/paths";

/** A language whose programs the tests run. */
export interface Language {
  example: string;
  /** Of the commands in docs/install.md, if they are not those for most languages. */
  heading?: string;
  needs: readonly string[];
  /** Returns the environment variables that the project needs on a machine with nothing of this repository. */
  env?(): Promise<NodeJS.ProcessEnv>;
  /** Installs the SDK of a project from its local package, as if from the registry. Returns further variables. */
  installPackedSdk?(project: string): Promise<NodeJS.ProcessEnv | void>;
}

/** The settings of Go, with its caches and proxy, because the home directory of a test has none. */
async function goSettings(): Promise<NodeJS.ProcessEnv> {
  const settings = await captured("go", ["env", "-json", "GOCACHE", "GOMODCACHE", "GOPROXY"]);
  return {
    ...(JSON.parse(settings) as NodeJS.ProcessEnv),
    GOFLAGS: "-trimpath -modcacherw",
    GOWORK: "off",
    CGO_ENABLED: "0",
  };
}

export const languages = {
  TypeScript: {
    example: "instance",
    needs: ["npm"],
    async installPackedSdk(cwd) {
      const file = `${metadata.sdk.nodejs.package}-${metadata.version}.tgz`;
      const package_ = join(await ensurePacked("nodejs"), file);
      await captured("npm", ["install", ...npmOptions, "--prefer-offline", package_], { cwd });
    },
  },
  YAML: { example: "instance-yaml", needs: [] },
  HCL: { example: "instance-hcl", needs: ["pulumi-language-hcl"] },
  Python: {
    example: "instance-python",
    needs: ["python3"],
    async installPackedSdk(cwd) {
      const packages = await ensurePacked("python");
      const bin = join(cwd, "venv", "bin");
      await captured("python3", ["-m", "venv", "venv"], { cwd });
      const pip = [join(bin, "pip"), "install", "--quiet", `--find-links=${packages}`];
      await captured(join(bin, "python"), [...pip, "--requirement=requirements.txt"], { cwd });
    },
  },
  Go: {
    example: "instance-go",
    needs: ["go"],
    env: goSettings,
    async installPackedSdk(cwd) {
      const packages = await ensurePacked("go");
      const { GOMODCACHE, GOPROXY, ...env } = await goSettings();
      const [own, user] = [packages, GOMODCACHE ?? ""].map((folder) => pathToFileURL(folder).href);
      const published = {
        // The user's module cache is only read. If it were written, it would keep this unpublished version forever.
        GOMODCACHE: join(packages, "modules"),
        GOPROXY: `${own},${user}/cache/download,${GOPROXY}`,
        GONOSUMDB: metadata.sdk.go.module,
      };
      const options = { cwd, env: { ...process.env, ...env, ...published } };
      // With the dot, go.mod and go.sum get everything that the program imports, as with `go mod tidy`.
      await captured("go", ["get", `${metadata.sdk.go.module}@v${metadata.version}`, "."], options);
      return published;
    },
  },
  Java: {
    example: "instance-java",
    heading: "Java",
    needs: ["java", "mvn"],
    env: async () => ({ MAVEN_OPTS: `-Dmaven.repo.local=${await ensurePacked("java")}` }),
  },
} satisfies Readonly<Record<string, Language>>;

/** A TypeScript project with the npm package, which has more than the SDK. */
export const npmPackage: Language = {
  example: "instance",
  heading: "The npm package",
  needs: ["npm"],
};

const installPage = readPage("docs/install.md");

/** Returns the first shell block under a heading of docs/install.md. */
export function installBlock(heading: string): string {
  const [, section = ""] = installPage.text.split(new RegExp(`^#+ ${heading}$`, "m"));
  const [block] = blocksOf({ name: `docs/install.md, ${heading}`, text: section });
  return (block?.text ?? "").replaceAll("~/pulumi-compute", root);
}

/** Says which tools are missing to run programs of this language. Undefined if none is. */
export function missingTools({ needs }: Language): string | undefined {
  const missing = needs.filter((command) => !isInstalled(command));
  return missing.length === 0 ? undefined : `${missing.join(" and ")} not found on this machine`;
}

/** Whether a command works. Being on PATH is not enough: a launcher whose tool is not installed fails. */
function isInstalled(command: string): boolean {
  const argument = command === "go" ? "version" : "--version";
  try {
    execFileSync(command, [argument], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Returns the variables of a machine with the plugin, whose Pulumi home is in `folder`. */
export function withPlugin(folder: string): NodeJS.ProcessEnv {
  const variables = ownPulumi(folder);
  installPlugin(variables["PULUMI_HOME"] ?? "");
  return { ...variables, PATH: process.env["COMPUTE_TEST_PATH"] };
}

export interface Installed {
  project: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Installs an example outside of the repository, once per test run, on a machine with the plugin. Tests only read it, or
 * make a `WorkingCopy`.
 */
export async function installed({ example, heading, ...language }: Language): Promise<Installed> {
  const name = [example, heading ?? "SDK"].join("-").replaceAll(" ", "-");
  const project = join(process.env["COMPUTE_TEST_INSTALLED"] ?? "", name);
  const done = `${project}.json`;
  await withLock(`installing ${name}`, undefined, async () => {
    if (existsSync(done)) return;
    mkdirSync(project);
    const env = (await language.env?.()) ?? {};
    using pulumi = temporaryFolder();
    const own = withPlugin(pulumi.path);
    const options = { cwd: project, env: { ...process.env, ...own, ...env } };
    const block = installBlock(heading ?? "2. The program and the SDK");
    await captured("sh", ["-ec", block.replace("/instance/", `/${example}/`)], options);
    // The settings of a developer's own stacks are not part of the example.
    for (const file of globSync("Pulumi.*.yaml", { cwd: project })) rmSync(join(project, file));
    writeFileSync(done, JSON.stringify(env));
  });
  return { project, env: JSON.parse(readFileSync(done, "utf8")) as NodeJS.ProcessEnv };
}

/** A copy of an installed project, or an empty folder, for a test that writes into it. */
export class WorkingCopy implements Disposable {
  readonly project = mkdtempSync(join(tmpdir(), "compute-project-"));

  constructor(installed?: Installed) {
    if (installed) cpSync(installed.project, this.project, { recursive: true });
  }

  [Symbol.dispose](): void {
    rmSync(this.project, { recursive: true, force: true });
  }
}
