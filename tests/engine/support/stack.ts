/**
 * A Pulumi stack for one test, with the real engine, a file backend and a private Pulumi home. Everything that a
 * command prints, and everything that the stack leaves on disk, is searched for secrets.
 */
import { spawn, type ChildProcess } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { systemClock } from "../../../provider/clock";
import { executable } from "../../../provider/executable";
import { ledgerFolders } from "../../../provider/ledger/folder";
import { Ledger } from "../../../provider/ledger/ledger";
import type { LedgerRecord } from "../../../provider/ledger/record";
import { ownPulumi } from "../../../tools/support/ownPulumi";
import { root, toolsDir } from "../../../tools/support/paths";
import { encryptionSalt, passphrase } from "./engineLogs";
import { copyPreparedStack } from "./preparedStack";
import { Running, type Outcome } from "./running";
import { canaries, refuseSecrets, refuseSecretsOnDisk } from "./secrets";

/** API tokens that contain a canary. */
export const tokens = {
  live: `sk_live_default_${canaries.token}`,
  test: `sk_test_default_${canaries.token}`,
} as const;

/** What a test chooses for its stack. */
export interface StackOptions {
  /** The name of the project, if several projects share a backend. The default is `proj`. */
  project?: string;
  /** The Pulumi.yaml without name, runtime and plugins, or the absolute path of a project to copy. */
  program: string;
  baseUrl?: string | undefined;
  /** The API token. The default is a test token, and null means none. */
  token?: string | null;
  /**
   * Whether the project names the folder of the plugin. If false, the engine has to find the plugin. The default is
   * true.
   */
  namesPlugin?: boolean;
  /** The folder of another executable with the name of the plugin. The default is `bin`. */
  pluginFolder?: string;
  /** The `compute:…` settings by name, without the prefix. */
  config?: Readonly<Record<string, string>>;
  env?: NodeJS.ProcessEnv;
}

/** A resource in the state. */
export interface StateResource {
  urn: string;
  type: string;
  id?: string;
  inputs?: Record<string, unknown>;
  outputs?: Record<string, unknown>;
  initErrors?: string[];
  delete?: boolean;
}

/** The path of the plugin that was built. */
export const plugin = join(root, "bin", executable);

/**
 * Keeps the code that V8 compiles from the SDK and TypeScript, because every command starts a process that loads both.
 */
const compileCache = { NODE_COMPILE_CACHE: join(toolsDir, "scratch", "compile-cache") };

/**
 * Delays garbage collection in the engine until 512 MiB are in use, since it takes a tenth of the time of a command.
 */
const lateCollection = { GOGC: "off", GOMEMLIMIT: "512MiB" };

/** The part of a Pulumi.yaml that names the folder of a plugin. */
export function pluginsAt(path: string): string {
  return `plugins:\n  providers:\n    - name: compute\n      path: ${path}\n`;
}

/** Returns the content of the settings file of a stack. */
function settingsContent(settings: Readonly<Record<string, string>>): string {
  const config = Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [`compute:${name}`, value] as const),
  );
  // Every JSON value is valid YAML.
  return JSON.stringify({ encryptionsalt: encryptionSalt, config });
}

/** Whether project, home, backend and passphrase are the defaults, so that the prepared stack can be copied. */
function isOrdinary({ project, program, env = {} }: StackOptions): boolean {
  const others = ["PULUMI_HOME", "PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE"];
  return project === undefined && !program.startsWith("/") && !others.some((name) => name in env);
}

/** A stack, and the commands on it. */
export class Stack implements AsyncDisposable {
  readonly folder: string;
  readonly home: string;
  readonly project: string;
  readonly backend: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #plugins: string;
  readonly #running = new Set<ChildProcess>();
  readonly #name: string;
  /** The command that starts `pulumi`. Empty if `pulumi` is started directly. */
  #through: readonly string[] = [];

  private constructor(options: StackOptions) {
    this.#name = options.project ?? "proj";
    this.folder = mkdtempSync(join(tmpdir(), "compute-stack-"));
    this.home = join(this.folder, "home");
    this.project = join(this.folder, "project");
    this.backend = `file://${join(this.folder, "state")}`;
    mkdirSync(this.project);
    this.#env = {
      PATH: process.env["COMPUTE_TEST_PATH"],
      HOME: this.folder,
      ...ownPulumi(this.folder),
      PULUMI_CONFIG_PASSPHRASE: passphrase,
      PULUMI_ACCESS_TOKEN: canaries.accessToken,
      ...compileCache,
      ...lateCollection,
      COMPUTE_API_TOKEN: options.token === null ? undefined : (options.token ?? tokens.test),
      ...options.env,
    };
    const folder = options.pluginFolder ?? join(root, "bin");
    this.#plugins = options.namesPlugin === false ? "" : pluginsAt(folder);
    if (options.program.startsWith("/")) this.#copy(options.program);
    else this.program(options.program);
  }

  static async create(options: StackOptions): Promise<Stack> {
    const stack = new Stack(options);
    const { baseUrl, config } = options;
    const settings = { ...(baseUrl === undefined ? {} : { baseUrl }), ...config };
    if (existsSync(stack.#settingsFile)) {
      await stack.succeed("stack", "init", "dev");
      await stack.configure(settings);
      return stack;
    }
    writeFileSync(stack.#settingsFile, settingsContent(settings));
    const isCopied = isOrdinary(options) && copyPreparedStack(stack.folder);
    if (!isCopied) await stack.succeed("stack", "init", "dev");
    return stack;
  }

  /** Replaces the program. */
  program(text: string, runtime = "yaml"): void {
    const head = `name: ${this.#name}\nruntime: ${runtime}\n`;
    writeFileSync(join(this.project, "Pulumi.yaml"), head + this.#plugins + text);
  }

  /** Replaces the program by one in JavaScript, in which no types prevent wrong inputs. */
  javascript(text: string): void {
    this.program("", "nodejs");
    writeFileSync(join(this.project, "package.json"), '{"main": "index.js"}');
    writeFileSync(join(this.project, "index.js"), text);
    this.#linkModules();
  }

  /** Links the node_modules of the program, by default those of this repository. */
  #linkModules(installed = join(root, "node_modules")): void {
    const link = join(this.project, "node_modules");
    if (!existsSync(link)) symlinkSync(installed, link);
  }

  #copy(project: string): void {
    const modules = join(project, "node_modules");
    const isOwn = (file: string) => !["node_modules", "venv", "target"].includes(basename(file));
    cpSync(project, this.project, { recursive: true, filter: isOwn });
    if (existsSync(modules)) this.#linkModules(modules);
    // The project is a workspace of this repository, or has no modules of its own.
    else if (existsSync(join(project, "package.json"))) this.#linkModules();
    const own = { cwd: this.project, exclude: ["node_modules"] };
    for (const name of globSync("**/Pulumi.yaml", own)) {
      appendFileSync(join(this.project, name), this.#plugins);
    }
  }

  get #settingsFile(): string {
    return join(this.project, "Pulumi.dev.yaml");
  }

  async configure(settings: Readonly<Record<string, string>>): Promise<void> {
    if (Object.keys(settings).length === 0) return;
    const pairs = Object.entries(settings).flatMap(([name, value]) => [
      "--plaintext",
      `compute:${name}=${value}`,
    ]);
    await this.succeed("config", "set-all", ...pairs);
  }

  /** Sets an environment variable for the following commands. */
  setEnv(name: string, value: string | undefined): void {
    this.#env[name] = value;
  }

  up = (...args: string[]) => this.run("up", "--yes", "--skip-preview", ...args);
  preview = (...args: string[]) => this.run("preview", ...args);
  refresh = (...args: string[]) => this.run("refresh", "--yes", "--skip-preview", ...args);
  destroy = (...args: string[]) => this.run("destroy", "--yes", "--skip-preview", ...args);

  /** Expects that another `up` changes nothing. */
  async expectNothingToDo(...args: string[]): Promise<void> {
    await this.succeed("up", "--yes", "--skip-preview", "--expect-no-changes", ...args);
  }

  /** Runs a command that is expected to succeed. */
  async succeed(...args: string[]): Promise<string> {
    const { code, output } = await this.run(...args);
    if (code !== 0) throw new Error(`pulumi ${args.join(" ")} ended with ${code}:\n${output}`);
    return output;
  }

  run(...args: string[]): Promise<Outcome> {
    return this.start(...args).ended;
  }

  /** Runs `up`. If a killed engine has left its lock, types the command that removes it, and runs `up` again. */
  async upAfterKill(): Promise<Outcome> {
    const up = await this.up();
    const unlockCommand = /delete the lock file with `(.*?)`/.exec(up.output)?.[1];
    if (unlockCommand === undefined) return up;
    const unlocked = await this.type(unlockCommand);
    const { code, output } = await this.up();
    return { code, output: up.output + unlocked.output + output };
  }

  /** Starts a command. Returns before it has ended, so that a test can interrupt it. */
  start(...args: string[]): Running {
    const pulumi = process.env["COMPUTE_TEST_PULUMI"] ?? "pulumi";
    return this.#spawn([...this.#through, pulumi, ...args, "--non-interactive", "--color=never"]);
  }

  /** Runs a shell command in the folder of the project. Confirmations are skipped. */
  type(line: string): Promise<Outcome> {
    return this.#spawn(["sh", "-c", line], { PULUMI_SKIP_CONFIRMATIONS: "true" }).ended;
  }

  /** Lets this command start `pulumi` from now on. The command line of `pulumi` is added to its arguments. */
  startThrough(...command: string[]): void {
    this.#through = command;
  }

  #spawn([command = "", ...args]: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
    const child = spawn(command, args, {
      ...{ cwd: this.project, env: { ...this.#env, ...env } },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#running.add(child);
    return new Running(child, (output) => {
      this.#running.delete(child);
      refuseSecrets([basename(command), ...args].join(" "), output);
    });
  }

  /** Returns the resources in the state. */
  async resources(): Promise<StateResource[]> {
    const text =
      this.#stateFile() ?? (await this.succeed("stack", "export", "--show-secrets=false"));
    // The ciphertext differs each time, so it is removed.
    const state = JSON.parse(text.replaceAll(/"ciphertext": *"[^"]*"/g, '"ciphertext": "…"')) as {
      checkpoint?: { latest?: { resources?: StateResource[] } };
      deployment?: { resources?: StateResource[] };
    };
    return (state.checkpoint?.latest ?? state.deployment)?.resources ?? [];
  }

  /** Reads the state from its file, which is faster than a command. Undefined unless there is exactly one file. */
  #stateFile(): string | undefined {
    const folder = join(this.folder, "state", ".pulumi", "stacks", this.#name);
    const [file, ...others] = globSync("*.json", { cwd: folder });
    return file !== undefined && others.length === 0
      ? readFileSync(join(folder, file), "utf8")
      : undefined;
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

/**
 * Whether these tests run with the oldest supported engine. It words some messages differently, writes no logs, and
 * has neither `pulumi do` nor `state taint`.
 */
export const isOldest = process.env["COMPUTE_TEST_ENGINE"] === "oldest";

/** All records in the ledger of the stack's Pulumi home, oldest first. */
export function recordsOf({ home }: Stack): LedgerRecord[] {
  return ledgerFolders({ PULUMI_HOME: home })
    .flatMap((folder) => new Ledger(folder, "looking", () => undefined, systemClock).read())
    .map(({ record }) => record)
    .sort((one, other) => one.at.localeCompare(other.at));
}
