/**
 * A Pulumi stack for one test, with the real engine, a file backend and a private Pulumi home. Everything that a command
 * prints, and everything that the stack leaves on disk, is searched for secrets.
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
import { executable } from "../../../provider/process/executable";
import { ledgerFolders } from "../../../provider/ledger/folder";
import { Ledger } from "../../../provider/ledger/ledger";
import type { LedgerRecord } from "../../../provider/ledger/record";
import { isOlder } from "../../../provider/version";
import { fileBackend, ownPulumi } from "../../../tools/support/ownPulumi";
import { root, toolsDir } from "../../../tools/support/paths";
import { encryptionSalt, passphrase } from "./engineLogs";
import { copyPreparedStack } from "./preparedStack";
import { Running } from "./running";
import { canaries, refuseSecrets, refuseSecretsOnDisk } from "./secrets";

export const tokens = {
  live: `sk_live_default_${canaries.token}`,
  test: `sk_test_default_${canaries.token}`,
} as const;

export interface StackOptions {
  /** The name of the project, if several projects share a backend. The default is `proj`. */
  project?: string;
  /** The Pulumi.yaml without name, runtime and plugins, or the absolute path of a project to copy. */
  program: string;
  baseUrl?: string | undefined;
  /** The API token. The default is a test token, and null means none. */
  token?: string | null;
  /** Whether the project names the folder of the plugin, as by default. If not, the engine has to find the plugin. */
  namesPlugin?: boolean;
  /** The `compute:…` settings by name, without the prefix. */
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
}

interface Deployment {
  resources?: StateResource[];
}

export const plugin = join(root, "bin", executable);

const speed = {
  // Keeps the code that V8 compiles from the SDK and TypeScript, which each program loads.
  NODE_COMPILE_CACHE: join(toolsDir, "scratch", "compile-cache"),
  // Without these, a tenth of the engine's time is garbage collection.
  GOGC: "off",
  GOMEMLIMIT: "512MiB",
};

/** What is added to these commands, because nobody can answer their question. */
const unattended = ["--yes", "--skip-preview"];
const asking = ["up", "refresh", "destroy"];

/** The part of a Pulumi.yaml that names the folder of a plugin. */
export function pluginsAt(path: string): string {
  return `plugins:\n  providers:\n    - name: compute\n      path: ${JSON.stringify(path)}\n`;
}

export class Stack implements AsyncDisposable {
  readonly folder: string;
  readonly home: string;
  readonly project: string;
  readonly backend: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #plugins: string;
  readonly #running = new Set<ChildProcess>();
  readonly #name: string;
  readonly #userDataInState: string | undefined;

  private constructor(options: StackOptions) {
    this.#name = options.project ?? "proj";
    this.#userDataInState = options.config?.["userDataInState"];
    this.folder = mkdtempSync(join(tmpdir(), "compute-stack-"));
    this.home = join(this.folder, "home");
    this.project = join(this.folder, "project");
    this.backend = fileBackend(join(this.folder, "state"));
    mkdirSync(this.project);
    this.#env = {
      PATH: process.env["COMPUTE_TEST_PATH"],
      HOME: this.folder,
      ...ownPulumi(this.folder),
      PULUMI_CONFIG_PASSPHRASE: passphrase,
      PULUMI_ACCESS_TOKEN: canaries.accessToken,
      ...speed,
      COMPUTE_API_TOKEN: options.token === null ? undefined : (options.token ?? tokens.test),
      ...options.env,
    };
    this.#plugins = options.namesPlugin === false ? "" : pluginsAt(join(root, "bin"));
    if (options.program.startsWith("/")) this.#copy(options.program);
    else this.program(options.program);
  }

  static async create(options: StackOptions): Promise<Stack> {
    const stack = new Stack(options);
    const { baseUrl, config, env = {} } = options;
    const settings = { ...(baseUrl === undefined ? {} : { baseUrl }), ...config };
    const file = join(stack.project, "Pulumi.dev.yaml");
    const hasSettings = existsSync(file);
    if (!hasSettings) {
      const named = Object.entries(settings).map(([name, value]) => [`compute:${name}`, value]);
      // Every JSON value is valid YAML.
      const text = { encryptionsalt: encryptionSalt, config: Object.fromEntries(named) as object };
      writeFileSync(file, JSON.stringify(text));
    }
    const others = ["PULUMI_HOME", "PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE"];
    const isOrdinary =
      !options.project && !options.program.startsWith("/") && !others.some((name) => name in env);
    if (!isOrdinary || !copyPreparedStack(stack.folder))
      await stack.succeed("stack", "init", "dev");
    if (hasSettings) await stack.configure(settings);
    return stack;
  }

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

  /** Gives the project the installed packages of another one. */
  #linkModules(installed = join(root, "node_modules")): void {
    const link = join(this.project, basename(installed));
    if (!existsSync(link)) symlinkSync(installed, link);
  }

  #copy(project: string): void {
    const isOwn = (file: string) => !["node_modules", "venv", "target"].includes(basename(file));
    cpSync(project, this.project, { recursive: true, filter: isOwn });
    const modules = ["node_modules", "venv"].map((folder) => join(project, folder));
    for (const installed of modules.filter(existsSync)) this.#linkModules(installed);
    // Without modules of its own, the project is a workspace of this repository.
    if (existsSync(join(project, "package.json"))) this.#linkModules();
    const own = { cwd: this.project, exclude: ["node_modules", "venv"] };
    for (const name of globSync("**/Pulumi.yaml", own)) {
      appendFileSync(join(this.project, name), this.#plugins);
    }
  }

  async configure(settings: Readonly<Record<string, string>>): Promise<void> {
    const pairs = Object.entries(settings).map(([name, value]) => `compute:${name}=${value}`);
    if (pairs.length === 0) return;
    await this.succeed("config", "set-all", ...pairs.flatMap((pair) => ["--plaintext", pair]));
  }

  /** The environment of the commands. */
  get env(): NodeJS.ProcessEnv {
    return this.#env;
  }

  /** Sets an environment variable for the following commands. */
  setEnv(name: string, value: string | undefined): void {
    this.#env[name] = value;
  }

  /** These commands are expected to succeed. They return what was printed. */
  up = (...args: string[]) => this.succeed("up", ...args);
  preview = (...args: string[]) => this.succeed("preview", ...args);
  refresh = (...args: string[]) => this.succeed("refresh", ...args);
  destroy = (...args: string[]) => this.succeed("destroy", ...args);

  expectNothingToDo = (...args: string[]) => this.up("--expect-no-changes", ...args);

  /** Runs a command that is expected to succeed, and returns what it printed. */
  succeed = (...args: string[]) => this.start(...args).succeeded();

  /** Runs a command that is expected to fail, and returns what it printed. */
  fail = (...args: string[]) => this.start(...args).failed();

  /** Starts a command. Returns before it has ended, so that a test can interrupt it. */
  start(...args: string[]): Running {
    const pulumi = process.env["COMPUTE_TEST_PULUMI"] ?? "pulumi";
    const more = asking.some((flag) => args.includes(flag)) ? unattended : [];
    const flags = [...more, "--non-interactive", "--color=never"];
    return this.#spawn([pulumi, ...args, ...flags]);
  }

  /** Runs a shell command in the folder of the project, without confirmations. It is expected to succeed. */
  type = (line: string) => this.startTyping(line).succeeded();

  /** Like `type`, for a command that is expected to fail. */
  typeFailing = (line: string) => this.startTyping(line).failed();

  /** Like `type`. Returns before the command has ended. */
  startTyping = (line: string) =>
    this.#spawn(["sh", "-c", line], { PULUMI_SKIP_CONFIRMATIONS: "true" });

  #spawn([command = "", ...args]: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
    const child = spawn(command, args, {
      cwd: this.project,
      env: { ...this.#env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#running.add(child);
    const line = [basename(command), ...args].join(" ");
    return new Running(child, line, (output) => {
      this.#running.delete(child);
      refuseSecrets(line, output);
    });
  }

  async resources(): Promise<StateResource[]> {
    const text =
      this.#stateFile() ?? (await this.succeed("stack", "export", "--show-secrets=false"));
    // The ciphertext differs each time, so it is removed.
    const state = JSON.parse(text.replaceAll(/"ciphertext": *"[^"]*"/g, '"ciphertext": "…"')) as {
      checkpoint?: Record<string, Deployment>;
      deployment?: Deployment;
    };
    const { checkpoint, deployment } = state;
    // `pulumi state …` of engine 3.180 writes the key with a capital.
    const latest = checkpoint?.["latest"] ?? checkpoint?.["Latest"] ?? deployment;
    return latest?.resources ?? [];
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

  /** The ids of the instances in the state, sorted. */
  async ids(): Promise<string[]> {
    return (await this.instances()).map(({ id = "" }) => id).sort();
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
      refuseSecretsOnDisk(this.folder, this.#userDataInState);
    } finally {
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
    }
  }
}

/** Whether the engine is the oldest supported one, which writes no logs, and has neither `pulumi do` nor `state taint`. */
export const isOldest = process.env["COMPUTE_TEST_ENGINE"] === "oldest";

/** The version of the engine at hand: "3.276.0". Empty in tests without an engine. */
export const engineAtHand = process.env["COMPUTE_TEST_VERSION"] ?? "";

/** Whether the engine at hand is older than this version: it may be a person's own one. */
export const isBefore = (version: string) => isOlder(engineAtHand, version);

/** Why a test is skipped that needs what engines have from this version on. Undefined if the engine at hand has it. */
export function missingBefore(version: string, what: string): string | undefined {
  return isBefore(version) ? `an engine before ${version} has no ${what}` : undefined;
}

/** All records in the ledger of the stack's Pulumi home: those of the creates in doubt. */
export function recordsOf({ home }: Stack): LedgerRecord[] {
  const options = { session: "looking", warn: () => undefined, clock: systemClock };
  return ledgerFolders({ PULUMI_HOME: home })
    .flatMap((folder) => new Ledger({ ...options, folder }).all())
    .map(({ record }) => record);
}

/** Backdates the creates by an hour, because audit does not report an instance as gone shortly after its create. */
export function ageCreates(stack: Stack): void {
  const acceptedAt = new RegExp(`("__accepted": *)"[^"]*"`, "g");
  const earlier = new Date(Date.now() - 3_600_000).toISOString();
  editState(stack, (text) => text.replaceAll(acceptedAt, `$1"${earlier}"`));
}

/** Writes null for each of these properties that is an empty text in the state. */
export function writeNulls(stack: Stack, names: readonly string[]): void {
  const empty = new RegExp(`("(?:${names.join("|")})": *)""`, "g");
  editState(stack, (text) => text.replaceAll(empty, "$1null"));
}

/** @throws if the edit changes nothing */
function editState({ folder }: Stack, edit: (text: string) => string): void {
  const file = join(folder, "state", ".pulumi", "stacks", "proj", "dev.json");
  const before = readFileSync(file, "utf8");
  const after = edit(before);
  if (after === before) throw new Error("the state has nothing to edit");
  writeFileSync(file, after);
}
