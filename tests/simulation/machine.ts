/** Simulated machines, and the plugin processes on them, which can be killed at any step. */
import { basename } from "node:path";
import { createClient } from "../../provider/api/client";
import { ledgerFolder } from "../../provider/ledger/folder";
import { Ledger } from "../../provider/ledger/ledger";
import { fileNameOf, type LedgerRecord } from "../../provider/ledger/record";
import type { Text } from "../../provider/context";
import { createProvider } from "../../provider/provider";
import type { CancelReason, Provider } from "../../provider/pulumi/calls";
import { afterEngineMs, afterSignalMs } from "../../provider/rpc/shutdown";
import { Redactor } from "../../provider/redaction";
import { MemoryDisk, type ProcessDisk } from "./disk";
import type { Words } from "./history";
import type { Network } from "./network";
import type { Random } from "./random";
import { clockOf, type Timeline } from "./timeline";

const home = "/home/pulumi";
const backend = "s3://state";
const folder = ledgerFolder({ PULUMI_HOME: home, PULUMI_BACKEND_URL: backend });
/** The date at the beginning, in milliseconds since 1970. */
export const start = Date.UTC(2026, 0, 1);

export class Machine {
  disk;
  readonly processes = new Set<PluginProcess>();
  /** How far its date is ahead of the true one. */
  aheadMs = 0;

  constructor(private readonly timeline: Timeline) {
    this.disk = this.newDisk();
  }
  newDisk(): MemoryDisk {
    return new MemoryDisk(this);
  }
  /** Opens the ledger as a command of the plugin does. */
  ledger(): Ledger {
    const clock = { date: () => this.date() };
    const warn = () => undefined;
    return new Ledger({ folder, session: "byHand", warn, clock, disk: this.#handDisk() });
  }
  /** Removes a file, as a person does. */
  remove(path: string): void {
    this.#handDisk().remove(path);
  }
  #handDisk(): ProcessDisk {
    return this.disk.processDisk({ step: () => undefined, later: () => undefined });
  }
  date(): Date {
    return new Date(start + this.timeline.now + this.aheadMs);
  }
}

/** Thrown in a process at the step at which it is killed. */
class ProcessKilled extends Error {}

export interface ProcessContext {
  timeline: Timeline;
  random: Random;
  network: Network;
  trace: (line: string) => void;
  /** The address of the engine that starts the process. Empty if it is not known. */
  engineAddress?: string;
  /** What the person has typed before the command. */
  words?: Words;
}

/** A process of the plugin: the real provider on a simulated disk, clock and network. */
export class PluginProcess {
  alive = true;
  /** Whether the engine still reads what the process sends. */
  hasEngine = true;
  /** The process can be killed at each step. */
  steps = 0;
  onStep: (step: number) => void = () => undefined;
  onMessage: (text: string) => void = () => undefined;
  /** Called when a create finds the file of another one. */
  onFound: (record: LedgerRecord) => void = () => undefined;
  readonly calls: Provider;
  #engineAddress: string;
  readonly #provider: Provider;
  readonly #disk;

  constructor(
    private readonly ctx: ProcessContext,
    readonly machine: Machine,
    readonly name: string,
  ) {
    const { random, network, words, engineAddress = "" } = ctx;
    this.#engineAddress = engineAddress;
    this.#disk = machine.disk.processDisk({
      step: () => this.#step(),
      later: (run) => this.#later(random.between(1, 20), run),
      taken: (path) => this.#foundFile(path),
    });
    const say = (kind: string) => (lines: Text) => {
      const text = [lines].flat().join("\n");
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
      clock: clockOf(
        ctx.timeline,
        () => machine.date(),
        (run) => this.runIfAlive(run),
      ),
      env: { PULUMI_HOME: home, PULUMI_BACKEND_URL: backend, ...words },
      engineAddress: () => this.#engineAddress,
      randomBytes: (count) => random.bytes(count),
      disk: this.#disk,
      dialer: network.dialer(this),
      createApi: (options) =>
        createClient({ ...options, createDispatcher: () => network.dispatcher(this) }),
    });
    this.calls = this.#counted(this.#provider);
  }

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
    this.ctx.trace(`${this.name} dies`);
    this.alive = false;
    this.#disk.kill();
    this.ctx.timeline.after(1, () => this.#rejections.forEach((reject) => reject()));
  }
  /** One for each call under way. */
  readonly #rejections = new Set<() => void>();

  /** Signals the end of the engine: the process dies once its calls have ended, or some seconds later. */
  signal(): void {
    this.#endWithin(afterSignalMs, "interrupted");
  }

  /** The engine has died: nobody reads responses any more. A POST under way may still end. */
  orphan(): void {
    this.hasEngine = false;
    this.#endWithin(afterEngineMs, "engineGone");
  }

  /** The next engine attaches to the process, which serves it as a run of its own. */
  attach(engineAddress: string): void {
    this.#engineAddress = engineAddress;
    this.hasEngine = true;
    this.steps = 0;
    this.runIfAlive(() => this.#provider.renew());
  }

  /** The engine that had attached has died. That shows only at a Create under way (`ProviderServer.whileEngineWaits`). */
  detach(): void {
    this.hasEngine = false;
    if (this.#creates > 0) this.runIfAlive(() => this.#provider.cancel("engineGone"));
  }
  /** How many Creates are under way. */
  #creates = 0;

  #endWithin(ms: number, reason: CancelReason): void {
    if (!this.alive) return;
    this.#provider.cancel(reason);
    if (this.#rejections.size === 0) return this.kill();
    this.#onIdle = () => this.kill();
    this.ctx.timeline.after(ms, () => this.kill());
  }
  #onIdle: () => void = () => undefined;

  /** @throws ProcessKilled if the process is dead, or is killed at this step */
  #step(): void {
    if (!this.alive) throw new ProcessKilled();
    this.onStep(++this.steps);
    if (!this.alive) throw new ProcessKilled();
  }

  #foundFile(path: string): void {
    const name = basename(path);
    const found = this.machine.ledger().all();
    const file = found.find(({ record }) => fileNameOf(record.urn) === name);
    if (file) this.onFound(file.record);
  }

  #later(ms: number, run: () => void): void {
    this.ctx.timeline.after(ms, () => this.runIfAlive(run));
  }

  /** Counts the calls under way, and rejects those of a process that dies. */
  #counted(provider: Provider): Provider {
    const counted =
      <Request, T>(call: (request: Request) => Promise<T>) =>
      (request: Request) =>
        new Promise<T>((resolve, reject) => {
          const rejectAsDead = () => reject(new Error("the plugin process is dead"));
          if (!this.alive) return rejectAsDead();
          this.#rejections.add(rejectAsDead);
          const end = (answer: () => void) => {
            if (!this.alive) return;
            this.#rejections.delete(rejectAsDead);
            answer();
            if (this.#rejections.size === 0) this.#onIdle();
          };
          call(request).then(
            (value) => end(() => resolve(value)),
            (error: unknown) => end(() => reject(error)),
          );
        });
    return {
      ...provider,
      configure: counted((request) => provider.configure(request)),
      check: counted((request) => provider.check(request)),
      diff: counted((request) => provider.diff(request)),
      create: counted((request) => {
        this.#creates++;
        return provider.create(request).finally(() => this.#creates--);
      }),
      update: counted((request) => provider.update(request)),
      read: counted((request) => provider.read(request)),
      delete: counted((request) => provider.delete(request)),
    };
  }
}
