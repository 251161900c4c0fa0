/**
 * What the processes of one run tell each other. The engine has a process for each provider resource, and sends it only the calls of
 * that provider's resources. If a resource gets another provider, the Delete of its old entry comes to a process to which the program
 * has said nothing. So the processes of a run have a folder, in which each process to which a program speaks has a file of its own.
 * The process appends a line whenever it learns something, and removes the file at the end of the run.
 */
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { attempt } from "./attempt";
import { systemClock } from "./clock";
import type { ProviderContext } from "./context";
import { fingerprint } from "./fingerprint";
import { systemDisk, type Disk } from "./ledger/disk";
import { writeSubject, writeWarning } from "./ledger/ledger";
import type { Once } from "./once";
import { pulumiHome } from "./pulumi/home";
import { isStateless, stackOf } from "./pulumi/urn";

/** The first line of a file. Another version of the plugin, as after an upgrade of the SDK, may write other lines. */
interface Header {
  readonly version: number;
  /** As `stackOf` returns it. */
  readonly stack: string;
}

const version = 1;
/** How long the folder of a killed run is kept: longer than any run takes. */
const lifetimeMs = 7 * 24 * 60 * 60 * 1000;

/**
 * The folder of one run, as one of its processes reads and writes it. A disk error only means that nothing is told, with a warning of
 * what can't be written. `Line`: what a process tells of a resource. The last line counts.
 */
export class RunFolder<Line extends { readonly urn: string }> {
  readonly #disk: Disk;
  readonly #clock: Pick<ProviderContext["clock"], "date">;
  readonly #messages: ProviderContext["messages"] | undefined;
  readonly #said: Once;
  /** Undefined if the engine has no address, as in tests. */
  readonly #folder: string | undefined;
  readonly #file: string;
  #stack: string | undefined;
  #hasEnded = false;

  /** `file`: the name of this process's file, which no other process has. `said`: what the run has said already. */
  constructor(ctx: Partial<ProviderContext>, file: string, said: Once) {
    const { env = {}, engineAddress, disk = systemDisk, clock = systemClock, messages } = ctx;
    this.#messages = messages;
    this.#said = said;
    this.#disk = disk;
    this.#clock = clock;
    const address = engineAddress?.();
    const runs = join(pulumiHome(env), "compute", "runs");
    const run = fingerprint(`${hostname()} ${engineId()} ${address}`, 16);
    this.#folder = address ? join(runs, run) : undefined;
    this.#file = join(this.#folder ?? "", file);
  }

  /** Takes the stack in the URN of a CheckConfig or a Check. `pulumi do` names one that does not exist. */
  noteStack(urn: string): void {
    if (this.#stack !== undefined || urn === "" || isStateless(urn)) return;
    this.#stack = stackOf(urn);
    this.#append({ version, stack: this.#stack });
    this.#removeOld();
  }

  /** Tells the other processes of a resource. */
  tell(line: Line): void {
    if (this.#stack !== undefined) this.#append(line);
  }

  /** The stack of the program (`stackOf`). Undefined if no program runs, as in a destroy. */
  get stack(): string | undefined {
    return this.#stack ?? this.#others()[0]?.header.stack;
  }

  /** Returns what the other processes know of each resource of the program. */
  others(): Line[] {
    const told = this.#others().flatMap(({ lines }) => lines);
    return [...new Map(told.map((one) => [one.urn, one])).values()];
  }

  /** Takes back what the other processes were told. Calls that end later tell nothing. */
  end(): void {
    this.#hasEnded = true;
    if (this.#stack === undefined || this.#folder === undefined) return;
    this.#disk.remove(this.#file);
    this.#disk.removeFolder(this.#folder);
  }

  #append(line: Header | Line): void {
    const folder = this.#folder;
    if (folder === undefined || this.#hasEnded) return;
    try {
      // Another process may have removed the folder at its end.
      this.#disk.makeFolder(folder);
      this.#disk.append(this.#file, `${JSON.stringify(line)}\n`);
    } catch (error) {
      if (this.#said.markSaid(writeSubject))
        this.#messages?.warning(writeWarning(error, dirname(folder)));
    }
  }

  /** Returns what the files of the other processes have. */
  #others(): { header: Header; lines: Line[] }[] {
    const folder = this.#folder;
    if (folder === undefined) return [];
    return this.#list(folder).flatMap((path) => {
      const text = path === this.#file ? undefined : attempt(() => this.#disk.read(path));
      const [first, ...rest] = text?.split("\n") ?? [];
      const header = parse<Header>(first);
      if (header?.version !== version) return [];
      return [{ header, lines: rest.flatMap((line) => parse<Line>(line) ?? []) }];
    });
  }

  /** Removes the folders that killed runs have left. */
  #removeOld(): void {
    const folder = this.#folder;
    if (folder === undefined) return;
    const oldest = this.#clock.date().getTime() - lifetimeMs;
    for (const old of this.#list(dirname(folder))) {
      if ((attempt(() => this.#disk.stat(old)?.mtimeMs) ?? Infinity) >= oldest) continue;
      for (const file of this.#list(old)) this.#disk.remove(file);
      this.#disk.removeFolder(old);
    }
  }

  #list(folder: string): string[] {
    return (attempt(() => this.#disk.list(folder)) ?? []).map((name) => join(folder, name));
  }
}

/**
 * What tells the engine from a later one that gets the same address, beside the host: two containers may share a Pulumi home, and a
 * killed run leaves its folder. Not on Windows, where the parent may be the shell of a launcher.
 */
function engineId(): number | string {
  return process.platform === "win32" ? "" : process.ppid;
}

/** Returns what the line has. Undefined if it is not whole. */
function parse<T>(line: string | undefined): T | undefined {
  return line ? attempt(() => JSON.parse(line) as T) : undefined;
}
