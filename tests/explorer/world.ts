/**
 * The world of the explorer: everything that a create depends on, as plain data. A step copies the world and changes the
 * copy, and the invariants judge the result.
 *
 * Time is abstract. "Now" is always 0. The only time that passes is the settling time, after which listings surely show
 * a created instance. It is then subtracted from all other times.
 */
import type { LedgerRecord } from "../../provider/ledger/record";
import type { NameKind, State } from "../../provider/instance/protocol";

/** An instance that the service has, or that it will create late (`isMadeLate`). */
export interface Instance {
  id: string;
  /** The resource it was created for (`Model.identity`), or "a stranger's" if somebody else created it. */
  resource: string;
  /** The id of the provider resource of that create. */
  scope: string;
  urn: string;
  kind: NameKind;
  /** The name as the list shows it. */
  name: string;
  /** Stands for the inputs that it was created with. */
  digest: string;
  /** Stands for the tenant that it belongs to. */
  token: string;
  /** The machine whose ledger has its record. Undefined if no ledger has one. */
  recordedOnMachine: number | undefined;
  /** Whether it still exists. */
  alive: boolean;
  /** Whether complete listings surely show it by now. */
  listed: boolean;
  /** Whether its settling time is over. */
  settled: boolean;
  /** Whether its POST got no answer, and the service has not carried that POST out yet. No listing shows it before. */
  isMadeLate: boolean;
  /** The last session that named its id to a person. */
  namedBy: string | undefined;
  /** Whether it was given up on purpose: by a person, a Delete that retains it, or a stateless create. */
  letGo: boolean;
}

/** A record of the ledger, with the real outcome of its POST. */
export interface Row extends LedgerRecord {
  /** Whether the settling time since `at` is not over yet. */
  young: boolean;
  /** How many POSTs were sent. */
  sent: number;
  /** Ids of the instances that these POSTs created. */
  made: string[];
}

/** A resource in the state of a stack. */
export interface StateEntry {
  urn: string;
  /** Which resource a person means (`Model.identity`). */
  resource: string;
  id: string;
  /** The id of the session that created or imported it. The outputs of an instance have it. */
  stamp: string;
  /** Whether it is replaced already, and still has to be deleted. */
  old: boolean;
}

/** A Create call, from the engine's request to the provider's reply. */
export interface Call {
  /** Its index in the program. */
  resource: number;
  /** Whether the state holds an instance that the created one replaces. */
  replaces: boolean;
  state: State;
  /** The key of the record that the call updates. */
  key: string | undefined;
  /** The id of the instance that the POST under way has created. Undefined until the service has acted on it. */
  idMadeByPost: string | undefined;
  /** The id of the instance: once the protocol has accepted it, or from the start if it is known to be unfinished. */
  id: string | undefined;
  /** After an unclear POST, the ids of the instances that it can't have created. `finish` names all others. */
  before: readonly string[] | undefined;
  /** Whether it reported that its listing was not complete. */
  reportedPartial: boolean;
  /** How many whole settling times it has waited for another run's call. */
  settlingWaits: number;
  recordsWritten: number;
}

/** A run of the engine, with its session: the life of one plugin process, or of one engine in attach mode. */
export interface Run {
  /** The id of the session. */
  session: string;
  /** The index of the run in the slice, and the index of its variant. */
  plan: [number, number];
  engine: "alive" | "gone";
  /** Whether a first Cancel came while calls were under way. */
  canceled: boolean;
  /** Whether it has released its lock, although its calls may continue (attach mode). */
  unlocked: boolean;
  /** The indexes of the resources in the program that the engine still has to handle. */
  todo: number[];
  calls: Call[];
  /** A successful reply that the engine has received and not saved yet. `resource` is an index as in `Call`. */
  unsaved: { resource: number; id: string; replaces: boolean } | undefined;
  /** A failed reply, with an id if the instance is unfinished. An error hook may make the engine ask again. */
  retry: { resource: number; replaces: boolean; id: string | undefined } | undefined;
  /** How often an error hook has made the engine ask again. */
  retries: number;
  /** Ids of the instances that the session has created or taken over. */
  made: string[];
  /** Ids of the instances that the session has taken over. */
  takenOver: string[];
  /** The ids of the instances whose outputs the engine has sent in a Diff or Delete. */
  namedByEngine: string[];
  /** Ids of the instances that a state surely held. */
  proven: string[];
  /** The instances that were replied as unfinished: accepted, but not ready. */
  unfinished: { resource: number; key: string; id: string }[];
}

/** One state of the exploration. Its ledgers are those of the machines, and its stacks the states. */
export interface World {
  instances: Instance[];
  ledgers: Row[][];
  stacks: StateEntry[][];
  runs: Run[];
  begun: number;
  /** How many may still happen. */
  faults: number;
  /** What people may still do, each act once. */
  acts: string[];
}

/** The settling time. It is longer than the maximum age of a baseline. */
export const settlingMs = 60_000;

/** Copies a world so that a step can change the copy. */
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
      // No call sleeps past the settling time.
      if (name === "wakeAt") return value === undefined ? undefined : true;
      // The call has the result, too.
      if (name === "result") return undefined;
      if (value instanceof Set || value instanceof Map)
        return [...(value.keys() as Iterable<string>)];
      if (value instanceof Error) return value.message;
      return name === "record" ? (value as LedgerRecord).key : value;
    });
    stateKeys.set(state, key);
  }
  return key;
}

/** Returns a string that two worlds share only if their futures are the same. */
export function keyOf(world: World): string {
  const parts: unknown[] = [world.begun, world.faults, world.acts.join()];
  for (const it of world.instances) {
    const flags =
      (it.alive ? 1 : 0) |
      (it.listed ? 2 : 0) |
      (it.settled ? 4 : 0) |
      (it.letGo ? 8 : 0) |
      (it.isMadeLate ? 16 : 0);
    parts.push("i", it.urn, it.scope, it.name, it.digest, it.recordedOnMachine, flags, it.namedBy);
  }
  for (const rows of world.ledgers) {
    parts.push("L");
    for (const row of rows) {
      const flags = (row.ended ? 1 : 0) | (row.young ? 2 : 0) | (row.sent << 2);
      parts.push(row.key, row.owner, row.urn, row.scope, row.stage, row.id, row.settled, flags);
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
        call.idMadeByPost,
        call.id,
        call.reportedPartial,
        call.settlingWaits,
        call.recordsWritten,
        call.before?.join(),
      );
    }
  }
  return parts.join("|");
}

/** Lets the settling time pass. Every created instance is listed then, and all times are moved back. */
export function passTime(world: World): void {
  for (const it of world.instances) {
    if (it.isMadeLate) continue;
    it.settled = true;
    it.listed = true;
  }
  for (const row of world.ledgers.flat()) row.young &&= isUnderWay(world, row);
  // A plugin whose engine is gone ends before the settling time has passed.
  world.runs = world.runs.filter(({ engine }) => engine === "alive");
  for (const call of world.runs.flatMap((run) => run.calls)) {
    const { state } = call;
    if (state.wakeAt !== undefined && state.phase === "readingLedger") {
      if ((state.until ?? 0) > 0) call.settlingWaits++;
    }
    call.state = movedBack(call.state);
  }
}

/** Whether the record's POST is under way. The settling time begins only once the POST has ended. */
function isUnderWay({ runs }: World, { key }: Row): boolean {
  return runs.some(({ calls }) =>
    calls.some((call) => call.state.phase === "posting" && call.key === key),
  );
}

/** Whether anything changes when the settling time passes. */
export function dependsOnTime(world: World): boolean {
  return (
    world.instances.some((it) => it.alive && !it.settled && !it.isMadeLate) ||
    world.ledgers.some((rows) => rows.some((row) => row.young)) ||
    world.runs.some(({ engine }) => engine === "gone") ||
    world.runs.some((run) => run.calls.some(({ state }) => movedBack(state) !== state))
  );
}

/** The state, with its times moved back by the settling time. */
function movedBack(state: State): State {
  let changed: State = state;
  if ("until" in state && (state.until ?? 0) > 0) {
    changed = { ...state, until: Math.max(0, (state.until ?? 0) - settlingMs) };
  }
  if ("attempt" in state && state.attempt?.baseline.begunAt === 0) {
    const baseline = { ...state.attempt.baseline, begunAt: -settlingMs };
    changed = { ...changed, attempt: { ...state.attempt, baseline } } as State;
  }
  return changed;
}

/** Returns the next instance that the service creates. It belongs to a stranger unless `more` overrides that. */
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
    recordedOnMachine: undefined,
    alive: true,
    listed: false,
    settled: false,
    isMadeLate: false,
    namedBy: undefined,
    letGo: false,
    ...more,
  };
}
