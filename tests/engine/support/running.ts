/** A command under way, for the tests that interrupt one. */
import { execFileSync, type ChildProcess } from "node:child_process";

export interface Outcome {
  code: number | null;
  /** stdout and stderr, as they came. */
  output: string;
}

/** No command of these tests takes a tenth of this. One that hangs must not hang the test run. */
const longestMs = 60_000;

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
    const plugins = processes().filter(
      ({ parent, command }) => parent === this.child.pid && command.includes("/bin/start.js"),
    );
    if (plugins.length === 0) throw new Error("the engine has no plugin process to kill");
    for (const { pid } of plugins) process.kill(pid, "SIGKILL");
  }
}

function processes(): { pid: number; parent: number; command: string }[] {
  const table = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" });
  return [...table.matchAll(/^\s*(\d+)\s+(\d+)\s+(.*)$/gm)].map(([, pid, parent, command]) => ({
    pid: Number(pid),
    parent: Number(parent),
    command: command ?? "",
  }));
}
