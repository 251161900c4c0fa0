/** Lists what a Create call may meet next: responses, listings (also late and partial ones), and its end. */
import type { PostOutcome } from "../../provider/api/postOutcome";
import type { Event } from "../../provider/instance/protocol";
import type { Existence } from "../../provider/instance/existence";
import {
  continueWith,
  failures,
  finish,
  ledger,
  observationOf,
  shownIn,
  takeOver,
  wakeUp,
} from "./call";
import { checkIsOnlyInstance, Violation } from "./invariants";
import type { Fault, Scene } from "./slice";
import { newInstance, type Instance } from "./world";

/** One thing that a Create call may meet next. */
export interface Move {
  /** The step in words, for a history. */
  say: string;
  /** The fault that it uses up (`Slice.maxFaults`), if any. */
  fault?: Fault | undefined;
  do: (scene: Scene) => void;
}

/** Returns what this Create call may meet next. Does not change `scene`. */
export function movesOfCall(scene: Scene): Move[] {
  const { run, call } = scene;
  // In the phase "ended", the protocol has ended, but the reply is still to come.
  const moves = call.state.phase === "ended" ? movesBeforeReply(scene) : movesOfProtocol(scene);
  if (call.state.phase === "ended" || call.state.phase === "takingOver") return moves;
  const hasServiceActed = call.state.phase === "posting" && call.idMadeByPost !== undefined;
  const stop = (it: Scene) => continueWith(it, { kind: "stopped", why: new Error("canceled") });
  if (run.canceled || run.engine === "gone") {
    // Ctrl-C ends each wait. Only a POST on which the service has acted may continue for its grace period. Before
    // that, the POST counts as not sent.
    if (run.canceled && !hasServiceActed) return [{ say: "is stopped", do: stop }];
    if (!hasServiceActed) moves.push({ say: "is stopped", do: stop });
  } else if (!hasServiceActed) moves.push({ say: "times out", fault: "timeout", do: stop });
  return moves;
}

/** How a call may reply whose instance the protocol has accepted. */
function movesBeforeReply({ run }: Scene): Move[] {
  const reply =
    (how: Parameters<typeof finish>[1]): Move["do"] =>
    (scene) =>
      finish(scene, how);
  const unheard = { ready: false, heard: false };
  return [
    ...(run.engine === "gone"
      ? [{ say: "ends without an engine to answer", do: reply(unheard) }]
      : []),
    { say: "answers: ready", do: reply({ ready: true }) },
    { say: "answers: unfinished", fault: "unfinished", do: reply({ ready: false }) },
  ];
}

/** A step that continues the call with this event. */
const on =
  (event: Event): Move["do"] =>
  (it) =>
    continueWith(it, event);

/** What a call may meet while the protocol waits for something. */
function movesOfProtocol(scene: Scene): Move[] {
  const { state } = scene.call;
  if (state.wakeAt !== undefined) {
    const isBeforeSettlingEnd =
      "until" in state && state.phase !== "readingLedger" && (state.until ?? 0) > 0;
    const isSecondLook = "wasMissing" in state;
    // Such a call wakes only after "the settling time passes" (engine.ts): earlier listings would add nothing. The
    // second of two listings that must lack an instance is not delayed.
    if (isBeforeSettlingEnd && !isSecondLook) return [];
    return [{ say: "wakes", do: wakeUp }];
  }
  switch (state.phase) {
    case "takingOver":
      return [{ say: `takes over the record ${state.record.key}`, do: takeOver }];
    case "awaitingPermit":
      return [{ say: "gets permission to send the POST", do: on({ kind: "permitted", now: 0 }) }];
    case "takingBaseline":
    case "searchingForRecord":
    case "searchingAfterPost":
      return listingMoves(scene);
    case "findingInstance":
      return searchMoves(scene, state.record.id ?? "");
    case "posting":
      return postMoves(scene);
    case "readingLedger":
    case "writingRecord":
    case "ended":
      throw new Error(`nothing happens to "${state.phase}"`);
  }
}

// ── Listings ─────────────────────────────────────────────────────────────────────────────────────

/**
 * Listings that show every listed instance, and any choice of those that are not surely listed yet. Also a partial
 * listing, and two that fail.
 */
function listingMoves(scene: Scene): Move[] {
  const { model, world, run, call } = scene;
  const { tokenHash } = model.spec(run, call.resource).own;
  const notYetListed = world.instances
    .filter((it) => it.alive && !it.listed && !it.isMadeLate && it.token === tokenHash)
    .map(({ id }) => id);
  const moves: Move[] = [];
  for (let chosen = 0; chosen < 1 << notYetListed.length; chosen++) {
    const ids = notYetListed.filter((_, index) => chosen & (1 << index));
    const shown = [...shownIn(scene), ...ids];
    moves.push({
      say: `lists ${shown.join(", ") || "nothing"}`,
      do: (it) => {
        for (const instance of it.world.instances)
          if (ids.includes(instance.id)) instance.listed = true;
        continueWith(it, { kind: "listed", observation: observationOf(it, shown, true), now: 0 });
      },
    });
  }
  moves.push({
    say: "lists only a part, which is empty",
    fault: "partial",
    do: (it) =>
      continueWith(it, { kind: "listed", observation: observationOf(it, [], false), now: 0 }),
  });
  const refused = on({ kind: "listingFailed", error: failures.refused, now: 0 });
  moves.push(failedListing, { say: "lists: 400", fault: "listRefused", do: refused });
  return moves;
}

const failedListing: Move = {
  say: "lists: 500",
  fault: "listFails",
  do: on({ kind: "listingFailed", error: failures.broken, now: 0 }),
};

/**
 * Results of the search for an id, which is one step here. The real search (`existenceOf`) waits for the settling time
 * itself, and reports an instance as gone only if that is proven.
 */
function searchMoves(scene: Scene, id: string): Move[] {
  const { model, world, run, call } = scene;
  const { tokenHash } = model.spec(run, call.resource).own;
  const instance = world.instances.find((it) => it.id === id);
  const searched = (existence: Existence) => on({ kind: "searched", existence });
  const unproven = searched({ kind: "unproven", doubt: "listing", why: "partial" });
  const moves: Move[] = [];
  if (instance?.token !== tokenHash)
    moves.push({ say: "proves nothing, since the instance is another tenant's", do: unproven });
  else if (instance.alive) {
    const { name } = instance;
    moves.push({ say: `finds ${id}`, do: searched({ kind: "found", item: { id, name } }) });
  } else moves.push({ say: `proves ${id} gone`, do: searched({ kind: "gone", items: new Map() }) });
  moves.push({ say: "lists only a part, which is empty", fault: "partial", do: unproven });
  return [...moves, failedListing];
}

// ── The POST ─────────────────────────────────────────────────────────────────────────────────────

/** First, the service creates an instance and answers in a later step, or the POST ends in this step. */
function postMoves({ call }: Scene): Move[] {
  const move = (say: string, fault: Fault | undefined, what: Move["do"]): Move => ({
    say: `POST: ${say}`,
    fault,
    do: what,
  });
  if (call.idMadeByPost !== undefined) {
    return [
      move(`202 ${call.idMadeByPost}`, undefined, (it) => endPost(it, acceptedOutcome(it))),
      move("500, but the service created an instance", "500", (it) => endPost(it, unclear.broken)),
      move("the answer is cut", "cut", (it) => endPost(it, unclear.cut)),
    ];
  }
  const sent = (outcome: PostOutcome) => (it: Scene) => {
    countSentPost(it);
    endPost(it, outcome);
  };
  const unsent = (outcome: PostOutcome) => (it: Scene) => endPost(it, outcome);
  const { refused, limited, unreachable, unsendable } = failures;
  return [
    move("the service creates an instance", undefined, (it) => void createInstance(it)),
    move("500, nothing created", "500", sent(unclear.broken)),
    move("no answer, nothing created", "cut", sent(unclear.cut)),
    move("refused", "refused", sent({ kind: "refused", failure: refused })),
    move("429", "429", unsent({ kind: "rateLimited", failure: limited })),
    move(
      "fails before a byte was sent",
      "notSent",
      unsent({ kind: "notSent", failure: unreachable }),
    ),
    move("can't be sent", "unsendable", unsent({ kind: "notSent", failure: unsendable })),
    move("no answer, and the service creates the instance much later", "overdue", (it) => {
      createInstance(it).isMadeLate = true;
      endPost(it, unclear.cut);
    }),
    move("500, but the service created an instance with another name", "renamed", (it) => {
      createInstance(it).name = "renamed";
      endPost(it, unclear.broken);
    }),
  ];
}

const unclear = {
  broken: { kind: "unclear", failure: failures.broken },
  cut: { kind: "unclear", failure: failures.cut },
} satisfies Record<string, PostOutcome>;

function acceptedOutcome({ world, call }: Scene): PostOutcome {
  const id = call.idMadeByPost ?? "";
  const name = world.instances.find((it) => it.id === id)?.name;
  return { kind: "accepted", accepted: { id, name, networks: [] } };
}

/** Ends the POST of the call with this outcome. */
function endPost(scene: Scene, outcome: PostOutcome): void {
  scene.call.idMadeByPost = undefined;
  continueWith(scene, { kind: "posted", outcome, now: 0 });
}

/** Counts a POST that reaches the service. @throws Violation if no record describes it, or it is the third */
function countSentPost(scene: Scene): void {
  const row = ledger(scene).find((it) => it.key === scene.call.key);
  if (!row && !scene.model.slice.noDisk)
    throw new Violation("a POST is sent that no record describes");
  if (row && ++row.sent > 2) throw new Violation("a POST is repeated more than once");
}

/** The service creates the instance that the POST asks for. The service lists names in lower case. */
function createInstance(scene: Scene): Instance {
  const { model, world, run, call } = scene;
  const { own, name } = model.spec(run, call.resource);
  const instance = newInstance(world, {
    resource: model.identity(run, call.resource),
    scope: own.scope ?? "",
    urn: own.urn,
    kind: own.kind,
    name: name.toLowerCase(),
    digest: own.digest,
    token: own.tokenHash,
  });
  const row = ledger(scene).find((it) => it.key === call.key);
  if (row) {
    row.made = [...row.made, instance.id];
    instance.recordedOnMachine = model.plan(run).machine ?? 0;
  }
  countSentPost(scene);
  call.idMadeByPost = instance.id;
  world.instances.push(instance);
  checkIsOnlyInstance(scene, instance);
  return instance;
}
