/** A machine, and a process of the plugin on it. The process can be killed at any step. */
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

export const home = "/home/pulumi";
export const start = Date.UTC(2026, 0, 1);

export class Machine {
  readonly #timeline: Timeline;
  disk;
  readonly processes = new Set<PluginProcess>();
  /** How far its date is ahead, in milliseconds. */
  ahead = 0;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
    this.disk = this.newDisk();
  }
  newDisk(): MemoryDisk {
    return new MemoryDisk(this);
  }
  date(): Date {
    return new Date(start + this.#timeline.now + this.ahead);
  }
}

/** Thrown into a process that dies in the middle of what it does. */
class Died extends Error {}

export interface ProcessContext {
  timeline: Timeline;
  random: Random;
  network: Network;
  trace: (line: string) => void;
}

export class PluginProcess {
  readonly #ctx: ProcessContext;
  alive = true;
  /** Whether the engine still reads what it says and answers. */
  heard = true;
  /** Calls that have no answer yet. */
  running = 0;
  /** What it has done so far: where it can be killed. */
  steps = 0;
  /** Told of each step; may end the process. */
  onStep: (step: number) => void = () => undefined;
  onSaid: (text: string) => void = () => undefined;
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
      if (!this.alive || !this.heard) return;
      ctx.trace(`${name} ${kind}: ${text}`);
      this.onSaid(text);
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
      createApi: (options) => createClient({ ...options, connect: () => network.dispatcher(this) }),
    });
    this.calls = this.#counted(this.#provider);
  }

  /** Something of it happens, unless it has died. */
  happen(run: () => void): void {
    if (!this.alive) return;
    try {
      this.#step();
      run();
    } catch (error) {
      if (!(error instanceof Died)) throw error;
    }
  }

  /** As `kill -9` does. */
  kill(): void {
    if (!this.alive) return;
    this.#ctx.trace(`${this.name} dies`);
    this.alive = false;
    this.#disk.kill();
    // What its engine learns of it, if that lives.
    this.#ctx.timeline.at(1, () => this.#broken.forEach((broken) => broken()));
  }
  readonly #broken = new Set<() => void>();

  /** As when the engine sends a signal: it has some seconds for the calls that run. */
  signal(): void {
    this.#endWithin(afterSignalMs, false);
  }

  /** Its engine was killed: nobody hears its answers, and a POST under way may still bring its id. */
  orphan(): void {
    this.heard = false;
    this.#endWithin(afterEngineMs, true);
  }

  #endWithin(ms: number, engineGone: boolean): void {
    if (!this.alive) return;
    this.#provider.cancel(false, engineGone);
    if (this.running === 0) return this.kill();
    this.#onIdle = () => this.kill();
    this.#ctx.timeline.at(ms, () => this.kill());
  }
  #onIdle: () => void = () => undefined;

  #step(): void {
    if (!this.alive) throw new Died();
    this.onStep(++this.steps);
    if (!this.alive) throw new Died();
  }

  #later(ms: number, run: () => void): void {
    this.#ctx.timeline.at(ms, () => this.happen(run));
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
          timeline.at(ms, () => {
            if (isOver) return;
            this.happen(() => {
              signal?.removeEventListener("abort", onAbort);
              resolve();
            });
          });
        }),
    };
  }

  /** The provider's calls; one of a process that died is never answered. */
  #counted(provider: Provider): Provider {
    const counted = <Request, T>(call: (request: Request) => Promise<T>) => {
      return (request: Request): Promise<T> =>
        new Promise((resolve, reject) => {
          const broken = () => reject(new Error("the plugin is not there any more"));
          if (!this.alive) return broken();
          this.running++;
          this.#broken.add(broken);
          const ended = (answer: () => void) => {
            this.running--;
            if (!this.alive) return;
            this.#broken.delete(broken);
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

export function isUnfinished(error: unknown): error is InstanceUnfinished {
  return error instanceof InstanceUnfinished;
}
