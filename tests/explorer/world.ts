/**
 * The world of the explorer: everything that a create depends on, as plain data. A state of the
 * exploration is one such world; a move copies it, changes the copy, and is judged by its invariants.
 *
 * Time is abstract: "now" is always 0, and once the settling time passes, all times move back by it.
 */
import type { Accepted } from "../../provider/api/postOutcome";
import type { LedgerRecord } from "../../provider/ledger/record";
import type { NameKind, State } from "../../provider/instance/protocol";

/** An instance at the service. */
export interface Instance {
  id: string;
  /** The resource it was made for, by what a person means by it; "a stranger's" for none of ours. */
  resource: string;
  scope: string;
  urn: string;
  kind: NameKind;
  /** As the list shows it. */
  name: string;
  digest: string;
  token: string;
  /** Whose ledger has its record; undefined once that is wiped. */
  machine: number | undefined;
  alive: boolean;
  /** Whether the list shows it by now. */
  listed: boolean;
  /** Whether its settling time is over. */
  settled: boolean;
  /** Made by a POST without an answer, which the service carries out after the settling time. */
  overdue: boolean;
  /** The last session that told of its id. */
  namedBy: string | undefined;
  /** A person or a Delete let it go, knowingly. */
  letGo: boolean;
}

/** A ledger's record, and what really became of its POST. */
export interface Row extends LedgerRecord {
  /** The settling time since `at` is not over. */
  young: boolean;
  /** How many POSTs of it have left. */
  sent: number;
  made: string[];
}

/** What a stack's state holds. */
export interface Held {
  urn: string;
  resource: string;
  id: string;
  stamp: string;
  /** Replaced, and still to be deleted. */
  old: boolean;
}

/** A Create call, from the engine's request to the provider's reply. */
export interface Call {
  /** Index in the program. */
  resource: number;
  replaces: boolean;
  state: State;
  /** The record that the driver moves on. */
  key: string | undefined;
  /** What the POST under way has made. */
  acted: string | undefined;
  /** The instance, once accepted. */
  id: string | undefined;
  /** What could not come of an unclear POST: for the last look. */
  before: readonly string[] | undefined;
  /** It told that its listing was partial. */
  toldPartial: boolean;
  /** How often it has waited for another run's call as long as it may. */
  waits: number;
  /** How many records it has begun. */
  begins: number;
}

/** A run of the engine with its session of the plugin. */
export interface Run {
  session: string;
  /** Which of the slice's runs, and which variant of it. */
  plan: [number, number];
  engine: "alive" | "gone";
  /** The first Cancel came amid calls. */
  canceled: boolean;
  /** Its lock is given up, though calls may go on (attach mode). */
  unlocked: boolean;
  /** Resources that the engine has not come to yet. */
  todo: number[];
  calls: Call[];
  /** A reply that the engine has and has not saved. */
  unsaved: { resource: number; id: string; replaces: boolean } | undefined;
  /** A reply without an id, or an unfinished one, that an error hook may answer by asking again. */
  retry: { resource: number; replaces: boolean; id: string | undefined } | undefined;
  retries: number;
  made: string[];
  takenOver: string[];
  /** Ids that a call of this session named. */
  namedByEngine: string[];
  proven: string[];
  unfinished: { resource: number; key: string; id: string }[];
}

export interface World {
  instances: Instance[];
  /** One for each machine. */
  ledgers: Row[][];
  /** One for each stack. */
  stacks: Held[][];
  runs: Run[];
  /** How many runs have begun. */
  begun: number;
  faults: number;
  /** What people may still do, each once. */
  acts: string[];
}

/** The settling time; longer than a baseline may be old. */
export const settlingMs = 60_000;

export function copyOf(world: World): World {
  return {
    ...world,
    instances: world.instances.map((it) => ({ ...it })),
    ledgers: world.ledgers.map((rows) => rows.map((row) => ({ ...row }))),
    stacks: world.stacks.map((held) => held.map((it) => ({ ...it }))),
    runs: world.runs.map((run) => ({ ...run, calls: run.calls.map((call) => ({ ...call })) })),
  };
}

const stateKeys = new WeakMap<State, string>();

function keyOfState(state: State): string {
  let key = stateKeys.get(state);
  if (key === undefined) {
    key = JSON.stringify(state, (name, value: unknown) => {
      // No call sleeps past the settling time, and the call itself has what it ended with.
      if (name === "wakeAt" || name === "result") return undefined;
      if (value instanceof Set) return [...(value as Set<string>)];
      if (value instanceof Error) return value.message;
      return name === "record" ? (value as LedgerRecord).key : value;
    });
    stateKeys.set(state, key);
  }
  return key;
}

/** A text that two worlds share only if they are the same. */
export function keyOf(world: World): string {
  const parts: unknown[] = [world.begun, world.faults, world.acts.join()];
  for (const it of world.instances) {
    const marks =
      (it.alive ? 1 : 0) |
      (it.listed ? 2 : 0) |
      (it.settled ? 4 : 0) |
      (it.letGo ? 8 : 0) |
      (it.overdue ? 16 : 0);
    parts.push("i", it.urn, it.scope, it.name, it.digest, it.machine, marks, it.namedBy);
  }
  for (const rows of world.ledgers) {
    parts.push("L");
    for (const row of rows) {
      const marks = (row.ended ? 1 : 0) | (row.young ? 2 : 0) | (row.sent << 2);
      parts.push(row.key, row.owner, row.urn, row.scope, row.stage, row.id, row.settled, marks);
      parts.push(row.made.join(), row.before.join());
    }
  }
  for (const held of world.stacks) {
    parts.push("S");
    for (const it of held) parts.push(it.urn, it.id, it.stamp, it.old);
  }
  for (const run of world.runs) {
    parts.push(
      "R",
      run.session,
      run.plan.join(),
      run.engine,
      run.canceled,
      run.unlocked,
      run.todo.join(),
    );
    parts.push(run.unsaved?.id, run.unsaved?.resource, run.unsaved?.replaces);
    parts.push(run.retry?.resource, run.retry?.id, run.retries);
    parts.push(run.made.join(), run.takenOver.join(), run.namedByEngine.join(), run.proven.join());
    for (const { resource, id } of run.unfinished) parts.push(resource, id);
    for (const call of run.calls) {
      parts.push("c", call.resource, call.replaces, keyOfState(call.state), call.key);
      parts.push(
        call.acted,
        call.id,
        call.toldPartial,
        call.waits,
        call.begins,
        call.before?.join(),
      );
    }
  }
  return parts.join("|");
}

/** The settling time passes: what is made by now is listed, and every moment is that much further back. */
export function passTime(world: World): void {
  for (const it of world.instances) {
    if (it.overdue) continue;
    it.settled = true;
    it.listed = true;
  }
  for (const row of world.ledgers.flat()) row.young &&= isUnderWay(world, row);
  // The grace of a plugin whose engine is gone is shorter than the settling time.
  world.runs = world.runs.filter(({ engine }) => engine === "alive");
  for (const call of world.runs.flatMap((run) => run.calls)) {
    const { state } = call;
    if (state.phase === "sleeping" && state.then.phase === "readingLedger") {
      if ((state.then.until ?? 0) > 0) call.waits++;
    }
    call.state = earlier(call.state);
  }
}

/** How long a POST may take is no part of the settling time. */
function isUnderWay({ runs }: World, { key }: Row): boolean {
  return runs.some(({ calls }) =>
    calls.some((call) => call.state.phase === "posting" && call.key === key),
  );
}

/** Whether anything waits for the settling time. */
export function isTimely(world: World): boolean {
  return (
    world.instances.some((it) => it.alive && !it.settled && !it.overdue) ||
    world.ledgers.some((rows) => rows.some((row) => row.young)) ||
    world.runs.some(({ engine }) => engine === "gone") ||
    world.runs.some((run) => run.calls.some(({ state }) => earlier(state) !== state))
  );
}

function earlier(state: State): State {
  if (state.phase === "sleeping") {
    const then = earlier(state.then);
    return then === state.then ? state : { ...state, then };
  }
  let changed: State = state;
  if ("until" in state && (state.until ?? 0) > 0) {
    changed = { ...state, until: Math.max(0, (state.until ?? 0) - settlingMs) };
  }
  if ("attempt" in state && state.attempt.baseline.begunAt === 0) {
    const baseline = { ...state.attempt.baseline, begunAt: -settlingMs };
    changed = { ...changed, attempt: { ...state.attempt, baseline } } as State;
  }
  return changed;
}

export function accepted(id: string, name?: string): Accepted {
  return { id, name, networks: [] };
}

/** The next instance that the service makes: a stranger's, unless `more` says otherwise. */
export function newInstance({ instances }: World, more: Partial<Instance>): Instance {
  return {
    id: `i${instances.length}`,
    resource: "a stranger's",
    scope: "",
    urn: "",
    kind: "explicit",
    name: "",
    digest: "as asked",
    token: "one",
    machine: undefined,
    alive: true,
    listed: false,
    settled: false,
    overdue: false,
    namedBy: undefined,
    letGo: false,
    ...more,
  };
}
