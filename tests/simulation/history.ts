/**
 * The generator of histories. A history is a sequence of Pulumi runs with their programs and faults, generated from
 * a seed.
 */
import fc from "fast-check";
import { commonFaults, hidingFaults, listFaults, postFaults } from "./faults";

const operations = ["up", "up --replace", "preview", "refresh", "destroy"] as const;
type Operation = (typeof operations)[number];

const ends = [
  "Ctrl-C",
  "Ctrl-C twice",
  "plugin killed",
  "engine killed",
  "runner killed",
  "power cut",
  "machine gone",
] as const;
/** How a run is interrupted. */
export type End = (typeof ends)[number];

/** The kinds of request that a fault can apply to. */
export type RequestKind = "account" | "list" | "post" | "delete";

interface ScriptedFault {
  at: RequestKind;
  /** The first request of that kind that the fault applies to, counted from 0. */
  nth: number;
  /** The number of requests that the fault applies to. */
  times: number;
  /** The name of the fault, as in faults.ts. */
  fault: string;
}

/** One run of a history. */
export interface RunPlan {
  stack: 0 | 1;
  machine: 0 | 1;
  operation: Operation;
  /** The version of the program. Another version changes an input, so that instances are replaced. */
  version: number;
  timeoutSeconds: number;
  faults: ScriptedFault[];
  /** The interruption, after this many steps of the plugin. Undefined if the run is not interrupted. */
  end: { how: End; step: number } | undefined;
  /**
   * Which saves of the state reach the backend. "the first only": the backend fails after the first save. "at the end":
   * only the last save does, as with PULUMI_SKIP_CHECKPOINTS.
   */
  saves: "each step" | "at the end" | "the first only";
  /** How long after the beginning of the previous run this run begins. Undefined if it waits for the end of that run. */
  besideAfterMs: number | undefined;
  /** What a person does before this run: at the portal of the service, or to the clocks. */
  before: "nothing" | "removed one" | "renamed one" | "clock ahead" | "clock back";
}

/** A history: the settings of its world, and its runs. */
export interface History {
  /** Seeds everything else that is random in the history, such as latencies. */
  seed: number;
  /** The number of resources in the programs. */
  resources: number;
  names: "generated" | "explicit";
  /** Whether the token is a live one. */
  live: boolean;
  /** The setting `compute:leftovers`. */
  leftovers: "warn" | "fail";
  deletePolicy: "retain" | "fail" | "destroy";
  /** Whether `compute:cursorParameter` is set, with which a listing has more than one page. */
  hasCursor: boolean;
  listOrder: "oldest" | "newest" | "shuffled";
  /** The number of other instances of the token. If more than 100, no listing without a cursor is complete. */
  otherInstances: number;
  provisioningSeconds: number;
  /** The longest time between the creation of an instance and the first listing that shows it. */
  lagSeconds: number;
  runs: RunPlan[];
}

/** Generates faults of one kind of request. */
const faultOf = (at: RequestKind, more: Record<string, unknown>): fc.Arbitrary<ScriptedFault> =>
  fc.record({
    at: fc.constant(at),
    nth: fc.nat(at === "list" ? 4 : 1),
    times: fc.constantFrom(1, 1, 1, 2, 8),
    fault: fc.constantFrom(...Object.keys({ ...commonFaults, ...more })),
  });

/** Faults that hide an instance. A run has at most one of them (faults.ts, `hidingFaults`). */
const hiding: fc.Arbitrary<ScriptedFault> = fc.record({
  at: fc.constant("list" as const),
  nth: fc.nat(4),
  times: fc.constant(1),
  fault: fc.constantFrom(...Object.keys(hidingFaults)),
});

const anyFault = fc.oneof(
  { weight: 4, arbitrary: faultOf("post", postFaults) },
  { weight: 3, arbitrary: faultOf("list", listFaults) },
  { weight: 1, arbitrary: hiding },
  { weight: 1, arbitrary: faultOf("account", {}) },
  { weight: 1, arbitrary: faultOf("delete", {}) },
);

const run: fc.Arbitrary<RunPlan> = fc.record({
  stack: fc.constantFrom(0, 0, 0, 1),
  machine: fc.constantFrom(0, 0, 1),
  operation: fc.constantFrom("up", "up", "up", "up", ...operations),
  version: fc.constantFrom(1, 1, 1, 2),
  timeoutSeconds: fc.constantFrom(200, 200, 200, 30, 100),
  faults: fc
    .array(anyFault, { maxLength: 2 })
    .filter((all) => all.filter(({ fault }) => fault in hidingFaults).length < 2),
  end: fc.option(
    fc.record({
      how: fc.constantFrom(...ends),
      step: fc.oneof(fc.nat(60), fc.nat(200)),
    }),
    { freq: 2, nil: undefined },
  ),
  saves: fc.constantFrom("each step", "each step", "each step", "at the end", "the first only"),
  besideAfterMs: fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.nat(6000) },
  ),
  before: fc.constantFrom(
    ...(["nothing", "nothing", "nothing", "nothing", "nothing", "removed one"] as const),
    ...(["renamed one", "clock ahead", "clock back"] as const),
  ),
});

/** Generates histories. */
export const history: fc.Arbitrary<History> = fc.record({
  seed: fc.nat(),
  resources: fc.constantFrom(1, 1, 1, 2, 3),
  names: fc.constantFrom("generated", "explicit"),
  live: fc.boolean(),
  leftovers: fc.constantFrom("warn", "warn", "fail"),
  deletePolicy: fc.constantFrom("retain", "fail", "destroy"),
  hasCursor: fc.boolean(),
  listOrder: fc.constantFrom("oldest", "newest", "shuffled"),
  otherInstances: fc.oneof(
    { weight: 40, arbitrary: fc.constantFrom(0, 0, 0, 2) },
    { weight: 1, arbitrary: fc.constant(104) },
  ),
  provisioningSeconds: fc.constantFrom(0, 0, 0, 2, 2, 12, 60),
  lagSeconds: fc.constantFrom(0, 0, 0, 0, 3, 3, 45),
  runs: fc.array(run, { minLength: 1, maxLength: 3 }),
});
