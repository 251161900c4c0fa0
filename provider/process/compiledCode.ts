/** Keeps the code that V8 has compiled from the parts of the plugin for the next process, which starts faster with it. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import * as fs from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";
import { attempt } from "../attempt";
import { executable, isCommand, isStartedByEngine } from "./executable";
import { joinParts, PartsFile } from "./partsFile";

/** What a process had done before it left its compiled code. */
type Milestone = "created" | "started";

/**
 * If a process of an engine finds no compiled code of a part, it adds its own code of that part when it exits. The first process
 * that creates an instance leaves the code of all its parts, and later processes use this code: a process that is asked for the
 * schema alone has compiled little.
 * Node's own compile cache would have only the functions that run while a file is loaded, a seventh of what a create runs.
 */
export class CompiledCode {
  readonly #folder: string;
  readonly #digest: string;
  /** What earlier processes have left. */
  #earlier: PartsFile | undefined;
  #stage: Milestone;
  /** The scripts that this process has made, by the names of their parts. */
  readonly #scripts = new Map<string, Script>();

  /** `folder` is where the plugin is installed, and `digest` tells its bundle from others. */
  constructor(folder: string, digest: string) {
    this.#folder = folder;
    this.#digest = digest;
    const read = (stage: Milestone) =>
      attempt(() => new PartsFile(fs.readFileSync(this.#fileOf(stage))));
    const created = read("created");
    this.#earlier = created ?? read("started");
    this.#stage = created ? "created" : "started";
    const argv = process.argv.slice(2);
    // A command that a person types has compiled other functions.
    if (!isCommand(argv) && isStartedByEngine(argv)) this.#leaveAtExit();
  }

  /** Returns the script of a part, with the compiled code that earlier processes have left. */
  script(name: string, source: string, filename: string): Script {
    // V8 checks little of the code that it gets, and crashes if the code is damaged.
    if (this.#earlier?.isDamaged(name) === true) this.#forget();
    const cachedData = this.#earlier?.parts.get(name);
    const script = new Script(source, { filename, cachedData });
    if (script.cachedDataRejected === true) this.#forget();
    this.#scripts.set(name, script);
    return script;
  }

  #leaveAtExit(): void {
    let hasPosted = false;
    onFirstPost(() => (hasPosted = true));
    process.on("exit", () => {
      const all = hasPosted && this.#stage === "started";
      const isNew = (name: string) => all || this.#earlier?.parts.get(name) === undefined;
      const added = [...this.#scripts].filter(([name]) => isNew(name));
      if (added.length > 0) attempt(() => this.#write(all ? "created" : this.#stage, added));
    });
  }

  /** Removes the file, which V8 refuses, or which is damaged. */
  #forget(): void {
    attempt(() => fs.rmSync(this.#fileOf(this.#stage)));
    this.#earlier = undefined;
    this.#stage = "started";
  }

  /** Other processes see no file, or all of it. */
  #write(stage: Milestone, added: readonly (readonly [string, Script])[]): void {
    const parts = new Map(this.#earlier?.parts);
    for (const [name, script] of added) parts.set(name, script.createCachedData());
    const file = this.#fileOf(stage);
    const temporary = `${file}.${process.pid}`;
    fs.mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    fs.writeFileSync(temporary, joinParts(parts), { mode: 0o600 });
    fs.renameSync(temporary, file);
  }

  /**
   * The name has the bundle's digest, because V8 accepts the code of any source of equal length.
   *
   * @throws the system's error if the user has no home directory
   */
  #fileOf(stage: Milestone): string {
    const name = [this.#digest, process.arch, cachedDataVersionTag(), stage].join("-");
    return join(cacheDirectory(this.#folder), name);
  }
}

/**
 * Returns the folder of the compiled code. It is in the plugin's folder, so that both are removed together, or else in the user's
 * own cache. Others could put their code into a shared one, like /tmp.
 *
 * @throws the error of the system if the user has no home directory
 */
function cacheDirectory(pluginFolder: string): string {
  try {
    fs.accessSync(pluginFolder, fs.constants.W_OK);
    return join(pluginFolder, ".cache");
  } catch {
    const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
    const userCache = XDG_CACHE_HOME || LOCALAPPDATA || join(homedir(), ".cache");
    return join(userCache, executable);
  }
}

/** Calls `act` when this process sends its first POST, which is a create. undici publishes each request on this channel. */
function onFirstPost(act: () => void): void {
  const channel = "undici:request:create";
  const onRequest = (message: unknown) => {
    if ((message as { request: { method: string } }).request.method !== "POST") return;
    unsubscribe(channel, onRequest);
    act();
  };
  subscribe(channel, onRequest);
}
