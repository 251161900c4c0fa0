/**
 * Lists what may happen next in a world. An engine begins a run, calls the provider, saves, deletes and ends, or is
 * interrupted anywhere. People act between the runs. `explore.ts` uses this file.
 */
import { isNamed } from "../../provider/evidence/witness";
import { stackOf } from "../../provider/pulumi/urn";
import { beginCall, fileOf, foundIn, hear, noteNamed, remove as removeRow } from "./call";
import { stepOfDelete } from "./delete";
import { checkDestroyed, checkNamedAtEnd } from "./invariants";
import { movesOfCall } from "./service";
import type { Act, Fault, Model, Planned, PlannedRun } from "./slice";
import {
  instanceOf,
  ledgerOf,
  newInstance,
  passTime,
  saveSnapshot,
  tenantOf,
  type Replied,
  type Call,
  type Change,
  type Row,
  type Run,
  type RunScene,
  type StateEntry,
  type World,
} from "./world";

/** Returns everything that may happen next. */
export function changes(model: Model, world: World): Change<World>[] {
  const all: Change<World>[] = [];
  world.runs.forEach((run, index) => {
    const inCopy = (copy: World): RunScene => ({
      model,
      world: copy,
      run: copy.runs[index] as Run,
    });
    for (const { say, fault, do: act } of changesOfRun({ model, world, run }))
      all.push({ say: `${run.session}: ${say}`, fault, do: (copy) => act(inCopy(copy)) });
    // The engine handles one reply at a time.
    if (run.unsaved || run.retry) return;
    run.calls.forEach((call, at) => {
      const who = `${run.session}: ${call.planned.resource}`;
      for (const { say, fault, do: act } of movesOfCall({ model, world, run, call })) {
        const inCall = (scene: RunScene) => ({ ...scene, call: scene.run.calls[at] as Call });
        all.push({ say: `${who} ${say}`, fault, do: (copy) => act(inCall(inCopy(copy))) });
      }
    });
  });
  const calls = world.runs.flatMap((run) => run.calls);
  const mayPass = model.slice.slowPosts || !calls.some(({ state }) => state.phase === "posting");
  if (mayPass) all.push({ say: "the settling time passes", do: passTime });
  if (world.instances.some((instance) => instance.isMadeLate))
    all.push({ say: "the service acts on the late POST", do: actLate });
  all.push(...begins(model, world), ...acts(model, world));
  const { faults } = model.slice;
  return all.filter(
    ({ fault }) => fault === undefined || (world.faults > 0 && faults.includes(fault)),
  );
}

function actLate({ instances }: World): void {
  for (const instance of instances) {
    instance.listed &&= !instance.isMadeLate;
    instance.isMadeLate = false;
  }
}

// ── Runs ─────────────────────────────────────────────────────────────────────────────────────────

/** Returns the beginnings of the next run, one for each of its variants. */
function begins({ slice, runs }: Model, world: World): Change<World>[] {
  const plans = runs[world.begun];
  const isBusy = world.runs.some(({ engine }) => engine === "alive");
  if (!plans || (!slice.together && isBusy)) return [];
  return plans
    .filter(({ alone }) => !alone || !isBusy)
    .map((plan) => ({
      say: `run ${world.begun + 1} begins${describe(plan)}`,
      do: (copy) =>
        void copy.runs.push({
          session: `s${++copy.begun}`,
          plan,
          engine: "alive",
          canceled: false,
          unlocked: false,
          snapshot: (copy.stacks[plan.stack] ?? []).map((entry) => ({ ...entry })),
          todo: plan.program,
          calls: [],
          unsaved: undefined,
          retry: undefined,
          retries: 0,
          made: [],
          heard: [],
          refused: [],
          shown: [],
          before: {},
          stamped: [],
          unfinished: [],
          memory: [],
        }),
    }));
}

function describe({ machine, stack, replace, token, program }: PlannedRun): string {
  const parts = [
    machine === 0 ? "" : `on machine ${machine}`,
    stack === 0 ? "" : `of stack ${stack}`,
    replace ? "with --replace" : "",
    token ? `with token ${token}` : "",
    program.map(({ urn }) => urn.split("::").pop()).join(" and "),
  ];
  return ` (${parts.filter(Boolean).join(", ")})`;
}

/** What a run may do next, and how it may be interrupted. */
function changesOfRun(scene: RunScene): Change<RunScene>[] {
  const { model, run } = scene;
  const { unsaved, retry } = run;
  if (run.engine === "gone") return [{ say: "the plugin ends", do: endRun }];
  const found: Change<RunScene>[] = [];
  const add = (say: string, act: (copy: RunScene) => void, fault?: Fault) =>
    found.push({ say, fault, do: act });
  if (unsaved) {
    add(`the engine saves ${unsaved.id}`, (copy) => save(copy, unsaved));
    const loseIt = (copy: RunScene) => {
      change(copy.world, unsaved.id, { isUnsaved: true });
      copy.run.unsaved = undefined;
    };
    add("the engine fails to save", loseIt, "not saved");
  } else if (retry) {
    const { id } = retry;
    add("the engine accepts the failure", (copy) => {
      copy.run.retry = undefined;
      if (id !== undefined) save(copy, { ...retry, id });
    });
    if (run.retries < (model.slice.hooks ?? 0) && !run.canceled) {
      add("an error hook repeats the create", (copy) => {
        copy.run.retry = undefined;
        copy.run.retries++;
        beginCall(copy, retry);
      });
    }
  } else if (!run.canceled) found.push(...nextSteps(scene));

  const isBusy = run.calls.length > 0;
  if (run.canceled && !isBusy && !unsaved && !retry)
    add("the engine ends", (copy) => {
      nameWhatIsLeft(copy);
      endRun(copy);
    });
  // A crash matters only after something was written, sent or replied.
  const isWithoutTrace = ({ state }: Call) =>
    state.wakeAt === undefined &&
    (state.phase === "awaitingPermit" || (state.phase === "takingBaseline" && !state.attempt));
  if (!unsaved && run.calls.every(isWithoutTrace)) return found;
  if (isBusy && !run.canceled) add("Ctrl-C", (copy) => (copy.run.canceled = true), "ctrl-C");
  add("Ctrl-C twice", (copy) => leave(copy.run, true), "ctrl-C twice");
  add("the engine is killed", (copy) => leave(copy.run, false), "engine killed");
  add("the runner is killed", endRun, "runner killed");
  if (!isBusy) return found;
  const attachAnew = ({ run: left }: RunScene) => {
    leave(left, true);
    left.unlocked = true;
  };
  add("the next engine attaches", attachAnew, "attached anew");
  add("the plugin is killed", endRun, "plugin killed");
  return found;
}

function endRun({ world, run }: RunScene): void {
  world.runs = world.runs.filter((other) => other !== run);
}

/** The engine ends, and loses what it has not saved. The plugin process may continue until the settling time passes. */
function leave(run: Run, canceled: boolean): void {
  run.engine = "gone";
  run.canceled ||= canceled;
  run.unsaved = undefined;
  run.retry = undefined;
  run.todo = [];
}

/** What the engine does next on its own: create, compare, delete, or end. */
function nextSteps({ world, run }: RunScene): Change<RunScene>[] {
  const { replace, deletePolicy } = run.plan;
  const state = run.snapshot;
  const found = run.todo.flatMap((planned): Change<RunScene>[] => {
    const { resource, identity } = planned;
    const held = state.find((entry) => entry.resource === identity && !entry.old);
    if (held && !replace && !run.shown.includes(held.id)) {
      const say = `Diff of ${resource}, held as ${held.id}`;
      return [{ say, do: (copy) => diff(copy, planned, held) }];
    }
    if (held && !replace && isAsked(world, planned, held)) return updates(planned, held);
    // The Diff has refused a replacement whose Delete would fail.
    const isRefused = deletePolicy === "fail" && instanceOf(world, held?.id)?.alive === true;
    if (isRefused && !replace)
      return [{ say: `Diff of ${resource} refuses`, do: (copy) => drop(copy, planned) }];
    const begin = (copy: RunScene) => {
      drop(copy, planned);
      hear(copy.run, { what: "check anew", urn: planned.urn });
      beginCall(copy, { planned, replaces: held !== undefined });
    };
    const verb = held ? "replaces" : "creates";
    return [
      {
        say: `the engine ${verb} ${resource}${held && !replace ? ", which has changed" : ""}`,
        do: begin,
      },
    ];
  });
  if (run.calls.length > 0 || run.todo.length > 0) return found;
  const toDelete = state.filter((entry) => entry.old && !run.refused.includes(entry.id));
  for (const { id } of toDelete)
    found.push({ say: `the engine deletes ${id}`, do: (copy) => remove(copy, id) });
  if (toDelete.length > 0) return found;
  found.push({ say: "the engine ends normally", do: endNormally });
  const isSaved = JSON.stringify(world.stacks[run.plan.stack]) === JSON.stringify(run.snapshot);
  if (isSaved) return found;
  const saveAndEnd = (copy: RunScene) => {
    saveSnapshot(copy.world, copy.run);
    endNormally(copy);
  };
  return [...found, { say: "the engine saves its state and ends normally", do: saveAndEnd }];
}

/** Does what the ledger does at the end of a run in order. */
function endNormally(scene: RunScene): void {
  const { model, world, run } = scene;
  for (const row of [...ledgerOf(model, world, run)])
    if (model.rules.endsInOrder(row, run.session)) removeRow(scene, row);
  nameWhatIsLeft(scene);
  endRun(scene);
}

/** Ends the doubt about what the run was shown, and names what other runs have left in doubt. */
function nameWhatIsLeft(scene: RunScene): void {
  const { model, world, run } = scene;
  const { endsDoubt, isIdle, isNamedAtEnd } = model.rules;
  const [first] = run.plan.program;
  const ending = { scope: run.plan.scope, stack: stackOf(first?.urn ?? "") };
  for (const row of [...ledgerOf(model, world, run)]) {
    const found = foundIn(scene, row);
    if (found.liveness !== "dead") continue;
    const namesakes = namesakesOf(scene, row);
    const isShown = run.stamped.some((shown) => endsDoubt(found, shown, run.session, namesakes));
    if (isShown || isIdle(found.record)) removeRow(scene, row);
    else if (isNamedAtEnd(found.record, ending))
      for (const id of row.id === undefined ? row.made : [row.id]) noteNamed(scene, id);
  }
  checkNamedAtEnd(scene);
}

/** Returns what a complete listing after the settling time shows of the record's name. */
function namesakesOf({ world, run }: RunScene, { name, young }: Row): Set<string> | undefined {
  if (young || name === undefined) return undefined;
  const tenant = tenantOf(run.plan.program[0]?.spec.identity.tokenHash ?? "");
  const namesakes = world.instances.filter(
    (one) => one.alive && one.listed && one.tenant === tenant && isNamed(one.name, name),
  );
  return new Set(namesakes.map(({ id }) => id));
}

/**
 * Notes a call that brings an instance's outputs. Their stamp is the id of the session that made them. The stamp of
 * another session proves that a state held the instance.
 */
function noteOutputs(scene: RunScene, { id, stamp }: StateEntry, urn: string): void {
  const { model, run } = scene;
  if (!run.shown.includes(id)) run.shown = [...run.shown, id];
  if (stamp === run.session || run.stamped.some((other) => other.id === id)) return;
  const shown = { id, urn, stamp };
  run.stamped = [...run.stamped, shown];
  const row = fileOf(scene, urn);
  if (row && model.rules.endsDoubt(foundIn(scene, row), shown, run.session)) removeRow(scene, row);
}

/** The engine calls Diff. A resource without changes needs no further step. */
function diff(scene: RunScene, planned: Planned, held: StateEntry): void {
  const { world, run } = scene;
  noteOutputs(scene, held, planned.urn);
  const { urn } = planned;
  const { id, isUnfinished, known } = held;
  run.before = { ...run.before, [planned.identity]: { id, known } };
  hear(run, { what: "check", urn });
  hear(run, { what: "diff", urn, id, isUnfinished, known });
  if (isAsked(world, planned, held) && !isUnfinished) keep(scene, planned, held, {});
}

/** Whether the instance is as the program asks for. */
function isAsked(world: World, { digest }: Planned, { id }: StateEntry): boolean {
  return instanceOf(world, id)?.digest === digest;
}

/** The engine calls Update for an unfinished instance, which then is ready or not. */
function updates(planned: Planned, held: StateEntry): Change<RunScene>[] {
  const { id, known } = held;
  const update = (isUnfinished: boolean) => (scene: RunScene) => {
    hear(scene.run, { what: "hold", urn: planned.urn, id, isUnfinished, known });
    if (!isUnfinished) change(scene.world, id, { isReady: true });
    keep(scene, planned, held, { isUnfinished });
  };
  const say = `the engine updates ${planned.resource}`;
  return [
    { say: `${say}: ready`, do: update(false) },
    { say: `${say}: unfinished`, fault: "unfinished", do: update(true) },
  ];
}

/** The resource keeps its instance, with the provider that the program gives it. */
function keep(
  scene: RunScene,
  planned: Planned,
  held: StateEntry,
  more: Partial<StateEntry>,
): void {
  const { run } = scene;
  const { provider } = run.plan;
  const { urn } = planned;
  run.snapshot = run.snapshot.map((entry) =>
    entry.id === held.id && !entry.old ? { ...entry, urn, provider, ...more } : entry,
  );
  drop(scene, planned);
}

/** The engine has nothing more to do for the resource. */
function drop({ run }: RunScene, planned: Planned): void {
  run.todo = run.todo.filter((other) => other !== planned);
}

/** The engine saves a reply in the state. A stateless run has no state, so its instance is let go. */
function save({ world, run }: RunScene, { planned, id, known }: Replied): void {
  run.unsaved = undefined;
  if (run.plan.stateless) return change(world, id, { letGo: true });
  const { urn, identity: resource } = planned;
  for (const entry of run.snapshot) entry.old ||= entry.resource === resource;
  const { provider } = run.plan;
  const isUnfinished = instanceOf(world, id)?.isReady !== true;
  const stamp = run.session;
  run.snapshot.push({ urn, resource, id, stamp, old: false, provider, isUnfinished, known });
  saveSnapshot(world, run);
}

/** The engine calls Delete for a replaced instance, or for the second entry of one. */
function remove(scene: RunScene, id: string): void {
  const { world, run } = scene;
  const state = run.snapshot;
  const index = state.findIndex((entry) => entry.id === id && entry.old);
  const entry = state[index] as StateEntry;
  const step = stepOfDelete(scene, entry);
  noteOutputs(scene, entry, entry.urn);
  switch (step) {
    case "leave":
    case "succeed":
      break;
    case "retain":
      change(world, id, { letGo: true });
      break;
    case "destroy":
      checkDestroyed(scene, entry);
      change(world, id, { alive: false });
      break;
    case "look":
    case "refuse":
    case "refuseWhileNeeded":
      run.refused = [...run.refused, id];
      return;
  }
  state.splice(index, 1);
  saveSnapshot(world, run);
}

function change(world: World, id: string | undefined, what: Partial<World["instances"][number]>) {
  Object.assign(instanceOf(world, id) ?? {}, what);
}

// ── People ───────────────────────────────────────────────────────────────────────────────────────

/** What people may do between runs. Slices with a stranger let people act during runs, too. */
function acts(model: Model, world: World): Change<World>[] {
  const mayActDuringRuns = model.slice.acts?.includes("stranger") === true;
  if (!mayActDuringRuns && world.runs.length > 0) return [];
  return world.acts.flatMap((act) =>
    possibleActs[act](world, model).map(({ say, do: perform }) => ({
      say,
      do: (copy: World) => {
        copy.acts = copy.acts.filter((other) => other !== act);
        perform(copy);
      },
    })),
  );
}

const possibleActs: Record<Act, (world: World, model: Model) => Change<World>[]> = {
  import: imports,
  portal: ({ instances }) =>
    instances
      .filter(({ alive, listed }) => alive && listed)
      .map(({ id }) => ({
        say: `a person removes ${id} at the portal`,
        do: (copy) => change(copy, id, { alive: false }),
      })),
  "state delete": ({ stacks: [state = []] }) =>
    state.map(({ id }) => ({
      say: `a person drops ${id} from the state`,
      do: (copy) => {
        change(copy, id, { letGo: true });
        copy.stacks[0] = copy.stacks[0]?.filter((entry) => entry.id !== id) ?? [];
      },
    })),
  twin: ({ stacks: [state = []] }) =>
    state
      .filter(({ old }) => !old)
      .map((entry) => ({
        say: `the state gets a second entry of ${entry.id}`,
        do: (copy) => void copy.stacks[0]?.unshift({ ...entry, old: true }),
      })),
  settle: ({ ledgers }) =>
    ledgers.flat().some(({ at }) => at !== undefined)
      ? [{ say: "a person settles what is in doubt", do: settleAll }]
      : [],
  stranger: () =>
    ["web", "proposed-s1"].map((name) => ({
      say: `a stranger creates an instance named ${name}`,
      do: (copy) => void copy.instances.push(newInstance(copy, { name })),
    })),
  wipe: () => [
    {
      say: "the disk is wiped",
      do: (copy) => {
        copy.ledgers = copy.ledgers.map(() => []);
        for (const instance of copy.instances) instance.isUnsaved = true;
      },
    },
  ],
};

/** What a person has brought into a state. */
const byHand = { old: false, provider: "provider", isUnfinished: false, known: [] };

/** A person imports an instance of the first resource, if its state has none. */
function imports({ instances, stacks }: World, { runs }: Model): Change<World>[] {
  const planned = runs[0]?.[0]?.program[0];
  if (!planned) return [];
  const { identity, urn } = planned;
  if (stacks[0]?.some((entry) => entry.resource === identity)) return [];
  const isHeld = (id: string) => stacks.flat().some((entry) => entry.id === id);
  const importable = instances.filter(
    (instance) =>
      instance.alive && instance.listed && !isHeld(instance.id) && instance.resource === identity,
  );
  return importable.flatMap(({ id }) => [
    {
      say: `a person imports ${id}`,
      do: (copy) => {
        const stamp = `m${copy.begun}`;
        // An import knows nothing of an earlier answer.
        change(copy, id, { isReady: true, passed: [] });
        copy.stacks[0]?.push({ ...byHand, urn, resource: identity, id, stamp });
      },
    },
  ]);
}

/** Puts each instance that a record's POST has made into the state of its stack, unless a state has it. The records go. */
function settleAll(world: World): void {
  for (const rows of world.ledgers) {
    for (const row of [...rows]) {
      if (row.at === undefined) continue;
      const [id] = row.made.filter((made) => instanceOf(world, made)?.alive);
      const instance = instanceOf(world, id);
      // Before the settling time, nothing proves that there is none.
      if ((!instance && row.young) || instance?.isMadeLate) continue;
      rows.splice(rows.indexOf(row), 1);
      if (!instance || world.stacks.flat().some((entry) => entry.id === id)) continue;
      const state = world.stacks[Number(/stack (\d)/.exec(instance.resource)?.[1] ?? 0)] ?? [];
      const { urn, resource, kind } = instance;
      const replaced = state.filter((entry) => entry.resource === resource);
      const known = [
        ...(kind === "generated" ? row.before : []),
        ...replaced.flatMap((entry) => [entry.id, ...entry.known]),
      ];
      for (const entry of replaced) entry.old = true;
      const answered = replaced.flatMap(({ id }) => [id, ...(instanceOf(world, id)?.passed ?? [])]);
      instance.passed = [...instance.passed, ...answered];
      const stamp = `m${world.begun}`;
      state.push({ ...byHand, urn, resource, id: instance.id, stamp, isUnfinished: true, known });
    }
  }
}
