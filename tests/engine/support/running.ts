/** A running command, for the tests that interrupt it. */
import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { gone, isPlugin, kill, startedBy } from "./processes";

/** How a test ends a command early, with the signal that the engine gets. */
const endings = {
  "Ctrl-C": "SIGINT",
  "Ctrl-C twice": "SIGINT",
  "plugin killed": undefined,
  "engine killed": "SIGKILL",
  "both killed": "SIGKILL",
  SIGHUP: "SIGHUP",
  SIGTERM: "SIGTERM",
} as const;
export type End = keyof typeof endings;

/** No command takes nearly as long. It is then killed. */
const maxMs = 540_000;

export class Running {
  /** stdout and stderr, in the order of their arrival. */
  output = "";
  /** Resolves with the exit code. Rejects if `onEnd` throws. */
  readonly ended: Promise<number | null>;

  constructor(
    readonly child: ChildProcess,
    readonly line: string,
    onEnd: (output: string) => void,
  ) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => (this.output += text));
    }
    this.ended = new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        child.kill("SIGKILL");
        reject(this.#error(`did not end in ${maxMs / 1000} s`));
      }, maxMs);
      child.on("error", reject);
      child.on("close", (code) => {
        clearTimeout(timer);
        try {
          onEnd(this.output);
          resolve(code);
        } catch (error) {
          reject(error);
        }
      });
    });
    this.ended.catch(() => undefined);
  }

  #error(what: string): Error {
    return new Error(`${this.line} ${what}:\n${this.output}`);
  }

  /** Resolves with the output. @throws if the command fails */
  async succeeded(): Promise<string> {
    const code = await this.ended;
    if (code !== 0) throw this.#error(`ended with ${code}`);
    return this.output;
  }

  /** Resolves with the output. @throws if the command succeeds */
  async failed(): Promise<string> {
    if ((await this.ended) === 0) throw this.#error("did not fail");
    return this.output;
  }

  /** Resolves when the command has printed `text`. Rejects if the command ends without it. */
  async printed(text: string): Promise<void> {
    for (; !this.output.includes(text); await sleep(20)) {
      if (this.child.exitCode !== null || this.child.signalCode !== null)
        throw this.#error(`ended without printing "${text}"`);
    }
  }

  /** Resolves when `event` resolves. Rejects if the command ends first. */
  async reached(event: Promise<void>): Promise<void> {
    const ended = this.ended.then(() => {
      throw this.#error("ended too early");
    });
    await Promise.race([event, ended]);
  }

  /**
   * Ends the command as soon as it has started a plugin, and calls `then` at once. Resolves when the plugins have ended,
   * too: a plugin outlives its engine while a create is under way. As in a terminal, Ctrl-C reaches only the engine,
   * because the plugin is in another process group.
   */
  async end(how: End, then: () => void = () => undefined): Promise<void> {
    const { plugins, others } = await this.#stopped();
    if (how === "plugin killed" || how === "both killed")
      for (const pid of plugins) process.kill(pid, "SIGKILL");
    const signal = endings[how];
    if (signal) this.child.kill(signal);
    this.child.kill("SIGCONT");
    if (signal === "SIGINT") await this.printed("^C received");
    if (how === "Ctrl-C twice") {
      this.child.kill("SIGINT");
      await this.printed("terminating");
    }
    then();
    await this.ended;
    // A killed engine leaves its language hosts behind.
    await kill(others);
    await gone(plugins, maxMs / 1000);
  }

  /** Stops the engine once it has a plugin, so that it starts no other one. Resolves with the ids of its processes. */
  async #stopped(): Promise<{ plugins: number[]; others: number[] }> {
    while (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill("SIGSTOP");
      const started = startedBy(this.child.pid ?? 0);
      const { plugins = [], others = [] } = Object.groupBy(started, (process) =>
        isPlugin(process) ? "plugins" : "others",
      );
      const idsOf = (all: typeof started) => all.map(({ pid }) => pid);
      if (plugins.length > 0) return { plugins: idsOf(plugins), others: idsOf(others) };
      this.child.kill("SIGCONT");
      await sleep(10);
    }
    throw this.#error("ended without a plugin");
  }
}
