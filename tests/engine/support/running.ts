/** A command under way, for the tests that interrupt one. */
import type { ChildProcess } from "node:child_process";
import { gone, isPlugin, kill, startedBy } from "./processes";

/** What can end a command before its time. */
export type End = "Ctrl-C" | "Ctrl-C twice" | "plugin killed" | "engine killed" | "both killed";

export interface Outcome {
  code: number | null;
  /** stdout and stderr, as they came. */
  output: string;
}

/** Far more than any command takes. One that hangs must not hang the test run. */
const longestMs = 540_000;

export class Running {
  output = "";
  readonly ended: Promise<Outcome>;
  readonly #watchers = new Set<() => void>();

  constructor(
    readonly child: ChildProcess,
    onEnd: (output: string) => void,
  ) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
        this.#tell();
      });
    }
    this.ended = new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        child.kill("SIGKILL");
        reject(new Error(`not ended after ${longestMs / 1000} s:\n${this.output}`));
      }, longestMs);
      child.on("error", reject);
      child.on("close", (code) => {
        clearTimeout(timer);
        try {
          onEnd(this.output);
          resolve({ code, output: this.output });
        } catch (error) {
          reject(error);
        }
        this.#tell();
      });
    });
    this.ended.catch(() => undefined);
  }

  #tell(): void {
    for (const watcher of this.#watchers) watcher();
  }

  /** Resolves once the command has printed `text`; rejects if it ends without. */
  async printed(text: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = () => {
      if (this.output.includes(text)) resolve();
      else if (this.child.exitCode !== null || this.child.signalCode !== null) {
        reject(new Error(`ended without printing "${text}":\n${this.output}`));
      }
    };
    this.#watchers.add(look);
    look();
    await promise.finally(() => this.#watchers.delete(look));
  }

  /** Resolves with `event`; rejects if the command ends without. */
  async reached(event: Promise<void>): Promise<void> {
    const ended = this.ended.then(({ output }) => {
      throw new Error(`ended too early:\n${output}`);
    });
    await Promise.race([event, ended]);
  }

  /** Ctrl-C, as a terminal sends it: to the engine's process group, which the plugin is not in. */
  interrupt(): void {
    this.child.kill("SIGINT");
  }

  /** `kill -9` of every plugin that the engine of this command has started. */
  killPlugin(): void {
    const plugins = this.#plugins();
    if (plugins.length === 0) throw new Error("the engine has no plugin process to kill");
    for (const pid of plugins) process.kill(pid, "SIGKILL");
  }

  /**
   * Ends the command in the way given, calls `then` at once, and resolves when nothing of the command
   * runs any more: a plugin outlives its engine for as long as a create is under way.
   */
  async end(how: End, then: () => void = () => undefined): Promise<Outcome> {
    const plugins = this.#plugins();
    switch (how) {
      case "Ctrl-C":
      case "Ctrl-C twice":
        this.interrupt();
        await this.printed("^C received");
        if (how === "Ctrl-C") break;
        this.interrupt();
        await this.printed("terminating");
        break;
      case "plugin killed":
        this.killPlugin();
        break;
      case "engine killed":
      case "both killed":
        this.child.kill("SIGKILL");
        if (how === "both killed") for (const pid of plugins) process.kill(pid, "SIGKILL");
    }
    then();
    const outcome = await this.ended;
    await gone(plugins, longestMs / 1000);
    return outcome;
  }

  #plugins(): number[] {
    return startedBy(this.child.pid ?? 0)
      .filter(isPlugin)
      .map(({ pid }) => pid);
  }

  /**
   * Ends the engine by a signal from outside. Resolves to the plugins it leaves behind, once there is
   * one; its language hosts, which would stay, go with it.
   */
  async killEngine(signal: NodeJS.Signals): Promise<number[]> {
    for (let look = 0; look < 1000; look++) {
      // Stopped, it starts no other between the look and its end.
      this.child.kill("SIGSTOP");
      const started = startedBy(this.child.pid ?? 0);
      const plugins = started.filter(isPlugin).map(({ pid }) => pid);
      if (plugins.length > 0) this.child.kill(signal);
      this.child.kill("SIGCONT");
      if (plugins.length === 0) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        continue;
      }
      await this.ended;
      await kill(started.filter((it) => !isPlugin(it)));
      return plugins;
    }
    throw new Error(`the engine starts no plugin:\n${this.output}`);
  }
}
