/**
 * The invariant that every fault has to leave standing (G1–G3), and its figures: the instances at the
 * service are those in the state and those named to the person, and no more than were asked for.
 */
import type { World } from "./world";

/** Ids or names of what went wrong. */
export interface Findings {
  /** At the service, and neither in the state nor named to the person. */
  lost: readonly string[];
  /** Made without having been asked for, or twice in the state. */
  doubled: readonly string[];
  /** Of those that the state held before: they live, and it does not hold them any more. */
  forgotten: readonly string[];
}

export type Figures = Readonly<Record<keyof Findings, number>> & { readonly cases: number };

export class Audit {
  /** What the state held at the last look. */
  held: readonly string[] = [];
  #told = "";

  constructor(
    private readonly world: World,
    /** How many instances the programs ask for. */
    private readonly wanted: number,
  ) {}

  /** What a person got to see. */
  hears(text: string): void {
    this.#told += `${text}\n`;
  }

  /** Looks at the service, the state and what was said, `aside` included, which is not kept. */
  async look(aside = ""): Promise<Findings> {
    const { stack, service } = this.world;
    const living = service.control.instances();
    const held = (await stack.instances()).map(({ id = "", outputs }) => ({
      id,
      name: String(outputs?.["name"]),
    }));
    const told = this.#told + aside;
    const isHeld = (id: string) => held.some((it) => it.id === id);
    const requests = service.control.requests().filter(({ acted }) => acted);
    const made = requests.filter(({ method }) => method === "POST");
    const destroyed = requests.filter(({ method }) => method === "DELETE").length;
    const before = this.held;
    this.held = held.map(({ id }) => id);
    return {
      lost: living
        .filter(({ id, name }) => !isHeld(id) && !told.includes(id) && !told.includes(name))
        .map(({ id }) => id),
      doubled: [
        ...made.slice(this.wanted + destroyed).map(({ id }) => `made by ${id}`),
        ...twice(held.map(({ id }) => id)),
        ...twice(held.map(({ name }) => name)),
      ],
      forgotten: before.filter((id) => living.some((it) => it.id === id) && !isHeld(id)),
    };
  }
}

/** Adds up what several audits found. */
export function figures(cases: readonly (readonly Findings[])[]): Figures {
  // What one look has found, the next one of the same case may find again.
  const count = (which: keyof Findings) =>
    cases.reduce((sum, looks) => sum + new Set(looks.flatMap((it) => it[which])).size, 0);
  return {
    cases: cases.length,
    lost: count("lost"),
    doubled: count("doubled"),
    forgotten: count("forgotten"),
  };
}

function twice(texts: readonly string[]): string[] {
  return texts.filter((text, at) => texts.indexOf(text) !== at);
}
