/**
 * A Pulumi stack of its own for one test: the real engine, a file backend, a private Pulumi home.
 * Everything a command prints, and everything the stack leaves on disk, is searched for secrets.
 */
import { spawn, type ChildProcess } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { root } from "../../../tools/support/paths";
import { Running, type Outcome } from "./running";
import { canaries, refuseSecrets, refuseSecretsOnDisk } from "./secrets";

export const tokens = {
  live: `sk_live_default_${canaries.token}`,
  test: `sk_test_default_${canaries.token}`,
} as const;

export interface StackOptions {
  /** The Pulumi.yaml, without name and plugins; or the absolute path of a project to copy. */
  program: string;
  baseUrl?: string | undefined;
  /** A test token if left out; null for none. */
  token?: string | null;
  /** `compute:…` settings, without the prefix. */
  config?: Readonly<Record<string, string>>;
  env?: NodeJS.ProcessEnv;
}

export interface StateResource {
  urn: string;
  type: string;
  id?: string;
  inputs?: Record<string, unknown>;
  outputs?: Record<string, unknown>;
  initErrors?: string[];
  delete?: boolean;
}

export class Stack implements AsyncDisposable {
  readonly folder: string;
  readonly home: string;
  readonly project: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #running = new Set<ChildProcess>();

  private constructor(options: StackOptions) {
    this.folder = mkdtempSync(join(tmpdir(), "compute-stack-"));
    this.home = join(this.folder, "home");
    this.project = join(this.folder, "project");
    for (const folder of ["home", "project", "state"]) mkdirSync(join(this.folder, folder));
    this.#env = {
      PATH: process.env["COMPUTE_TEST_PATH"],
      HOME: this.folder,
      PULUMI_HOME: this.home,
      PULUMI_BACKEND_URL: `file://${join(this.folder, "state")}`,
      PULUMI_CONFIG_PASSPHRASE: "test",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      COMPUTE_API_TOKEN: options.token === null ? undefined : (options.token ?? tokens.test),
      ...options.env,
    };
    if (options.program.startsWith("/")) this.#copy(options.program);
    else this.program(options.program);
  }

  static async create(options: StackOptions): Promise<Stack> {
    const stack = new Stack(options);
    await stack.succeed("stack", "init", "dev");
    const { baseUrl, config } = options;
    await stack.configure({ ...(baseUrl === undefined ? {} : { baseUrl }), ...config });
    return stack;
  }

  /** Another program from now on. */
  program(text: string, runtime = "yaml"): void {
    const plugins = `plugins:\n  providers:\n    - name: compute\n      path: ${join(root, "bin")}\n`;
    const head = `name: proj\nruntime: ${runtime}\n${plugins}`;
    writeFileSync(join(this.project, "Pulumi.yaml"), head + text);
  }

  /** The same, in JavaScript: no types keep a mistake from the provider. */
  javascript(text: string): void {
    this.program("", "nodejs");
    writeFileSync(join(this.project, "package.json"), '{"main": "index.js"}');
    writeFileSync(join(this.project, "index.js"), text);
    this.#linkModules();
  }

  #linkModules(): void {
    symlinkSync(join(root, "node_modules"), join(this.project, "node_modules"));
  }

  #copy(project: string): void {
    const copied = (file: string) => !/^(node_modules|Pulumi\..+\.yaml)$/.test(basename(file));
    cpSync(project, this.project, { recursive: true, filter: copied });
    this.#linkModules();
    const file = join(this.project, "Pulumi.yaml");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace("path: ../../bin", `path: ${join(root, "bin")}`));
  }

  async configure(settings: Readonly<Record<string, string>>): Promise<void> {
    if (Object.keys(settings).length === 0) return;
    const pairs = Object.entries(settings).flatMap(([name, value]) => [
      "--plaintext",
      `compute:${name}=${value}`,
    ]);
    await this.succeed("config", "set-all", ...pairs);
  }

  /** Another environment variable from now on. */
  setEnv(name: string, value: string | undefined): void {
    this.#env[name] = value;
  }

  up = (...args: string[]) => this.run("up", "--yes", "--skip-preview", ...args);
  preview = (...args: string[]) => this.run("preview", ...args);
  refresh = (...args: string[]) => this.run("refresh", "--yes", "--skip-preview", ...args);
  destroy = (...args: string[]) => this.run("destroy", "--yes", "--skip-preview", ...args);

  /** Runs a command that is expected to succeed. */
  async succeed(...args: string[]): Promise<string> {
    const { code, output } = await this.run(...args);
    if (code !== 0) throw new Error(`pulumi ${args.join(" ")} ended with ${code}:\n${output}`);
    return output;
  }

  run(...args: string[]): Promise<Outcome> {
    return this.start(...args).ended;
  }

  /** A command that the test means to interrupt. */
  start(...args: string[]): Running {
    const child = spawn(
      process.env["COMPUTE_TEST_PULUMI"] ?? "pulumi",
      [...args, "--non-interactive", "--color=never"],
      { cwd: this.project, env: this.#env, stdio: ["ignore", "pipe", "pipe"] },
    );
    this.#running.add(child);
    const running = new Running(child, (output) => {
      this.#running.delete(child);
      refuseSecrets(`pulumi ${args.join(" ")}`, output);
    });
    return running;
  }

  async resources(): Promise<StateResource[]> {
    const exported = await this.succeed("stack", "export", "--show-secrets=false");
    // Each export encrypts anew.
    const text = exported.replaceAll(/"ciphertext": *"[^"]*"/g, '"ciphertext": "…"');
    const state = JSON.parse(text) as { deployment: { resources?: StateResource[] } };
    return state.deployment.resources ?? [];
  }

  async instances(): Promise<StateResource[]> {
    return (await this.resources()).filter(({ type }) => type === "compute:index:Instance");
  }

  async instance(): Promise<StateResource> {
    const [only, ...others] = await this.instances();
    if (!only || others.length > 0) throw new Error("the state does not hold exactly one instance");
    return only;
  }

  async outputs(): Promise<Record<string, unknown>> {
    return JSON.parse(await this.succeed("stack", "output", "--json")) as Record<string, unknown>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#running) child.kill("SIGKILL");
    try {
      refuseSecretsOnDisk(this.folder);
    } finally {
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
    }
  }
}
