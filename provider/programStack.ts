/** The stack whose program an engine runs, as far as the processes of the plugin know it. */
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { attempt } from "./attempt";
import type { ProviderContext } from "./context";
import { fingerprint } from "./fingerprint";
import { systemDisk, type Disk } from "./ledger/disk";
import { pulumiHome } from "./pulumiHome";
import { isStateless, stackOf } from "./urn";

/**
 * The stack that a CheckConfig or a Check has named. The engine sends these only for a program or an import. It has a process for
 * each provider resource, also for one that only the state has, and that process gets neither call. So the process that knows the
 * stack tells the others, in a file that is named after the engine and goes at the end of the run.
 */
export class ProgramStack {
  readonly #disk: Disk;
  /** Undefined if the engine has no address, as in tests. */
  readonly #file: string | undefined;
  #known: string | undefined;

  constructor({ env, engineAddress, disk = systemDisk }: ProviderContext) {
    this.#disk = disk;
    const address = engineAddress?.();
    // Two containers may share a Pulumi home. Of a killed run, the file stays, and a later engine may have its address.
    const name = address && fingerprint(`${hostname()} ${process.ppid} ${address}`, 16);
    this.#file = name && join(pulumiHome(env), "compute", "runs", name);
  }

  /** Takes the stack in the URN of a CheckConfig or a Check. `pulumi do` names one that does not exist. */
  note(urn: string): void {
    if (this.#known !== undefined || urn === "" || isStateless(urn)) return;
    this.#known = stackOf(urn);
    if (!this.#file) return;
    try {
      this.#disk.makeFolder(dirname(this.#file));
      this.#disk.replace(this.#file, this.#known);
    } catch {
      // The other processes then know of no program, as in a destroy.
    }
  }

  /** Returns the stack (`stackOf`). Undefined if no program runs, as in a destroy. */
  get(): string | undefined {
    const file = this.#file;
    return this.#known ?? (file ? attempt(() => this.#disk.read(file)) : undefined);
  }

  /** Takes back what the other processes were told. */
  end(): void {
    if (this.#known !== undefined && this.#file) this.#disk.remove(this.#file);
  }
}
