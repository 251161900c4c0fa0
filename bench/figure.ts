/** A figure: something of ours beside the same thing of a peer, or beside a physical limit. */
import { spread, type Spread } from "./statistics";

export const partNames = ["waiting", "limit", "refresh", "startup", "throughput"] as const;
export type PartName = (typeof partNames)[number];

export type Unit = "ms" | "s" | "requests" | "requests/s" | "MB" | "kB";

export interface Figure {
  /** What is measured, in a reader's words: "up of 90 instances". */
  what: string;
  unit: Unit;
  ours: Spread;
  /** What it is held against: a peer, or the limit. */
  against: string;
  theirs: Spread;
  /** Ours over theirs, by the medians. */
  ratio: number;
  /** The ratio that issue and design ask for, at the most. */
  aim?: number;
}

/** What a part could not measure, and why: a peer that is not on this machine. */
interface Missing {
  what: string;
  why: string;
}

export interface PartResult {
  figures: Figure[];
  missing: Missing[];
}

export interface Results {
  /** What the figures are of, as far as it matters to them. */
  machine: { cores: number; memoryGB: number; platform: string; node: string; pulumi: string };
  date: string;
  quick: boolean;
  parts: Partial<Record<PartName, PartResult>>;
}

export interface Comparison extends Pick<Figure, "what" | "unit" | "against"> {
  ours: readonly number[];
  theirs: readonly number[];
  aim?: number;
}

export function figure({ ours, theirs, ...rest }: Comparison): Figure {
  const [mine, other] = [spread(ours), spread(theirs)];
  return { ...rest, ours: mine, theirs: other, ratio: mine.median / other.median };
}

/** A whole run of the engine, or of Terraform. */
interface WholeRun {
  wall: number;
  requests: number;
}

/** Time and requests beside a dynamic provider, and beside Terraform where there is one; `names` say what these do. */
export function besidePeers(
  what: string,
  runs: Record<"ours" | "dynamic" | "terraform", readonly WholeRun[]>,
  names: { dynamic: string; terraform: string },
): PartResult {
  const compare = (what: string, unit: Unit, peer: keyof typeof names, of: keyof WholeRun) => {
    const [ours, theirs] = [runs.ours, runs[peer]].map((them) => them.map((run) => run[of]));
    return figure({ what, unit, against: names[peer], ours: ours ?? [], theirs: theirs ?? [] });
  };
  const measured = (["dynamic", "terraform"] as const).filter((peer) => runs[peer].length > 0);
  return {
    figures: measured.flatMap((peer) => [
      compare(what, "s", peer, "wall"),
      compare(`${what}: requests`, "requests", peer, "requests"),
    ]),
    missing: measured.includes("terraform")
      ? []
      : [{ what: `${what}: ${names.terraform}`, why: "no terraform on PATH" }],
  };
}

export function amount(value: number, unit: Unit): string {
  return `${round(value)} ${unit}`;
}

/** Three digits say all that a measurement does. */
export function round(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}
