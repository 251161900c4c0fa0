/** A running command, for the tests that interrupt it. */
import type { ChildProcess } from "node:child_process";
import { gone, isPlugin, kill, startedBy } from "./processes";

/** How a test ends a command early. */
export type End = "Ctrl-C" | "Ctrl-C twice" | "plugin killed" | "engine killed" | "both killed";

/** The result of a command. */
export interface Outcome {
  code: number | null;
  /** stdout and stderr, in the order of their arrival. */
  output: string;
}

/** A command that runs longer than this is killed, since no command takes nearly as long. */
const maxMs = 540_000;

/** A command and its output so far. */
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
        this.#notify();
      });
    }
    this.ended = new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        child.kill("SIGKILL");
        reject(new Error(`not ended after ${maxMs / 1000} s:\n${this.output}`));
      }, maxMs);
      child.on("error", reject);
      child.on("close", (code) => {
        clearTimeout(timer);
        try {
          onEnd(this.output);
          resolve({ code, output: this.output });
        } catch (error) {
          reject(error);
        }
        this.#notify();
      });
    });
    this.ended.catch(() => undefined);
  }

  #notify(): void {
    for (const watcher of this.#watchers) watcher();
  }

  /** Resolves when the command has printed `text`. Rejects if the command ends without it. */
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

  /** Resolves when `event` resolves. Rejects if the command ends first. */
  async reached(event: Promise<void>): Promise<void> {
    const ended = this.ended.then(({ output }) => {
      throw new Error(`ended too early:\n${output}`);
    });
    await Promise.race([event, ended]);
  }

  /**
   * Sends Ctrl-C to the engine only. A terminal does not send it to the plugin either, which is in another process
   * group.
   */
  interrupt(): void {
    this.child.kill("SIGINT");
  }

  /** Kills every plugin that the engine of this command has started, as `kill -9` does. */
  killPlugin(): void {
    const plugins = this.#plugins();
    if (plugins.length === 0) throw new Error("the engine has no plugin process to kill");
    for (const pid of plugins) process.kill(pid, "SIGKILL");
  }

  /**
   * Ends the command as `how` says, and then calls `then`, before the command has ended. Resolves once the plugins have
   * ended as well, because a plugin outlives its engine while a create is under way.
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
    await gone(plugins, maxMs / 1000);
    return outcome;
  }

  #plugins(): number[] {
    return startedBy(this.child.pid ?? 0)
      .filter(isPlugin)
      .map(({ pid }) => pid);
  }

  /**
   * Ends the engine with a signal, as soon as it has started a plugin. Resolves with the process ids of the plugins,
   * which may still run. Other processes of the engine, such as language hosts, are killed.
   */
  async killEngine(signal: NodeJS.Signals): Promise<number[]> {
    for (let look = 0; look < 1000; look++) {
      // The engine is stopped, so that it starts no other plugin before the signal reaches it.
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
