/** Installs an example of each language as a user does, so that its program can run. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import metadata from "../../../metadata.json";
import { ensurePacked } from "../../../tools/sdk/pack";
import { captured } from "../../../tools/support/command";
import { withLock } from "../../../tools/support/products";
import { root } from "../../../tools/support/paths";

/** A language whose programs the tests run. */
export interface Guest {
  /** The example's directory in examples/. */
  example: string;
  /** Commands that must be on PATH. */
  needs: readonly string[];
  /** Installs the dependencies of the project. Returns the environment variables that its programs need. */
  install(project: string): Promise<NodeJS.ProcessEnv>;
}

/** The languages. Each installs the SDK from a local package, as if it came from the registry. */
export const guests = {
  TypeScript: {
    example: "instance",
    needs: ["npm"],
    async install(cwd) {
      const file = `${metadata.sdk.nodejs.package}-${metadata.version}.tgz`;
      const package_ = join(await ensurePacked("nodejs"), file);
      await captured("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", package_], {
        cwd,
      });
      return {};
    },
  },
  YAML: { example: "instance-yaml", needs: [], install: () => Promise.resolve({}) },
  Python: {
    example: "instance-python",
    needs: ["python3"],
    async install(cwd) {
      const packages = await ensurePacked("python");
      const bin = join(cwd, "venv", "bin");
      await captured("python3", ["-m", "venv", "venv"], { cwd });
      const pip = [join(bin, "pip"), "install", "--quiet", `--find-links=${packages}`];
      await captured(join(bin, "python"), [...pip, "--requirement=requirements.txt"], { cwd });
      return { PATH: [bin, process.env["COMPUTE_TEST_PATH"]].join(delimiter) };
    },
  },
  Go: {
    example: "instance-go",
    needs: ["go"],
    async install(cwd) {
      const packages = await ensurePacked("go");
      const settings = await captured("go", ["env", "-json", "GOCACHE", "GOMODCACHE", "GOPROXY"]);
      const { GOCACHE, GOMODCACHE, GOPROXY } = JSON.parse(settings) as Record<string, string>;
      const env = {
        GOCACHE,
        // The module cache of the user is only read, because it would keep this version forever.
        GOMODCACHE: join(packages, "modules"),
        GOPROXY: `file://${packages},file://${GOMODCACHE}/cache/download,${GOPROXY}`,
        GONOSUMDB: metadata.sdk.go.module,
        GOFLAGS: "-trimpath -modcacherw",
        GOWORK: "off",
        CGO_ENABLED: "0",
      };
      const options = { cwd, env: { ...process.env, ...env } };
      // The dot adds to go.mod and go.sum what the program imports, as `go mod tidy` would.
      await captured("go", ["get", `${metadata.sdk.go.module}@v${metadata.version}`, "."], options);
      // The first time this compiles all of Pulumi's SDK.
      await captured("go", ["build", "-o", join(cwd, "target", "program")], options);
      return env;
    },
  },
  Java: {
    example: "instance-java",
    needs: ["java", "mvn"],
    async install(cwd) {
      const env = { MAVEN_OPTS: `-Dmaven.repo.local=${await ensurePacked("java")}` };
      await captured("mvn", ["--batch-mode", "--quiet", "compile"], {
        cwd,
        env: { ...process.env, ...env },
      });
      return env;
    },
  },
} satisfies Readonly<Record<string, Guest>>;

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

/** Returns a copy of an example with its dependencies. It is made once per test run, and tests only read it. */
export async function installed(language: Guest): Promise<Installed> {
  const folder = process.env["COMPUTE_TEST_INSTALLED"] ?? "";
  const project = join(folder, language.example);
  const done = `${project}.json`;
  await withLock(
    `installing ${language.example}`,
    () => undefined,
    async () => {
      if (existsSync(done)) return;
      const committed = (file: string) =>
        !/(node_modules|venv|target|\/Pulumi\.[^/]+\.yaml)$/.test(file);
      cpSync(join(root, "examples", language.example), project, {
        recursive: true,
        filter: committed,
      });
      writeFileSync(done, JSON.stringify(await language.install(project)));
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
