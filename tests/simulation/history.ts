/** Generates histories: sequences of Pulumi runs with their programs and faults. */
import fc from "fast-check";
import { defaultProvider } from "./engine";
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
export type End = (typeof ends)[number];

const cursors = ["set", "usual", "ignored", "refused", "sorted otherwise"] as const;

export type RequestKind = "account" | "list" | "post" | "delete";

/**
 * The provider resource of a program: that of an earlier SDK, that of a later one, one that the program makes, and the same under
 * another name. What the program makes is for its first resource only.
 */
const providers = [defaultProvider, "default_0_2_0", "own", "renamed"] as const;

/** What a person types before the command. */
export interface Words {
  COMPUTE_DELETE_POLICY?: "retain" | "fail";
  COMPUTE_LEFTOVERS?: "warn" | "fail";
}

interface ScriptedFault {
  at: RequestKind;
  /** The first request of that kind that the fault applies to, counted from 0. */
  nth: number;
  times: number;
  /** As in faults.ts. */
  fault: string;
}

export interface RunPlan {
  stack: 0 | 1;
  machine: 0 | 1;
  operation: Operation;
  /** Whether an `up` goes on after an error (`--continue-on-error`). */
  continues: boolean;
  provider: (typeof providers)[number];
  /** `compute:deletePolicy`, if it is not that of the history. */
  deletePolicy: History["deletePolicy"] | undefined;
  words: Words;
  /** Another version of the program changes an input, so that instances are replaced. */
  version: number;
  /** The port for which the program waits, if the history has ports (`portSeconds`). A change replaces nothing. */
  port: number | undefined;
  timeoutSeconds: number;
  faults: ScriptedFault[];
  /** An interruption after this many steps of the plugin. */
  end: { how: End; step: number } | undefined;
  /**
   * Which saves of the state reach the backend. It may fail after the first, or get only the last
   * (PULUMI_SKIP_CHECKPOINTS).
   */
  saves: "each step" | "at the end" | "the first only";
  /** How long after the beginning of the previous run. Undefined: after its end. */
  besideAfterMs: number | undefined;
  /** Whether `pulumi cancel` lets it begin beside a run of its stack on the same machine. */
  cancelsLock: boolean;
  before: Act;
}

/**
 * What a person does before a run. "settled here": on its machine only. "twinned": the state gets a second entry of an instance, as
 * after a create that was settled elsewhere and then taken over under `--replace`.
 */
type Act =
  | "nothing"
  | "removed one"
  | "renamed one"
  | "clock ahead"
  | "clock back"
  | "settled"
  | "settled here"
  | "stopped one"
  | "broke one"
  | "twinned";

export interface History {
  /** Seeds the rest, such as latencies. */
  seed: number;
  resources: number;
  names: "generated" | "explicit";
  live: boolean;
  /** `compute:leftovers`. */
  leftovers: "warn" | "fail" | undefined;
  deletePolicy: "retain" | "fail" | "destroy";
  /**
   * How a listing goes on after its first page: by `compute:cursorParameter`, by the usual cursor without a setting, or not at all,
   * because the service ignores or refuses that cursor, or sorts its pages otherwise.
   */
  cursor: (typeof cursors)[number];
  refreshBeforeUpdate: boolean;
  listOrder: "oldest" | "newest" | "shuffled";
  /** Other instances of the token. With more than 100, only a listing with a cursor is complete. */
  otherInstances: number;
  provisioningSeconds: number;
  /** How long after its creation the port of an ACTIVE instance answers. Undefined if the program waits for no port. */
  portSeconds: number | undefined;
  /** How long after its creation an instance may be missing in listings. */
  lagSeconds: number;
  runs: RunPlan[];
  /** How many changes a person deploys in the end. */
  deployments: number;
  /** `compute:userDataInState`. With "changes", it differs from run to run. */
  userDataInState: "secret" | "hash" | "changes";
  /**
   * Whether the runs of a machine attach to one process of the plugin (PULUMI_DEBUG_PROVIDERS), one after the other, and how
   * their engines end.
   */
  attached: "no" | "with a Cancel" | "without a Cancel";
}

const faultOf = (at: RequestKind, more: Record<string, unknown>): fc.Arbitrary<ScriptedFault> =>
  fc.record({
    at: fc.constant(at),
    nth: fc.nat(at === "list" ? 4 : 1),
    times: fc.constantFrom(1, 1, 1, 2, 8),
    fault: fc.constantFrom(...Object.keys({ ...commonFaults, ...more })),
  });

/** A run meets at most one of these (faults.ts, `hidingFaults`). Only with a live token, it may come again within some seconds. */
const hiding: fc.Arbitrary<ScriptedFault> = fc.record({
  at: fc.constant("list" as const),
  nth: fc.constantFrom(0, 0, 1, 2, 3, 4),
  times: fc.constantFrom(1, 8),
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
  continues: fc.constantFrom(false, false, false, false, false, false, false, true),
  provider: fc.oneof(
    { weight: 8, arbitrary: fc.constant(defaultProvider) },
    { weight: 2, arbitrary: fc.constantFrom(...providers) },
  ),
  deletePolicy: fc.oneof(
    { weight: 8, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom("retain", "fail", "destroy") },
  ),
  words: fc.oneof(
    { weight: 8, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Words>(
        { COMPUTE_DELETE_POLICY: "retain" },
        { COMPUTE_DELETE_POLICY: "retain", COMPUTE_LEFTOVERS: "warn" },
        { COMPUTE_LEFTOVERS: "warn" },
        { COMPUTE_DELETE_POLICY: "fail" },
      ),
    },
  ),
  version: fc.constantFrom(1, 1, 1, 2),
  port: fc.constantFrom(22, 22, 22, 23, undefined),
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
  cancelsLock: fc.boolean(),
  before: fc.oneof(
    { weight: 10, arbitrary: fc.constant("nothing" as const) },
    {
      weight: 10,
      arbitrary: fc.constantFrom<Act>(
        ...(["removed one", "renamed one", "clock ahead", "clock back", "settled"] as const),
      ),
    },
    {
      weight: 4,
      arbitrary: fc.constantFrom<Act>(
        ...(["settled here", "stopped one", "broke one", "twinned"] as const),
      ),
    },
  ),
});

export const history: fc.Arbitrary<History> = fc.record({
  seed: fc.nat(),
  resources: fc.constantFrom(1, 1, 1, 2, 3),
  names: fc.constantFrom("generated", "explicit"),
  live: fc.boolean(),
  leftovers: fc.constantFrom(...([undefined, undefined, "warn", "fail"] as const)),
  deletePolicy: fc.constantFrom("retain", "fail", "destroy"),
  cursor: fc.constantFrom("set", "usual", ...cursors),
  refreshBeforeUpdate: fc.boolean(),
  listOrder: fc.constantFrom("oldest", "newest", "shuffled"),
  otherInstances: fc.oneof(
    { weight: 40, arbitrary: fc.constantFrom(0, 0, 0, 2) },
    { weight: 1, arbitrary: fc.constant(104) },
  ),
  provisioningSeconds: fc.constantFrom(0, 0, 0, 2, 2, 12, 60),
  portSeconds: fc.constantFrom(undefined, undefined, undefined, 0, 20, 90, 600),
  lagSeconds: fc.constantFrom(0, 0, 0, 0, 3, 3, 45),
  runs: fc.array(run, { minLength: 1, maxLength: 3 }),
  deployments: fc.constantFrom(0, 0, 0, 2),
  userDataInState: fc.constantFrom("secret", "hash", "changes"),
  attached: fc.constantFrom(
    ...(["no", "no", "no", "no", "no", "no", "with a Cancel", "without a Cancel"] as const),
  ),
});
