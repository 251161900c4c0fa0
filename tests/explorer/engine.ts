/** What engines and people may do next: runs begin, ask, save, delete and end, in order or not. */
import { isPending } from "../../provider/ledger/record";
import { beginCall } from "./call";
import { checkDestroyed, checkImported } from "./invariants";
import { movesOfCall } from "./service";
import type { Act, Fault, Model, Plan, Scene } from "./slice";
import {
  isTimely,
  newInstance,
  passTime,
  type Held,
  type Row,
  type Run,
  type World,
} from "./world";

/** A step of a history: what people read, what it costs, and what it does to a copy of the world. */
export interface Change {
  say: string;
  fault?: Fault | undefined;
  do: (w: World) => void;
}

/** Everything that may happen next. */
export function changes(m: Model, w: World): Change[] {
  const all: Change[] = [];
  w.runs.forEach((run, index) => {
    all.push(...changesOfRun(m, w, run, index));
    // The engine deals with one reply after another.
    if (run.unsaved || run.retry) return;
    run.calls.forEach((call, at) => {
      const who = `${run.session}: ${m.resource(run, call.resource).resource}`;
      for (const move of movesOfCall({ m, w, run, call })) {
        all.push({
          say: `${who} ${move.say}`,
          fault: move.fault,
          do: (copy) => move.do(sceneIn(m, copy, index, at)),
        });
      }
    });
  });
  const posting = w.runs.some((run) => run.calls.some(({ state }) => state.phase === "posting"));
  if ((m.slice.slowPosts || !posting) && isTimely(w))
    all.push({ say: "the settling time passes", do: passTime });
  if (w.instances.some((it) => it.overdue)) {
    all.push({
      say: "the service carries the late POST out",
      do: (copy) => {
        for (const it of copy.instances)
          Object.assign(it, { overdue: false, listed: !it.overdue && it.listed });
      },
    });
  }
  all.push(...begins(m, w), ...acts(m, w));
  const { faults } = m.slice;
  return all.filter(({ fault }) => fault === undefined || (w.faults > 0 && faults.includes(fault)));
}

function sceneIn(m: Model, w: World, run: number, call: number): Scene {
  const its = w.runs[run];
  const the = its?.calls[call];
  if (!its || !the) throw new Error("no such call");
  return { m, w, run: its, call: the };
}

// ── Runs ─────────────────────────────────────────────────────────────────────────────────────────

function begins(m: Model, w: World): Change[] {
  const { runs, together } = m.slice;
  const plans = runs[w.begun];
  if (!plans || (!together && w.runs.some(({ engine }) => engine === "alive"))) return [];
  return plans.map((plan, variant) => ({
    say: `run ${w.begun + 1} begins${describe(plan)}`,
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

function stackOf(m: Model, w: World, run: Run): Held[] {
  const held = w.stacks[m.plan(run).stack ?? 0];
  if (!held) throw new Error("no such stack");
  return held;
}

function changesOfRun(m: Model, w: World, run: Run, index: number): Change[] {
  const { session } = run;
  const found: Change[] = [];
  const add = (say: string, what: (copy: World, its: Run) => void, fault?: Fault) =>
    found.push({
      say: `${session}: ${say}`,
      fault,
      do: (copy) => {
        const its = copy.runs[index];
        if (its) what(copy, its);
      },
    });
  const gone = (copy: World, its: Run) => copy.runs.splice(copy.runs.indexOf(its), 1);

  if (run.engine === "gone") {
    add("the plugin ends", gone);
    return found;
  }
  const { unsaved, retry } = run;
  if (unsaved) {
    add(`the engine saves ${unsaved.id}`, (copy, its) => save(m, copy, its));
    add("the engine fails to save", (_, its) => (its.unsaved = undefined), "not saved");
  } else if (retry) {
    add("the engine takes the failure", (copy, its) => {
      its.retry = undefined;
      if (retry.id === undefined) return;
      its.unsaved = { ...retry, id: retry.id, replaces: false };
      save(m, copy, its);
    });
    if (run.retries < (m.slice.hooks ?? 0) && !run.canceled) {
      add("an error hook asks again", (copy, its) => {
        its.retry = undefined;
        its.retries++;
        beginCall(m, copy, its, retry.resource, retry.replaces);
      });
    }
  } else if (!run.canceled) addNextSteps(m, w, run, add);

  const busy = run.calls.length > 0;
  const idle = !busy && !unsaved && !retry;
  if (run.canceled && idle) add("the engine ends", gone);
  // Crashes only where something has just shown outside.
  const visible =
    unsaved !== undefined ||
    run.calls.some(
      ({ state: { phase } }) => phase !== "takingBaseline" && phase !== "awaitingPermit",
    );
  if (!visible) return found;
  if (busy && !run.canceled) add("Ctrl-C", (_, its) => (its.canceled = true), "ctrl-C");
  add("Ctrl-C twice", (_, its) => leave(its, true), "ctrl-C twice");
  add("the engine is killed", (_, its) => leave(its, false), "engine killed");
  add("the runner is killed", gone, "runner killed");
  if (busy) {
    add(
      "attached anew",
      (_, its) => {
        leave(its, true);
        its.unlocked = true;
      },
      "attached anew",
    );
    add("the plugin is killed", gone, "plugin killed");
  }
  return found;
}

/** The engine goes, and what it had not saved; the plugin lives on for a while. */
function leave(run: Run, canceled: boolean): void {
  run.engine = "gone";
  run.canceled ||= canceled;
  run.unsaved = undefined;
  run.retry = undefined;
  run.todo = [];
}

type Add = (say: string, what: (copy: World, its: Run) => void, fault?: Fault) => void;

/** What the engine does next on its own: create, compare, delete, or end. */
function addNextSteps(m: Model, w: World, run: Run, add: Add): void {
  const plan = m.plan(run);
  const names = run.calls.map(({ resource }) => m.spec(run, resource).name);
  for (const resource of run.todo) {
    const { resource: what } = m.resource(run, resource);
    const identity = m.identity(run, resource);
    const held = stackOf(m, w, run).find((it) => it.resource === identity && !it.old);
    const begin = (copy: World, its: Run) => {
      its.todo = its.todo.filter((it) => it !== resource);
      beginCall(m, copy, its, resource, held !== undefined);
    };
    // One create of a name at a time.
    const blocked = names.includes(m.spec(run, resource).name);
    if (held === undefined) {
      if (!blocked) add(`the engine creates ${what}`, begin);
    } else if (plan.replace) {
      if (!blocked) add(`the engine replaces ${what}`, begin);
    } else if (!run.namedByEngine.includes(held.id)) {
      add(`Diff of ${what}, held as ${held.id}`, (copy, its) => diff(m, copy, its, resource, held));
    } else if (!blocked) {
      add(`the engine replaces ${what}, which has changed`, begin);
    }
  }
  const doomed = stackOf(m, w, run).filter((it) => it.old);
  if (run.calls.length === 0 && run.todo.length === 0 && plan.deletePolicy !== "fail") {
    for (const { id } of doomed)
      add(`the engine deletes ${id}`, (copy, its) => remove(m, copy, its, id));
  }
  const rest = plan.deletePolicy === "fail" ? 0 : doomed.length;
  if (run.calls.length === 0 && run.todo.length === 0 && rest === 0) {
    add("ends in good order", (copy, its) => {
      for (const row of copy.ledgers.flat()) {
        if (row.owner === its.session && row.stage === "replied") row.stage = "delivered";
      }
      copy.runs.splice(copy.runs.indexOf(its), 1);
    });
  }
}

/** Outputs with the stamp of an earlier session prove that a state held the instance. */
function carry(m: Model, w: World, run: Run, { id, stamp }: Held): void {
  if (!run.namedByEngine.includes(id)) run.namedByEngine = [...run.namedByEngine, id];
  if (stamp === run.session || run.proven.includes(id)) return;
  run.proven = [...run.proven, id];
  for (const row of w.ledgers[m.plan(run).machine ?? 0] ?? []) {
    if (row.id === id && row.stage !== "settled")
      Object.assign(row, { stage: "settled", settled: "state" });
  }
}

function diff(m: Model, w: World, run: Run, resource: number, held: Held): void {
  carry(m, w, run, held);
  const { digest = "as asked" } = m.resource(run, resource);
  const changed = w.instances.find((it) => it.id === held.id)?.digest !== digest;
  if (!changed) run.todo = run.todo.filter((it) => it !== resource);
}

function save(m: Model, w: World, run: Run): void {
  const { unsaved } = run;
  if (!unsaved) return;
  const { resource, id } = unsaved;
  run.unsaved = undefined;
  const identity = m.identity(run, resource);
  const held = stackOf(m, w, run);
  if (m.plan(run).stateless) {
    for (const it of w.instances) if (it.id === id) it.letGo = true;
    return;
  }
  for (const it of held) if (it.resource === identity) it.old = true;
  held.push({
    urn: m.resource(run, resource).urn,
    resource: identity,
    id,
    stamp: run.session,
    old: false,
  });
}

function remove(m: Model, w: World, run: Run, id: string): void {
  const held = stackOf(m, w, run);
  const entry = held.find((it) => it.id === id && it.old);
  const instance = w.instances.find((it) => it.id === id);
  if (!entry || !instance) return;
  carry(m, w, run, entry);
  const settle = (how: "gone" | "dropped") => {
    for (const row of w.ledgers[m.plan(run).machine ?? 0] ?? []) {
      if (row.id === id) Object.assign(row, { stage: "settled", settled: how });
    }
  };
  if (m.plan(run).deletePolicy === "retain") {
    instance.letGo = true;
    settle("dropped");
  } else if (!run.takenOver.includes(id)) {
    checkDestroyed(w, run, id);
    instance.alive = false;
    settle("gone");
  }
  held.splice(held.indexOf(entry), 1);
}

// ── People ───────────────────────────────────────────────────────────────────────────────────────

function acts(m: Model, w: World): Change[] {
  const amid = m.slice.acts?.includes("stranger") === true;
  if (w.acts.length === 0 || (!amid && w.runs.length > 0)) return [];
  const found: Change[] = [];
  const may = (act: Act) => w.acts.includes(act);
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
  const isHeld = (id: string) => w.stacks.some((held) => held.some((it) => it.id === id));
  const [plan] = m.slice.runs[0] ?? [];
  const [first] = plan?.program ?? [];
  if (may("import") && first) {
    const resource = `${first.resource} of stack 0`;
    const free = !w.stacks[0]?.some((it) => it.resource === resource);
    for (const it of w.instances) {
      if (!free || !it.alive || !it.listed || isHeld(it.id) || it.resource !== resource) continue;
      for (const preview of [false, true]) {
        add(
          "import",
          `a person ${preview ? "previews the import of" : "imports"} ${it.id}`,
          (copy) => {
            // Read without inputs: the engine may have it now, or in the real import after a preview.
            const rows = (copy.ledgers[0] ?? []).filter(
              (row) => isPending(row) || row.id === it.id,
            );
            const known = rows.filter((row) => row.id === it.id);
            const like = (row: Row) =>
              row.id === undefined &&
              row.name.toLowerCase() === it.name &&
              !row.before.includes(it.id);
            const meant =
              known.length > 0 ? known.filter(isPending) : rows.filter(like).slice(0, 1);
            for (const row of meant) {
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
    for (const it of w.instances.filter((instance) => instance.alive && instance.listed)) {
      add("portal", `a person removes ${it.id} at the portal`, (copy) =>
        change(copy, it.id, { alive: false }),
      );
    }
  }
  if (may("state delete")) {
    for (const it of w.stacks[0] ?? []) {
      add("state delete", `a person drops ${it.id} from the state`, (copy) => {
        change(copy, it.id, { letGo: true });
        copy.stacks[0] = (copy.stacks[0] ?? []).filter(({ id }) => id !== it.id);
      });
    }
  }
  if (may("discard")) {
    for (const { key, id } of w.ledgers
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
        `a stranger makes one named ${name}`,
        (copy) => void copy.instances.push(newInstance(copy, { name })),
      );
    }
  }
  if (may("wipe")) {
    add("wipe", "the disk is wiped", (copy) => {
      copy.ledgers = copy.ledgers.map(() => []);
      for (const it of copy.instances) it.machine = undefined;
    });
  }
  return found;
}
