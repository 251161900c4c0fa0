/**
 * A simulated machine, and the plugin processes on it. A process can be killed at any step. runHistory.ts and
 * simulation.ts use them.
 */
import { createClient } from "../../provider/api/createClient";
import { InstanceUnfinished } from "../../provider/errors";
import { createProvider } from "../../provider/provider";
import type { Clock } from "../../provider/clock";
import type { Provider } from "../../provider/requests";
import { afterEngineMs, afterSignalMs } from "../../provider/rpc/shutdown";
import { Redactor } from "../../provider/redaction";
import { MemoryDisk } from "./disk";
import type { Network } from "./network";
import type { Random } from "./random";
import type { Timeline } from "./timeline";

/** The Pulumi home on every machine. */
export const home = "/home/pulumi";
/** The date at the beginning of every simulation, in milliseconds since 1970. */
export const start = Date.UTC(2026, 0, 1);

/** A machine with a disk and a date of its own. */
export class Machine {
  readonly #timeline: Timeline;
  disk;
  readonly processes = new Set<PluginProcess>();
  /** How many milliseconds the date of this machine is ahead of the true date. */
  aheadMs = 0;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
    this.disk = this.newDisk();
  }
  newDisk(): MemoryDisk {
    return new MemoryDisk(this);
  }
  date(): Date {
    return new Date(start + this.#timeline.now + this.aheadMs);
  }
}

/** Thrown in a process at the step at which it is killed. */
class ProcessKilled extends Error {}

/** What all processes of a simulation share. */
export interface ProcessContext {
  timeline: Timeline;
  random: Random;
  network: Network;
  trace: (line: string) => void;
}

/** A process of the plugin: the real provider on a simulated machine and network. */
export class PluginProcess {
  readonly #ctx: ProcessContext;
  alive = true;
  /** Whether the engine still reads the messages and responses of the process. */
  hasEngine = true;
  /** The number of calls under way. */
  running = 0;
  /** The number of steps so far. The process can be killed at each of them. */
  steps = 0;
  /** Called at each step. It may kill the process. */
  onStep: (step: number) => void = () => undefined;
  /** Called with each message for the engine. */
  onMessage: (text: string) => void = () => undefined;
  /** The calls of the provider, as the engine makes them. */
  readonly calls: Provider;
  readonly #provider: Provider;
  readonly #disk;

  constructor(
    ctx: ProcessContext,
    readonly machine: Machine,
    readonly name: string,
  ) {
    this.#ctx = ctx;
    const { random, network } = ctx;
    this.#disk = machine.disk.processDisk({
      step: () => this.#step(),
      later: (run) => this.#later(random.between(1, 20), run),
      partial: () => random.next(),
    });
    const say = (kind: string) => (text: string) => {
      if (!this.alive || !this.hasEngine) return;
      ctx.trace(`${name} ${kind}: ${text}`);
      this.onMessage(text);
    };
    this.#provider = createProvider({
      messages: {
        status: (_, text) => ctx.trace(`${name} status: ${text}`),
        debug: () => undefined,
        info: say("info"),
        warning: say("warning"),
      },
      redactor: new Redactor(),
      clock: this.#clock(),
      env: { PULUMI_HOME: home, PULUMI_BACKEND_URL: "s3://state" },
      randomBytes: (count) => random.bytes(count),
      disk: this.#disk,
      createApi: (options) =>
        createClient({ ...options, createDispatcher: () => network.dispatcher(this) }),
    });
    this.calls = this.#counted(this.#provider);
  }

  /** Runs one step of the process if it is alive. */
  runIfAlive(run: () => void): void {
    if (!this.alive) return;
    try {
      this.#step();
      run();
    } catch (error) {
      if (!(error instanceof ProcessKilled)) throw error;
    }
  }

  /** Kills the process, as `kill -9` does. */
  kill(): void {
    if (!this.alive) return;
    this.#ctx.trace(`${this.name} dies`);
    this.alive = false;
    this.#disk.kill();
    // If the engine is alive, it sees its calls fail.
    this.#ctx.timeline.after(1, () => this.#rejections.forEach((reject) => reject()));
  }
  /** For each call under way, a function that rejects it. */
  readonly #rejections = new Set<() => void>();

  /** Sends the signal of an engine's end. The process dies once its calls have ended, or some seconds later. */
  signal(): void {
    this.#endWithin(afterSignalMs, false);
  }

  /** Models the death of the engine: nobody reads responses any more. A POST under way may still end. */
  orphan(): void {
    this.hasEngine = false;
    this.#endWithin(afterEngineMs, true);
  }

  #endWithin(ms: number, engineGone: boolean): void {
    if (!this.alive) return;
    this.#provider.cancel(false, engineGone);
    if (this.running === 0) return this.kill();
    this.#onIdle = () => this.kill();
    this.#ctx.timeline.after(ms, () => this.kill());
  }
  /** Called when the last call has ended. */
  #onIdle: () => void = () => undefined;

  /** Counts a step. @throws ProcessKilled if the process is dead, or is killed at this step */
  #step(): void {
    if (!this.alive) throw new ProcessKilled();
    this.onStep(++this.steps);
    if (!this.alive) throw new ProcessKilled();
  }

  #later(ms: number, run: () => void): void {
    this.#ctx.timeline.after(ms, () => this.runIfAlive(run));
  }

  #clock(): Clock {
    const { timeline } = this.#ctx;
    return {
      now: () => timeline.now,
      date: () => this.machine.date(),
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          let isOver = false;
          const onAbort = () => {
            isOver = true;
            reject(signal?.reason as Error);
          };
          if (signal?.aborted) return onAbort();
          signal?.addEventListener("abort", onAbort, { once: true });
          timeline.after(ms, () => {
            if (isOver) return;
            this.runIfAlive(() => {
              signal?.removeEventListener("abort", onAbort);
              resolve();
            });
          });
        }),
    };
  }

  /** Wraps the calls of the provider: counts those under way, and rejects those of a process that dies. */
  #counted(provider: Provider): Provider {
    const counted = <Request, T>(call: (request: Request) => Promise<T>) => {
      return (request: Request): Promise<T> =>
        new Promise((resolve, reject) => {
          const rejectAsDead = () => reject(new Error("the plugin process is dead"));
          if (!this.alive) return rejectAsDead();
          this.running++;
          this.#rejections.add(rejectAsDead);
          const ended = (answer: () => void) => {
            this.running--;
            if (!this.alive) return;
            this.#rejections.delete(rejectAsDead);
            answer();
            if (this.running === 0) this.#onIdle();
          };
          call(request).then(
            (value) => ended(() => resolve(value)),
            (error: unknown) => ended(() => reject(error)),
          );
        });
    };
    return {
      ...provider,
      configure: counted((request) => provider.configure(request)),
      check: counted((request) => provider.check(request)),
      diff: counted((request) => provider.diff(request)),
      create: counted((request) => provider.create(request)),
      update: counted((request) => provider.update(request)),
      read: counted((request) => provider.read(request)),
      delete: counted((request) => provider.delete(request)),
    };
  }
}

/** Whether an error says that the instance exists and is not finished. */
export function isUnfinished(error: unknown): error is InstanceUnfinished {
  return error instanceof InstanceUnfinished;
}
