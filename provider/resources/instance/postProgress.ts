/** The Info column until a create is answered: what it waits for, once that takes a second. */
import type { Surroundings } from "../../surroundings";
import { progressMs } from "./finish";

const firstMs = 1000;

export class PostProgress {
  #end = new AbortController();

  constructor(
    private readonly around: Pick<Surroundings, "clock" | "messages">,
    private readonly urn: string,
  ) {}

  /** What it does from now on. */
  is(what: string): void {
    this.stop();
    this.#end = new AbortController();
    this.#tell(what, this.#end.signal).catch(() => undefined);
  }

  /** Leaves no timer. */
  stop(): void {
    this.#end.abort();
  }

  async #tell(what: string, end: AbortSignal): Promise<void> {
    const { clock, messages } = this.around;
    const start = clock.now();
    for (let pause = firstMs; ; pause = progressMs) {
      await clock.sleep(pause, end);
      messages.status(this.urn, `${what}, ${Math.round((clock.now() - start) / 1000)} s`);
    }
  }
}
