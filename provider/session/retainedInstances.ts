/** The instances that "retain" (`compute:deletePolicy`) lets run, which the end of a run names. */
import { bulleted, type SettingPlaces } from "../advice";
import type { ProviderContext } from "../context";
import { logicalName } from "../pulumi/urn";

/** An instance that "retain" lets run: a Delete has dropped it from the state, or a preview has shown that the `up` replaces it. */
interface Retained {
  readonly id: string;
  readonly urn: string;
  readonly isBilled: boolean;
  /** Whether it still exists. Otherwise that is not known. */
  readonly isListed: boolean;
  /** Whether the program decided that, although this process has the recorded settings of another provider. */
  readonly isOfProgram?: boolean | undefined;
}

/** The retained instances of one run. */
export class RetainedInstances {
  readonly #ctx: ProviderContext;
  readonly #places: SettingPlaces;
  /** By id, the instances that the run has not named yet. */
  readonly #unnamed = new Map<string, Retained>();
  /** The engine is asked once. */
  #showsLastMessages: Promise<boolean> | undefined;

  constructor(ctx: ProviderContext, places: SettingPlaces) {
    this.#ctx = ctx;
    this.#places = places;
  }

  /** Notes an instance. The end of the run names the instance, or this call if the engine would not show it then. */
  async note(instance: Retained): Promise<void> {
    this.#unnamed.set(instance.id, instance);
    this.#showsLastMessages ??= this.#ctx.showsLastMessages?.() ?? Promise.resolve(true);
    if (!(await this.#showsLastMessages)) this.report();
  }

  /** Names the instances that are billed, each by its id, and the number of the others, which cost nothing. */
  report(): void {
    const all = [...this.#unnamed.values()];
    this.#unnamed.clear();
    const { engine, variables } = this.#places;
    const billed = all.filter(({ isBilled }) => isBilled);
    const isRecorded = engine.kind === "recorded" && !billed.some(({ isOfProgram }) => isOfProgram);
    const from = isRecorded ? " in the settings that the last `pulumi up` recorded" : "";
    // The end of a run that changes something names a variable.
    const why = variables.deletePolicy ? "" : ` (compute:deletePolicy is "retain"${from})`;
    const lines = billed.map(
      ({ id, urn, isListed }) =>
        `${id} (${logicalName(urn)})${isListed ? "" : ", if it still exists"}`,
    );
    if (billed.length > 0)
      this.#ctx.messages.warning([
        `these instances are not destroyed${why}. They go on running, and are billed until they are removed at the service:`,
        ...bulleted(lines),
      ]);
    const others = all.length - billed.length;
    if (others > 0)
      this.#ctx.messages.info(
        `${others} ${others === 1 ? "instance is" : "instances are"} not destroyed (in the sandbox until its lifetime is over)`,
      );
  }
}
