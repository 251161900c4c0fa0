/**
 * The world of the explorer: everything that a create depends on, as plain data. A step copies the world and changes the
 * copy, and the invariants judge the result.
 *
 * Time is abstract. "Now" is always 0. The only time that passes is the settling time, after which listings surely show
 * a created instance. It is then subtracted from all other times.
 */
import type { LedgerRecord } from "../../provider/ledger/record";
import type { NameKind, State } from "../../provider/create/protocol";
import {
  settlingMs,
  type Act,
  type Fault,
  type Model,
  type Planned,
  type PlannedRun,
} from "./slice";

/** An instance that the service has, or that it will create late (`isMadeLate`). */
export interface Instance {
  id: string;
  /** The resource it was created for (`Planned.identity`), or "a stranger's" if somebody else created it. */
  resource: string;
  /** The id of the provider resource of that create. */
  scope: string;
  urn: string;
  kind: NameKind;
  /** The name as the list shows it. */
  name: string;
  /** Stands for the inputs that it was created with. */
  digest: string;
  /** Stands for the token that it was created with, and the tenant that it belongs to (`tenantOf`). */
  tokenHash: string;
  tenant: string;
  /** Whether it still exists. */
  alive: boolean;
  /** Whether complete listings surely show it by now. */
  listed: boolean;
  /** Whether its settling time is over. */
  settled: boolean;
  /** Whether its POST got no answer, and the service has not carried that POST out yet. No listing shows it before. */
  isMadeLate: boolean;
  /** Whether it was made late. */
  wasMadeLate: boolean;
  /** Whether a call has seen it ready. */
  isReady: boolean;
  /** The machine on which its create ran. */
  machine: number;
  /** Whether the file is gone although no state has it: the disk was wiped, or an engine has not saved, or saved over it. */
  isUnsaved: boolean;
  /** The last session that named its id to a person. */
  namedBy: string | undefined;
  /** The ids of the others of its resource that its create has let run, with the same tag. A person has answered for them. */
  passed: string[];
  /** Whether it was given up on purpose: by a person, a Delete that retains it, or a stateless create. */
  letGo: boolean;
}

/** A file of the ledger, with the real outcome of its POST. */
export interface Row extends LedgerRecord {
  /** Whether the settling time since `at` is not over yet. */
  young: boolean;
  /** The session that has set `at`. */
  by?: string;
  /** Whether a POST has reached the service. */
  sent: boolean;
  /** Ids of the instances that this POST created. */
  made: string[];
}

/** A resource in the state of a stack. */
export interface StateEntry {
  urn: string;
  /** Which resource a person means (`Planned.identity`). */
  resource: string;
  id: string;
  /** The id of the session that created or imported it. The outputs of an instance have it. */
  stamp: string;
  /** Whether it is replaced already, and still has to be deleted. */
  old: boolean;
  /** The provider resource whose process gets the calls about it. */
  provider: string;
  /** Whether its last call was answered as unfinished. */
  isUnfinished: boolean;
  /** The ids about which the next create does not ask. */
  known: readonly string[];
}

/** A call or a reply that a process of a run has seen, for the real `Engine`. */
export interface Heard {
  provider: string;
  urn: string;
  /** "check anew" is a Check without old inputs. "hold" is a Create, or the reply to one or to an Update. */
  what: "check" | "check anew" | "diff" | "hold";
  /** In a "hold", it is empty while a Create is under way, and if that has failed without one. */
  id?: string;
  isUnfinished?: boolean;
  known?: readonly string[];
}

/** A Create call, from the engine's request to the provider's reply. */
export interface Call extends Asked {
  state: State;
  /** The id of the instance that the POST under way has created. Undefined until the service has acted on it. */
  idMadeByPost: string | undefined;
  /** The id of the instance: once the protocol has accepted it, or from the start if it is known to be unfinished. */
  id: string | undefined;
  /** About which instances the next create of its resource does not ask, once the protocol has accepted this one. */
  known: readonly string[];
  /** Whether it reported that its listing was not complete. */
  reportedPartial: boolean;
  /** Whether it has waited for another run's call. */
  hasWaited: boolean;
  /** How many whole settling times it has waited for another run's call. */
  settlingWaits: number;
  recordsWritten: number;
  /** How many POSTs have reached the service. */
  sent: number;
}

/** What the engine asks for in a Create call. */
export interface Asked {
  planned: Planned;
  /** Whether the state holds an instance that the created one replaces. */
  replaces: boolean;
}

/** The reply to a Create call. */
export interface Replied extends Asked {
  id: string;
  known: readonly string[];
}

/** A run of the engine, with its session: the life of one plugin process, or of one engine in attach mode. */
export interface Run {
  /** The id of the session. */
  session: string;
  plan: PlannedRun;
  engine: "alive" | "gone";
  /** Whether a first Cancel came while calls were under way. */
  canceled: boolean;
  /** Whether it has released its lock, although its calls may continue (attach mode). */
  unlocked: boolean;
  /** The state as this engine has it. Each save writes all of it, over what another engine has saved. */
  snapshot: StateEntry[];
  /** The resources of the program that the engine still has to handle. */
  todo: Planned[];
  calls: Call[];
  /** A successful reply that the engine has received and not saved yet. */
  unsaved: Replied | undefined;
  /** A failed reply, with an id if the instance is unfinished. An error hook may make the engine ask again. */
  retry: (Omit<Replied, "id"> & { id: string | undefined }) | undefined;
  /** How often an error hook has made the engine ask again. */
  retries: number;
  /** Ids of the instances that the session has created or taken over. */
  made: string[];
  /** What its processes have seen, by the URN, and then in order. */
  heard: Heard[];
  /** The ids of the instances whose Delete has failed. */
  refused: string[];
  /** The ids of the instances whose outputs the engine has sent in a Diff or Delete. */
  shown: string[];
  /** By the resource, what a Diff has shown of its instance. */
  before: Record<string, Pick<StateEntry, "id" | "known">>;
  /** Those of them whose outputs had the stamp of another session. */
  stamped: { id: string; urn: string; stamp: string }[];
  /** The instances that were replied as unfinished: accepted, but not ready. */
  unfinished: { planned: Planned; id: string; known: readonly string[] }[];
  /** Its records, if the ledger can't be written (`Slice.noDisk`). */
  memory: Row[];
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
  acts: Act[];
  /** Whether the fault "lists nothing" goes on, or that or "lapse" is over. */
  lapse?: "now" | "over";
}

/** A run in a world. */
export interface RunScene {
  model: Model;
  world: World;
  run: Run;
}

/** A call of a run in a world. */
export interface Scene extends RunScene {
  call: Call;
}

/** One step of a history. `do` changes a copy of the world, or a run or call in it. */
export interface Change<Place> {
  /** The step in words, for a history. */
  say: string;
  /** The fault that it uses up (`Slice.maxFaults`), if any. */
  fault?: Fault | undefined;
  do: (place: Place) => void;
}

/** Copies a world so that a step can change the copy. */
export function copyOf(world: World): World {
  return {
    ...world,
    instances: world.instances.map((instance) => ({ ...instance })),
    ledgers: world.ledgers.map((rows) => rows.map((row) => ({ ...row }))),
    stacks: world.stacks.map((held) => held.map((entry) => ({ ...entry }))),
    runs: world.runs.map((run) => ({
      ...run,
      snapshot: run.snapshot.map((entry) => ({ ...entry })),
      calls: run.calls.map((call) => ({ ...call })),
      memory: run.memory.map((row) => ({ ...row })),
    })),
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
      return value;
    });
    stateKeys.set(state, key);
  }
  return key;
}

/** Returns a string that two worlds share only if their futures are the same. */
export function keyOf(world: World): string {
  const runs = world.runs.map(({ calls, ...run }) => [
    run,
    calls.map(({ state, ...call }) => [keyOfState(state), call]),
  ]);
  return JSON.stringify({ ...world, runs });
}

/** The records that this run sees. */
export function ledgerOf({ slice }: Model, world: World, { plan, memory }: Run): Row[] {
  return slice.noDisk || plan.stateless ? memory : (world.ledgers[plan.machine] as Row[]);
}

/** Saves the engine's state. What only another engine has saved is lost with that. */
export function saveSnapshot(world: World, { plan, snapshot }: Run): void {
  for (const { id } of world.stacks[plan.stack] ?? []) {
    const instance = instanceOf(world, id);
    if (instance && !snapshot.some((entry) => entry.id === id)) instance.isUnsaved = true;
  }
  world.stacks[plan.stack] = snapshot.map((entry) => ({ ...entry }));
}

export function instanceOf(world: World, id: string | undefined): Instance | undefined {
  return world.instances.find((instance) => instance.id === id);
}

/** Lets the settling time pass. Every created instance is listed then, and all times are moved back. */
export function passTime(world: World): void {
  for (const instance of world.instances) {
    if (instance.isMadeLate) continue;
    instance.settled = true;
    instance.listed = true;
  }
  const rows = [...world.ledgers.flat(), ...world.runs.flatMap(({ memory }) => memory)];
  for (const row of rows) row.young &&= isUnderWay(world, row);
  if (world.lapse === "now") world.lapse = "over";
  // A plugin whose engine is gone ends before the settling time has passed.
  world.runs = world.runs.filter(({ engine }) => engine === "alive");
  for (const call of world.runs.flatMap((run) => run.calls)) {
    const { state } = call;
    if (state.wakeAt !== undefined && state.phase === "claiming") {
      if ((state.waiting?.until ?? 0) > 0) call.settlingWaits++;
    }
    call.state = movedBack(call.state);
  }
}

/** Whether the record's POST is under way. The settling time begins only once the POST has ended. */
function isUnderWay({ runs }: World, { urn, session }: Row): boolean {
  return runs.some(
    (run) =>
      run.session === session &&
      run.calls.some(({ state, planned }) => state.phase === "posting" && planned.urn === urn),
  );
}

/** The state, with its times moved back by the settling time. */
function movedBack(state: State): State {
  let changed: State = state;
  if (state.phase === "claiming" && state.waiting) {
    const until = Math.max(0, state.waiting.until - settlingMs);
    changed = { ...state, waiting: { ...state.waiting, until } };
  }
  if (state.phase === "takingOver" && state.listedBy > 0) changed = { ...state, listedBy: 0 };
  if (state.phase === "searching") {
    const { question, provesAt = 0, ...series } = state.witness;
    const first = series.firstLacking && { ...series.firstLacking, endedAt: -settlingMs };
    const lacking = first && { firstLacking: first, provesAt: Math.max(0, provesAt - settlingMs) };
    const witness = { question: { ...question, listedBy: 0 }, ...series, ...lacking };
    changed = { ...state, witness };
  }
  if ("attempt" in state && state.attempt?.baseline.begunAt === 0) {
    const baseline = { ...state.attempt.baseline, begunAt: -settlingMs };
    changed = { ...changed, attempt: { ...state.attempt, baseline } } as State;
  }
  return changed;
}

/** The tenant of a token: "one" for "one", and for the rotated token "one#2". */
export function tenantOf(tokenHash: string): string {
  return tokenHash.split("#", 1)[0] ?? "";
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
    tokenHash: "one",
    tenant: "one",
    alive: true,
    listed: false,
    settled: false,
    isMadeLate: false,
    wasMadeLate: false,
    isReady: false,
    machine: 0,
    isUnsaved: false,
    namedBy: undefined,
    passed: [],
    letGo: false,
    ...more,
  };
}
