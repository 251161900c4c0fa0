/**
 * Lists what may happen next in a world. An engine begins a run, calls the provider, saves, deletes and ends, or is
 * interrupted anywhere. People act between the runs. `explore.ts` uses this file.
 */
import { isPending } from "../../provider/ledger/record";
import { beginCall } from "./call";
import { checkDestroyed, checkImported } from "./invariants";
import { movesOfCall } from "./service";
import type { Act, Fault, Model, Plan, Scene } from "./slice";
import {
  dependsOnTime,
  newInstance,
  passTime,
  type StateEntry,
  type Row,
  type Run,
  type World,
} from "./world";

/** One step of a history. */
export interface Change {
  /** The step in words, for a history. */
  say: string;
  /** The fault that it uses up (`Slice.maxFaults`), if any. */
  fault?: Fault | undefined;
  do: (world: World) => void;
}

/** Returns everything that may happen next. */
export function changes(model: Model, world: World): Change[] {
  const all: Change[] = [];
  world.runs.forEach((run, index) => {
    all.push(...changesOfRun(model, world, run, index));
    // The engine handles one reply at a time.
    if (run.unsaved || run.retry) return;
    run.calls.forEach((call, at) => {
      const who = `${run.session}: ${model.resource(run, call.resource).resource}`;
      for (const move of movesOfCall({ model, world, run, call })) {
        all.push({
          say: `${who} ${move.say}`,
          fault: move.fault,
          do: (copy) => move.do(sceneIn(model, copy, index, at)),
        });
      }
    });
  });
  const posting = world.runs.some((run) =>
    run.calls.some(({ state }) => state.phase === "posting"),
  );
  if ((model.slice.slowPosts || !posting) && dependsOnTime(world))
    all.push({ say: "the settling time passes", do: passTime });
  if (world.instances.some((it) => it.isMadeLate)) {
    all.push({
      say: "the service acts on the late POST",
      do: (copy) => {
        for (const it of copy.instances)
          Object.assign(it, { isMadeLate: false, listed: !it.isMadeLate && it.listed });
      },
    });
  }
  all.push(...begins(model, world), ...acts(model, world));
  const { faults } = model.slice;
  return all.filter(
    ({ fault }) => fault === undefined || (world.faults > 0 && faults.includes(fault)),
  );
}

/** Returns the scene of a call in a copy of the world. The run and the call are given by their indexes. */
function sceneIn(model: Model, world: World, runIndex: number, callIndex: number): Scene {
  const run = world.runs[runIndex];
  const call = run?.calls[callIndex];
  if (!run || !call) throw new Error("no such call");
  return { model, world, run, call };
}

// ── Runs ─────────────────────────────────────────────────────────────────────────────────────────

/** Returns the beginnings of the next run, one for each of its variants. */
function begins(model: Model, world: World): Change[] {
  const { runs, together } = model.slice;
  const plans = runs[world.begun];
  if (!plans || (!together && world.runs.some(({ engine }) => engine === "alive"))) return [];
  return plans.map((plan, variant) => ({
    say: `run ${world.begun + 1} begins${describe(plan)}`,
    do: (copy) => {
      copy.runs.push({
        session: `s${copy.begun + 1}`,
        plan: [copy.begun, variant],
        engine: "alive",
        canceled: false,
        unlocked: false,
        todo: plan.program.map((_, index) => index),
        calls: [],
        unsaved: undefined,
        retry: undefined,
        retries: 0,
        made: [],
        takenOver: [],
        namedByEngine: [],
        proven: [],
        unfinished: [],
      });
      copy.begun++;
    },
  }));
}

function describe({ machine, stack, replace, token, program }: Plan): string {
  const parts = [
    machine === undefined ? "" : `on machine ${machine}`,
    stack === undefined ? "" : `of stack ${stack}`,
    replace ? "with --replace" : "",
    token ? `with token ${token}` : "",
    program.map(({ urn }) => urn.split("::").pop()).join(" and "),
  ];
  return ` (${parts.filter(Boolean).join(", ")})`;
}

/** Returns the state of the stack that the run works on. */
function stackOf(model: Model, world: World, run: Run): StateEntry[] {
  const held = world.stacks[model.plan(run).stack ?? 0];
  if (!held) throw new Error("no such stack");
  return held;
}

/** What a run may do next, and how it may be interrupted. */
function changesOfRun(model: Model, world: World, run: Run, index: number): Change[] {
  const { session } = run;
  const found: Change[] = [];
  const add = (say: string, what: (copy: World, copiedRun: Run) => void, fault?: Fault) =>
    found.push({
      say: `${session}: ${say}`,
      fault,
      do: (copy) => {
        const copiedRun = copy.runs[index];
        if (copiedRun) what(copy, copiedRun);
      },
    });
  const endRun = (copy: World, copiedRun: Run) => copy.runs.splice(copy.runs.indexOf(copiedRun), 1);

  if (run.engine === "gone") {
    add("the plugin ends", endRun);
    return found;
  }
  const { unsaved, retry } = run;
  if (unsaved) {
    add(`the engine saves ${unsaved.id}`, (copy, copiedRun) => save(model, copy, copiedRun));
    add("the engine fails to save", (_, copiedRun) => (copiedRun.unsaved = undefined), "not saved");
  } else if (retry) {
    add("the engine accepts the failure", (copy, copiedRun) => {
      copiedRun.retry = undefined;
      if (retry.id === undefined) return;
      copiedRun.unsaved = { ...retry, id: retry.id, replaces: false };
      save(model, copy, copiedRun);
    });
    if (run.retries < (model.slice.hooks ?? 0) && !run.canceled) {
      add("an error hook repeats the create", (copy, copiedRun) => {
        copiedRun.retry = undefined;
        copiedRun.retries++;
        beginCall(model, copy, copiedRun, retry.resource, retry.replaces);
      });
    }
  } else if (!run.canceled) addNextSteps(model, world, run, add);

  const busy = run.calls.length > 0;
  const idle = !busy && !unsaved && !retry;
  if (run.canceled && idle) add("the engine ends", endRun);
  // A crash matters only after something was written, sent or replied.
  const leavesTraces =
    unsaved !== undefined ||
    run.calls.some(
      ({ state }) =>
        state.wakeAt !== undefined ||
        (state.phase !== "awaitingPermit" && !(state.phase === "takingBaseline" && !state.attempt)),
    );
  if (!leavesTraces) return found;
  if (busy && !run.canceled) add("Ctrl-C", (_, copiedRun) => (copiedRun.canceled = true), "ctrl-C");
  add("Ctrl-C twice", (_, copiedRun) => leave(copiedRun, true), "ctrl-C twice");
  add("the engine is killed", (_, copiedRun) => leave(copiedRun, false), "engine killed");
  add("the runner is killed", endRun, "runner killed");
  if (busy) {
    add(
      "the next engine attaches",
      (_, copiedRun) => {
        leave(copiedRun, true);
        copiedRun.unlocked = true;
      },
      "attached anew",
    );
    add("the plugin is killed", endRun, "plugin killed");
  }
  return found;
}

/** The engine ends, and loses what it has not saved. The plugin process may continue until the settling time passes. */
function leave(run: Run, canceled: boolean): void {
  run.engine = "gone";
  run.canceled ||= canceled;
  run.unsaved = undefined;
  run.retry = undefined;
  run.todo = [];
}

/** Adds a step to those of a run. */
type Add = (say: string, what: (copy: World, copiedRun: Run) => void, fault?: Fault) => void;

/** What the engine does next on its own: create, compare, delete, or end. */
function addNextSteps(model: Model, world: World, run: Run, add: Add): void {
  const plan = model.plan(run);
  const names = run.calls.map(({ resource }) => model.spec(run, resource).name);
  for (const resource of run.todo) {
    const { resource: what } = model.resource(run, resource);
    const identity = model.identity(run, resource);
    const held = stackOf(model, world, run).find((it) => it.resource === identity && !it.old);
    const begin = (copy: World, copiedRun: Run) => {
      copiedRun.todo = copiedRun.todo.filter((it) => it !== resource);
      beginCall(model, copy, copiedRun, resource, held !== undefined);
    };
    // A session runs only one create for each instance name at a time.
    const blocked = names.includes(model.spec(run, resource).name);
    if (held === undefined) {
      if (!blocked) add(`the engine creates ${what}`, begin);
    } else if (plan.replace) {
      if (!blocked) add(`the engine replaces ${what}`, begin);
    } else if (!run.namedByEngine.includes(held.id)) {
      add(`Diff of ${what}, held as ${held.id}`, (copy, copiedRun) =>
        diff(model, copy, copiedRun, resource, held),
      );
    } else if (!blocked) {
      add(`the engine replaces ${what}, which has changed`, begin);
    }
  }
  const toDelete = stackOf(model, world, run).filter((it) => it.old);
  if (run.calls.length === 0 && run.todo.length === 0 && plan.deletePolicy !== "fail") {
    for (const { id } of toDelete)
      add(`the engine deletes ${id}`, (copy, copiedRun) => remove(model, copy, copiedRun, id));
  }
  const remaining = plan.deletePolicy === "fail" ? 0 : toDelete.length;
  if (run.calls.length === 0 && run.todo.length === 0 && remaining === 0) {
    add("the engine ends normally", (copy, copiedRun) => {
      for (const row of copy.ledgers.flat()) {
        if (row.owner === copiedRun.session && row.stage === "replied") row.stage = "delivered";
      }
      copy.runs.splice(copy.runs.indexOf(copiedRun), 1);
    });
  }
}

/**
 * Notes a call that brings an instance's outputs. Their stamp is the id of the session that made them. The stamp of
 * another session proves that a state held the instance, so its records are then settled.
 */
function noteOutputs(model: Model, world: World, run: Run, { id, stamp }: StateEntry): void {
  if (!run.namedByEngine.includes(id)) run.namedByEngine = [...run.namedByEngine, id];
  if (stamp === run.session || run.proven.includes(id)) return;
  run.proven = [...run.proven, id];
  for (const row of world.ledgers[model.plan(run).machine ?? 0] ?? []) {
    if (row.id === id && row.stage !== "settled")
      Object.assign(row, { stage: "settled", settled: "state" });
  }
}

/** The engine calls Diff. A resource without changes needs no further step. */
function diff(model: Model, world: World, run: Run, resource: number, held: StateEntry): void {
  noteOutputs(model, world, run, held);
  const { digest = "as asked" } = model.resource(run, resource);
  const changed = world.instances.find((it) => it.id === held.id)?.digest !== digest;
  if (!changed) run.todo = run.todo.filter((it) => it !== resource);
}

/** The engine saves a reply in the state. A stateless run has no state, so its instance is let go. */
function save(model: Model, world: World, run: Run): void {
  const { unsaved } = run;
  if (!unsaved) return;
  const { resource, id } = unsaved;
  run.unsaved = undefined;
  const identity = model.identity(run, resource);
  const held = stackOf(model, world, run);
  if (model.plan(run).stateless) {
    for (const it of world.instances) if (it.id === id) it.letGo = true;
    return;
  }
  for (const it of held) if (it.resource === identity) it.old = true;
  held.push({
    urn: model.resource(run, resource).urn,
    resource: identity,
    id,
    stamp: run.session,
    old: false,
  });
}

/** The engine calls Delete for a replaced instance. An instance that this run has taken over is not destroyed. */
function remove(model: Model, world: World, run: Run, id: string): void {
  const held = stackOf(model, world, run);
  const entry = held.find((it) => it.id === id && it.old);
  const instance = world.instances.find((it) => it.id === id);
  if (!entry || !instance) return;
  noteOutputs(model, world, run, entry);
  const settle = (how: "gone" | "dropped") => {
    for (const row of world.ledgers[model.plan(run).machine ?? 0] ?? []) {
      if (row.id === id) Object.assign(row, { stage: "settled", settled: how });
    }
  };
  if (model.plan(run).deletePolicy === "retain") {
    instance.letGo = true;
    settle("dropped");
  } else if (!run.takenOver.includes(id)) {
    checkDestroyed(world, run, id);
    instance.alive = false;
    settle("gone");
  }
  held.splice(held.indexOf(entry), 1);
}

// ── People ───────────────────────────────────────────────────────────────────────────────────────

/** What people may do between runs. Slices with a stranger let people act during runs, too. */
function acts(model: Model, world: World): Change[] {
  const mayActDuringRuns = model.slice.acts?.includes("stranger") === true;
  if (world.acts.length === 0 || (!mayActDuringRuns && world.runs.length > 0)) return [];
  const found: Change[] = [];
  const may = (act: Act) => world.acts.includes(act);
  const add = (act: Act, say: string, what: (copy: World) => void) =>
    found.push({
      say,
      do: (copy) => {
        copy.acts = copy.acts.filter((it) => it !== act);
        what(copy);
      },
    });
  const change = (copy: World, id: string, what: Partial<World["instances"][number]>) => {
    for (const it of copy.instances) if (it.id === id) Object.assign(it, what);
  };
  const isHeld = (id: string) => world.stacks.some((held) => held.some((it) => it.id === id));
  const [plan] = model.slice.runs[0] ?? [];
  const [first] = plan?.program ?? [];
  if (may("import") && first) {
    const resource = `${first.resource} of stack 0`;
    const free = !world.stacks[0]?.some((it) => it.resource === resource);
    for (const it of world.instances) {
      if (!free || !it.alive || !it.listed || isHeld(it.id) || it.resource !== resource) continue;
      for (const preview of [false, true]) {
        add(
          "import",
          `a person ${preview ? "previews the import of" : "imports"} ${it.id}`,
          (copy) => {
            // The engine calls Read without inputs, and may save the instance now, or after a preview.
            const rows = (copy.ledgers[0] ?? []).filter(
              (row) => isPending(row) || row.id === it.id,
            );
            const withId = rows.filter((row) => row.id === it.id);
            const hasName = (row: Row) =>
              row.id === undefined &&
              row.name.toLowerCase() === it.name &&
              !row.before.includes(it.id);
            const importedRows =
              withId.length > 0 ? withId.filter(isPending) : rows.filter(hasName).slice(0, 1);
            for (const row of importedRows) {
              checkImported(copy, row, it.id);
              Object.assign(row, { stage: "replied", id: it.id, ended: true });
            }
            if (preview) return;
            const stamp = `m${copy.begun}`;
            copy.stacks[0]?.push({ urn: first.urn, resource, id: it.id, stamp, old: false });
          },
        );
      }
    }
  }
  if (may("portal")) {
    for (const it of world.instances.filter((instance) => instance.alive && instance.listed)) {
      add("portal", `a person removes ${it.id} at the portal`, (copy) =>
        change(copy, it.id, { alive: false }),
      );
    }
  }
  if (may("state delete")) {
    for (const it of world.stacks[0] ?? []) {
      add("state delete", `a person drops ${it.id} from the state`, (copy) => {
        change(copy, it.id, { letGo: true });
        copy.stacks[0] = (copy.stacks[0] ?? []).filter(({ id }) => id !== it.id);
      });
    }
  }
  if (may("discard")) {
    for (const { key, id } of world.ledgers
      .flat()
      .filter((row) => isPending(row) && row.id !== undefined)) {
      add("discard", `a person discards the record ${key}`, (copy) => {
        for (const row of copy.ledgers.flat()) {
          if (row.key === key) Object.assign(row, { stage: "settled", settled: "discarded" });
        }
        change(copy, id ?? "", { letGo: true });
      });
    }
  }
  if (may("stranger")) {
    for (const name of ["web", "proposed-s1"]) {
      add(
        "stranger",
        `a stranger creates an instance named ${name}`,
        (copy) => void copy.instances.push(newInstance(copy, { name })),
      );
    }
  }
  if (may("wipe")) {
    add("wipe", "the disk is wiped", (copy) => {
      copy.ledgers = copy.ledgers.map(() => []);
      for (const it of copy.instances) it.recordedOnMachine = undefined;
    });
  }
  return found;
}
