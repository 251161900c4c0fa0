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
import { delimiter, join } from "node:path";
import metadata from "../../../metadata.json";
import { ensurePacked } from "../../../tools/sdk/pack";
import { blocksOf } from "../../../tools/docs/markdown";
import { readPage } from "../../../tools/docs/pages";
import { captured } from "../../../tools/support/command";
import { withLock } from "../../../tools/support/products";
import { root } from "../../../tools/support/paths";

/** A language whose programs the tests run. */
export interface Guest {
  /** The example's directory in examples/. */
  example: string;
  /** Commands that must be on PATH. */
  needs: readonly string[];
  /** Returns the environment variables that the project needs on a machine with nothing of this repository. */
  env?(project: string): Promise<NodeJS.ProcessEnv>;
  /** Installs the SDK of a project from a local package, as if it came from the registry. Returns further variables. */
  installPublished?(project: string): Promise<NodeJS.ProcessEnv | void>;
}

/** Go's caches and proxy, which the home directory of a test lacks. */
async function goSettings(): Promise<NodeJS.ProcessEnv> {
  const settings = await captured("go", ["env", "-json", "GOCACHE", "GOMODCACHE", "GOPROXY"]);
  return {
    ...(JSON.parse(settings) as NodeJS.ProcessEnv),
    GOFLAGS: "-trimpath -modcacherw",
    GOWORK: "off",
    CGO_ENABLED: "0",
  };
}

/** The languages, by the headings of docs/install.md. */
export const guests = {
  TypeScript: {
    example: "instance",
    needs: ["npm"],
    async installPublished(cwd) {
      const file = `${metadata.sdk.nodejs.package}-${metadata.version}.tgz`;
      const package_ = join(await ensurePacked("nodejs"), file);
      await captured("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", package_], {
        cwd,
      });
    },
  },
  YAML: { example: "instance-yaml", needs: [] },
  Python: {
    example: "instance-python",
    needs: ["python3"],
    env: (project) =>
      Promise.resolve({
        PATH: [join(project, "venv", "bin"), process.env["COMPUTE_TEST_PATH"]].join(delimiter),
      }),
    async installPublished(cwd) {
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
    async installPublished(cwd) {
      const packages = await ensurePacked("go");
      const { GOMODCACHE, GOPROXY, ...env } = await goSettings();
      const published = {
        // The module cache of the user is only read, because it would keep this version forever.
        GOMODCACHE: join(packages, "modules"),
        GOPROXY: `file://${packages},file://${GOMODCACHE}/cache/download,${GOPROXY}`,
        GONOSUMDB: metadata.sdk.go.module,
      };
      const options = { cwd, env: { ...process.env, ...env, ...published } };
      // The dot adds to go.mod and go.sum what the program imports, as `go mod tidy` would.
      await captured("go", ["get", `${metadata.sdk.go.module}@v${metadata.version}`, "."], options);
      return published;
    },
  },
  Java: {
    example: "instance-java",
    needs: ["java", "mvn"],
    env: async () => ({ MAVEN_OPTS: `-Dmaven.repo.local=${await ensurePacked("java")}` }),
  },
} satisfies Readonly<Record<string, Guest>>;

const installPage = readPage("docs/install.md");

/** The first shell block under a heading of docs/install.md. */
export function installBlock(heading: string): string {
  const [, section = ""] = installPage.text.split(new RegExp(`^#+ ${heading}$`, "m"));
  const [block] = blocksOf({ name: `docs/install.md, ${heading}`, text: section });
  return (block?.text ?? "").replaceAll("~/pulumi-compute", root);
}

/** Why programs of this language can't run on this machine. Undefined if they can. */
export function hindrance({ needs }: Guest): string | undefined {
  const missing = needs.filter((command) => !isInstalled(command));
  return missing.length === 0 ? undefined : `${missing.join(" and ")} not found on this machine`;
}

/** Whether a command works. A launcher whose tool is not installed fails. */
function isInstalled(command: string): boolean {
  const argument = command === "go" ? "version" : "--version";
  try {
    execFileSync(command, [argument], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** An installed project, and the environment variables that its program needs. */
export interface Installed {
  project: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Returns a copy of an example with its dependencies, outside of the repository. It is made once per test run, and tests
 * only read it.
 */
export async function installed(language: Guest): Promise<Installed> {
  const folder = process.env["COMPUTE_TEST_INSTALLED"] ?? "";
  const project = join(folder, language.example);
  const done = `${project}.json`;
  await withLock(
    `installing ${language.example}`,
    () => undefined,
    async () => {
      if (existsSync(done)) return;
      mkdirSync(project);
      const env = (await language.env?.(project)) ?? {};
      const [heading = ""] = Object.entries(guests).find(([, guest]) => guest === language) ?? [];
      const options = { cwd: project, env: { ...process.env, ...env } };
      await captured("sh", ["-ec", installBlock(heading)], options);
      // The settings of a developer's own stacks are not part of the example.
      for (const file of globSync("Pulumi.*.yaml", { cwd: project })) rmSync(join(project, file));
      writeFileSync(done, JSON.stringify(env));
    },
  );
  return { project, env: JSON.parse(readFileSync(done, "utf8")) as NodeJS.ProcessEnv };
}

/** A copy of an installed project, for a test that writes into it. */
export class WorkingCopy implements Disposable {
  readonly project = mkdtempSync(join(tmpdir(), "compute-project-"));

  constructor({ project }: Installed) {
    cpSync(project, this.project, { recursive: true });
  }

  [Symbol.dispose](): void {
    rmSync(this.project, { recursive: true, force: true });
  }
}
