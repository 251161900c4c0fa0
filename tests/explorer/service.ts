/** Lists what may happen next to a Create call: responses, listings (also late and partial ones), and its end. */
import type { PostOutcome } from "../../provider/api/postOutcome";
import type { Existence } from "../../provider/instance/existence";
import {
  broken,
  canceled,
  cut,
  finish,
  happens,
  ledger,
  limited,
  observationOf,
  refused,
  shownIn,
  take,
  unreachable,
  unsendable,
} from "./call";
import { checkSecond, Violation } from "./invariants";
import type { Fault, Scene } from "./slice";
import { accepted, newInstance, type Instance } from "./world";

/** One thing that may happen next to a call. */
export interface Move {
  /** The step in words, for a history. */
  say: string;
  /** The fault that it costs, if any. */
  fault?: Fault;
  do: (scene: Scene) => void;
}

/** Returns what may happen next to this call. Does not change `scene`. */
export function movesOfCall(scene: Scene): Move[] {
  const { run, call } = scene;
  const moves =
    call.id === undefined || call.state.phase !== "ended" ? waiting(scene) : finishing(scene);
  if (call.state.phase === "ended" || call.state.phase === "takingOver") return moves;
  const isUnderWay = call.state.phase === "posting" && call.madeId !== undefined;
  const stop = (it: Scene) => happens(it, { kind: "stopped", why: canceled });
  if (run.canceled || run.engine === "gone") {
    // Ctrl-C ends each wait. Only a POST under way may continue for its grace period.
    if (run.canceled && !isUnderWay) return [{ say: "is stopped", do: stop }];
    if (!isUnderWay) moves.push({ say: "is stopped", do: stop });
  } else if (!isUnderWay) moves.push({ say: "times out", fault: "timeout", do: stop });
  return moves;
}

/** What may happen to a call whose instance is accepted. */
function finishing({ run }: Scene): Move[] {
  const nobody: Move = {
    say: "ends without an engine to answer",
    do: (scene) => finish(scene, false, false),
  };
  return [
    ...(run.engine === "gone" ? [nobody] : []),
    { say: "answers: ready", do: (scene) => finish(scene, true) },
    { say: "answers: unfinished", fault: "unfinished", do: (scene) => finish(scene, false) },
  ];
}

/** What may happen to a call that waits for something. */
function waiting(scene: Scene): Move[] {
  const { state } = scene.call;
  switch (state.phase) {
    case "sleeping": {
      const { then } = state;
      // A listing before the settling time is over shows nothing that a later listing does not show.
      if ("until" in then && then.phase !== "readingLedger" && (then.until ?? 0) > 0) {
        // The exception is the second of two listings that must lack an instance.
        if (!("wasMissing" in then)) return [];
      }
      return [{ say: "wakes", do: (it) => happens(it, { kind: "slept" }) }];
    }
    case "takingOver":
      return [{ say: `takes over the record ${state.record.key}`, do: take }];
    case "awaitingPermit":
      return [
        {
          say: "gets permission to send the POST",
          do: (it) => happens(it, { kind: "permitted", now: 0 }),
        },
      ];
    case "takingBaseline":
    case "renewingBaseline":
    case "searchingForRecord":
    case "searchingAfterPost":
      return looks(scene);
    case "findingInstance":
      return searches(scene, state.record.id ?? "");
    case "posting":
      return posts(scene);
    case "readingLedger":
    case "writingRecord":
    case "ended":
      throw new Error(`nothing happens to "${state.phase}"`);
  }
}

// ── Listings ─────────────────────────────────────────────────────────────────────────────────────

/** Listings that show every listed instance, and any choice of those that are not surely listed yet. */
function looks(scene: Scene): Move[] {
  const { model, world, run, call } = scene;
  const { tokenHash } = model.spec(run, call.resource).origin;
  const late = world.instances
    .filter((it) => it.alive && !it.listed && !it.overdue && it.token === tokenHash)
    .map(({ id }) => id);
  const moves: Move[] = [];
  for (let chosen = 0; chosen < 1 << late.length; chosen++) {
    const ids = late.filter((_, index) => chosen & (1 << index));
    const shown = [...shownIn(scene), ...ids];
    moves.push({
      say: `lists ${shown.join(", ") || "nothing"}`,
      do: (it) => {
        for (const instance of it.world.instances)
          if (ids.includes(instance.id)) instance.listed = true;
        happens(it, { kind: "listed", observation: observationOf(it, shown, true), now: 0 });
      },
    });
  }
  moves.push({
    say: "lists only a part, which is empty",
    fault: "partial",
    do: (it) => happens(it, { kind: "listed", observation: observationOf(it, [], false), now: 0 }),
  });
  const fails = (error: typeof broken) => (it: Scene) =>
    happens(it, { kind: "listingFailed", error, now: 0 });
  moves.push({ say: "lists: 500", fault: "listFails", do: fails(broken) });
  moves.push({ say: "lists: 400", fault: "listRefused", do: fails(refused) });
  return moves;
}

/** Results of the search for an id. That search waits for the settling time itself, and reports only what is proven. */
function searches(scene: Scene, id: string): Move[] {
  const { model, world, run, call } = scene;
  const { tokenHash } = model.spec(run, call.resource).origin;
  const instance = world.instances.find((it) => it.id === id);
  const searched =
    (existence: Existence): Move["do"] =>
    (it) =>
      happens(it, { kind: "searched", existence });
  const unproven = searched({ kind: "unproven", doubt: "listing", why: "partial" });
  const moves: Move[] = [];
  if (instance?.token !== tokenHash)
    moves.push({ say: "proves nothing, since the instance is another tenant's", do: unproven });
  else if (instance.alive) {
    const { name } = instance;
    moves.push({ say: `finds ${id}`, do: searched({ kind: "found", item: { id, name } }) });
  } else moves.push({ say: `proves ${id} gone`, do: searched({ kind: "gone", items: new Map() }) });
  moves.push({ say: "lists only a part, which is empty", fault: "partial", do: unproven });
  const failed: Move["do"] = (it) => happens(it, { kind: "listingFailed", error: broken, now: 0 });
  moves.push({ say: "lists: 500", fault: "listFails", do: failed });
  return moves;
}

// ── The POST ─────────────────────────────────────────────────────────────────────────────────────

/** What may happen to a POST: the service acts first, or answers at once. */
function posts({ call }: Scene): Move[] {
  if (call.madeId !== undefined) {
    return [
      { say: `POST: 202 ${call.madeId}`, do: (it) => answered(it, accept(it)) },
      {
        say: "POST: 500, but the service created an instance",
        fault: "500",
        do: (it) => answered(it, failed("unclear", broken)),
      },
      {
        say: "POST: the answer is cut",
        fault: "cut",
        do: (it) => answered(it, failed("unclear", cut)),
      },
    ];
  }
  const outcome =
    (postOutcome: PostOutcome, sent = true): Move["do"] =>
    (it) => {
      if (sent) send(it);
      answered(it, postOutcome);
    };
  return [
    { say: "POST: the service creates an instance", do: (it) => void make(it) },
    { say: "POST: 500, nothing created", fault: "500", do: outcome(failed("unclear", broken)) },
    { say: "POST: no answer, nothing created", fault: "cut", do: outcome(failed("unclear", cut)) },
    { say: "POST: refused", fault: "refused", do: outcome(failed("refused", refused)) },
    { say: "POST: 429", fault: "429", do: outcome(failed("rateLimited", limited), false) },
    {
      say: "POST: fails before a byte was sent",
      fault: "notSent",
      do: outcome(failed("notSent", unreachable), false),
    },
    {
      say: "POST: can't be sent",
      fault: "unsendable",
      do: outcome(failed("notSent", unsendable), false),
    },
    {
      say: "POST: no answer, and the service creates the instance much later",
      fault: "overdue",
      do: (it) => {
        make(it).overdue = true;
        answered(it, failed("unclear", cut));
      },
    },
    {
      say: "POST: 500, but the service created an instance with another name",
      fault: "renamed",
      do: (it) => {
        make(it).name = "renamed";
        answered(it, failed("unclear", broken));
      },
    },
  ];
}

function accept({ world, call }: Scene): PostOutcome {
  const id = call.madeId ?? "";
  return {
    kind: "accepted",
    accepted: accepted(id, world.instances.find((it) => it.id === id)?.name),
  };
}

function failed(
  kind: Exclude<PostOutcome["kind"], "accepted">,
  failure: typeof broken,
): PostOutcome {
  return { kind, failure };
}

function answered(scene: Scene, outcome: PostOutcome): void {
  scene.call.madeId = undefined;
  happens(scene, { kind: "posted", outcome, now: 0 });
}

function send(scene: Scene): void {
  const row = ledger(scene).find((it) => it.key === scene.call.key);
  if (!row && !scene.model.slice.noDisk)
    throw new Violation("a POST is sent that no record describes");
  if (row && ++row.sent > 2) throw new Violation("a POST is repeated more than once");
}

/** The service creates what the POST asks for. Its list shows names in lower case. */
function make(scene: Scene): Instance {
  const { model, world, run, call } = scene;
  const spec = model.spec(run, call.resource);
  const instance = newInstance(world, {
    resource: model.identity(run, call.resource),
    scope: spec.scope ?? "",
    urn: spec.urn,
    kind: spec.nameKind,
    name: spec.name.toLowerCase(),
    digest: spec.digest,
    token: spec.origin.tokenHash,
  });
  const row = ledger(scene).find((it) => it.key === call.key);
  if (row) {
    row.made = [...row.made, instance.id];
    instance.machine = model.plan(run).machine ?? 0;
  }
  send(scene);
  call.madeId = instance.id;
  world.instances.push(instance);
  checkSecond(scene, instance);
  return instance;
}
