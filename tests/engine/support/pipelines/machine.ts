/** A runner of a pipeline: a disk of its own, and a shell. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { devNull } from "node:os";
import { join } from "node:path";
import { executable } from "../../../../provider/executable";
import { captured } from "../../../../tools/support/command";
import { writeWhole } from "../../../../tools/support/files";
import { root } from "../../../../tools/support/paths";
import metadata from "../../../../metadata.json";
import { pathWithRandom } from "../random/plugin";
import { Running } from "../running";
import { refuseSecrets } from "../secrets";
import { compileCache, plugin } from "../stack";

/**
 * What would fetch what is not published yet, by how the line begins; done in another way here. What
 * installing for real is like: installing.test.ts.
 */
const unpublished: readonly (readonly [string, (machine: Machine) => void])[] = [
  ["npm ci", (machine) => machine.linkModules()],
  ["pulumi plugin install resource compute", (machine) => machine.placePlugin()],
];

let path: string | undefined;

/** Git as it is before anybody has set anything. */
export function git(cwd: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: "1" };
  return captured("git", args, { cwd, env });
}

export class Machine implements AsyncDisposable {
  /** Of the user. */
  readonly home: string;
  /** Of Pulumi. */
  pulumiHome: string;
  readonly workspace: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #running = new Set<Running>();
  #scripts = 0;

  constructor(
    private readonly folder: string,
    env: NodeJS.ProcessEnv = {},
  ) {
    this.home = join(folder, "home");
    this.pulumiHome = join(this.home, ".pulumi");
    this.workspace = join(folder, "workspace");
    for (const directory of [this.home, this.workspace]) mkdirSync(directory);
    this.#env = {
      PATH: (path ??= pathWithRandom()),
      HOME: this.home,
      // Its default hangs on the user, not on HOME.
      PULUMI_HOME: this.pulumiHome,
      CI: "true",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      // The example's own tests look at its types.
      PULUMI_NODEJS_TRANSPILE_ONLY: "true",
      ...compileCache,
      ...env,
    };
  }

  async checkOut(repository: string, commit: string): Promise<void> {
    const isCloned = existsSync(join(this.workspace, ".git"));
    if (!isCloned) await git(this.workspace, "clone", "--quiet", repository, ".");
    await git(this.workspace, "checkout", "--quiet", "--detach", commit);
  }

  /** A script in the workspace, by `bash` with these options, as the forges do it. */
  run(script: string, env: NodeJS.ProcessEnv = {}, options: readonly string[] = ["-e"]): Running {
    const file = join(this.folder, `${++this.#scripts}.sh`);
    writeWhole(file, `${script}\n`);
    const child = spawn("bash", [...options, file], {
      cwd: this.workspace,
      env: { ...this.#env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const running = new Running(child, (output) => {
      this.#running.delete(running);
      refuseSecrets(script, output);
    });
    this.#running.add(running);
    return running;
  }

  /** Does what a line is for that fetches what is not published; false for any other line. */
  standsIn(line: string): boolean {
    const other = unpublished.find(([start]) => line.startsWith(start));
    other?.[1](this);
    return other !== undefined;
  }

  linkModules(): void {
    const link = join(this.workspace, "node_modules");
    rmSync(link, { force: true });
    symlinkSync(join(root, "node_modules"), link);
  }

  /** Where `pulumi plugin install` puts it. */
  placePlugin(): void {
    const name = `resource-compute-v${metadata.version}`;
    const start = `#!/bin/sh\nexec '${plugin}' "$@"\n`;
    writeWhole(join(this.pulumiHome, "plugins", name, executable), start, 0o755);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child } of this.#running) child.kill("SIGKILL");
    this.#running.clear();
  }
}
