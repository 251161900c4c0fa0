/**
 * Where pipelines run: a bare git repository, which holds examples/environments and the files of
 * examples/pipelines as a team would have them, the states, and what is kept from job to job.
 */
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { startEmulator, type Emulator, type EmulatorOptions } from "../../../../emulator";
import { writeWhole } from "../../../../tools/support/files";
import { root } from "../../../../tools/support/paths";
import { refuseSecrets, refuseSecretsOnDisk } from "../secrets";
import { tokens, withPlugins } from "../stack";
import { git, Machine } from "./machine";

const examples = join(root, "examples");

/** What a person would put into the settings of one environment of the forge. */
export interface Environment {
  secrets: Record<string, string>;
  vars: Record<string, string>;
}

export type EnvironmentName = "review" | "dev" | "staging" | "prod-preview" | "prod";

export class Forge implements AsyncDisposable {
  /** Their tokens are those that the README of the pipelines asks for. */
  readonly environments: Record<EnvironmentName, Environment>;
  /** The bare repository. */
  readonly repository: string;
  /** What actions/cache keeps. */
  readonly caches: string;
  readonly #work: string;
  readonly #machines = new Set<Machine>();

  private constructor(
    readonly service: Emulator,
    private readonly folder: string,
  ) {
    this.repository = join(folder, "repository.git");
    this.caches = join(folder, "caches");
    this.#work = join(folder, "work");
    const state = join(folder, "state");
    for (const directory of [state, this.caches, this.#work]) mkdirSync(directory);
    const vars = { COMPUTE_BASE_URL: service.url, PULUMI_BACKEND_URL: `file://${state}` };
    const environment = (token: string): Environment => ({
      secrets: { COMPUTE_API_TOKEN: token, PULUMI_CONFIG_PASSPHRASE: "test" },
      vars: { ...vars },
    });
    this.environments = {
      review: environment(tokens.test),
      dev: environment(tokens.test),
      staging: environment(tokens.live),
      "prod-preview": environment(tokens.live),
      prod: environment(tokens.live),
    };
  }

  /** The repository has its first commit; `stacks` are there, and nothing in them. */
  static async create(
    stacks: readonly EnvironmentName[],
    options: EmulatorOptions = {},
  ): Promise<Forge> {
    const service = await startEmulator({ provisioningSeconds: 0, ...options });
    const folder = mkdtempSync(join(tmpdir(), "compute-forge-"));
    const forge = new Forge(service, folder);
    try {
      await forge.#begin(stacks);
      return forge;
    } catch (error) {
      await forge[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #begin(stacks: readonly EnvironmentName[]): Promise<void> {
    await this.#git("init", "--quiet", "--initial-branch=main", ".");
    await this.#git("config", "user.name", "Somebody");
    await this.#git("config", "user.email", "somebody@example.com");
    const isOwn = (file: string) => basename(file) !== "node_modules";
    cpSync(join(examples, "environments"), this.#work, { recursive: true, filter: isOwn });
    cpSync(join(examples, "pipelines", "github"), join(this.#work, ".github"), { recursive: true });
    cpSync(join(examples, "pipelines", "gitlab"), this.#work, { recursive: true });
    for (const file of this.#files("**/Pulumi.yaml")) {
      // As with a released provider.
      this.edit(file, (text) => withPlugins(text, ""));
    }
    const settings = [
      "  compute:pollIntervalSeconds: 0.2",
      "  compute:settlingSeconds: 1",
      // A create that a test holds up is not given up before the test is ready.
      "  compute:requestTimeoutSeconds: 300",
    ];
    for (const file of this.#files("**/Pulumi.*.yaml")) {
      this.edit(file, (text) => text.replace("config:", ["config:", ...settings].join("\n")));
    }
    writeWhole(join(this.#work, ".gitignore"), "node_modules\n");
    await this.#firstSteps(stacks);
    await this.#git("init", "--quiet", "--bare", this.repository);
    await this.#git("remote", "add", "origin", this.repository);
    await this.push("main", "Begin");
  }

  /**
   * What a person does once for each stack. Its salt gets into its file, which is committed. The network
   * is brought up, since without it the servers have no preview.
   */
  async #firstSteps(stacks: readonly EnvironmentName[]): Promise<void> {
    for (const stack of stacks) {
      await this.type(
        stack,
        `pulumi stack init ${stack}`,
        `pulumi -C network stack init ${stack}`,
        "pulumi -C network up --yes --skip-preview",
      );
    }
  }

  /** What a person types in the work tree, at a desk that has what the environment's jobs have. */
  async type(environment: EnvironmentName, ...lines: string[]): Promise<void> {
    const { secrets, vars } = this.environments[environment];
    await using desk = this.machine({ ...secrets, ...vars });
    desk.placePlugin();
    const { code, output } = await desk.run([`cd '${this.#work}'`, ...lines].join("\n")).ended;
    if (code !== 0) throw new Error(output);
  }

  #files(pattern: string): string[] {
    return globSync(pattern, { cwd: this.#work });
  }

  /** A runner with nothing on it. */
  machine(env: NodeJS.ProcessEnv = {}): Machine {
    const machine = new Machine(mkdtempSync(join(this.folder, "machine-")), env);
    this.#machines.add(machine);
    return machine;
  }

  /** Changes a file of the work tree. */
  edit(file: string, change: (text: string) => string): void {
    const path = join(this.#work, file);
    writeWhole(path, change(readFileSync(path, "utf8")));
  }

  /** Commits the work tree on a branch, and gives the commit. */
  async push(branch: string, message: string): Promise<string> {
    await this.#git("checkout", "--quiet", "-B", branch);
    await this.#git("add", "--all");
    await this.#git("commit", "--quiet", "--message", message);
    await this.#git("push", "--quiet", "origin", branch);
    return this.commit();
  }

  /** The one that is checked out in the work tree. */
  async commit(): Promise<string> {
    return (await this.#git("rev-parse", "HEAD")).trim();
  }

  /** Merges a pull request. */
  async merge(branch: string): Promise<string> {
    await this.#git("checkout", "--quiet", "main");
    await this.#git("merge", "--quiet", "--no-ff", "--message", `Merge ${branch}`, branch);
    await this.#git("push", "--quiet", "origin", "main", `:${branch}`);
    return this.commit();
  }

  async #git(...args: string[]): Promise<string> {
    return git(this.#work, ...args);
  }

  /** What the state of a stack of servers holds. */
  async held(stack: string): Promise<{ id: string; name: string }[]> {
    const state = join(this.folder, "state", ".pulumi", "stacks", "environments-example");
    const text = readFileSync(join(state, `${stack}.json`), "utf8");
    const { checkpoint } = JSON.parse(text) as {
      checkpoint: {
        latest?: {
          resources?: { type: string; id?: string; outputs?: { name?: string } }[];
        };
      };
    };
    return (checkpoint.latest?.resources ?? [])
      .filter(({ type }) => type === "compute:index:Instance")
      .map(({ id = "", outputs }) => ({ id, name: outputs?.name ?? "" }));
  }

  /** Those of the service whose names begin so; all if left out. */
  names(prefix = ""): string[] {
    const names = this.service.control.instances().map(({ name }) => name);
    return names.filter((name) => name.startsWith(prefix));
  }

  posts(): number {
    return this.service.counts()["POST /v2/instances"] ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      for (const machine of this.#machines) await machine[Symbol.asyncDispose]();
      const requests = JSON.stringify(this.service.control.requests());
      refuseSecrets("the requests", requests, ["token", "userData"]);
      refuseSecretsOnDisk(this.folder);
    } finally {
      await this.service.close();
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
    }
  }
}
