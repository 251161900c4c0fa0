/**
 * Lists what a Create call may meet next: responses, listings (also late and partial ones), and its end. `engine.ts`
 * adds these moves to its own. In all events, `now` is 0 (see world.ts).
 */
import type { PostOutcome } from "../../provider/api/postOutcome";
import type { Existence } from "../../provider/instance/existence";
import {
  broken,
  canceled,
  cut,
  finish,
  continueWith,
  ledger,
  limited,
  observationOf,
  refused,
  shownIn,
  takeOver,
  unreachable,
  unsendable,
} from "./call";
import { checkIsOnlyInstance, Violation } from "./invariants";
import type { Fault, Scene } from "./slice";
import { newInstance, shownOf, type Instance } from "./world";

/** One thing that a Create call may meet next. */
export interface Move {
  /** The step in words, for a history. */
  say: string;
  /** The fault that it uses up (`Slice.maxFaults`), if any. */
  fault?: Fault;
  do: (scene: Scene) => void;
}

/** Returns what this Create call may meet next. Does not change `scene`. */
export function movesOfCall(scene: Scene): Move[] {
  const { run, call } = scene;
  // In the phase "ended", the protocol has ended, but the reply is still to come.
  const moves = call.state.phase === "ended" ? movesBeforeReply(scene) : movesOfProtocol(scene);
  if (call.state.phase === "ended" || call.state.phase === "takingOver") return moves;
  const hasServiceActed = call.state.phase === "posting" && call.idMadeByPost !== undefined;
  const stop = (it: Scene) => continueWith(it, { kind: "stopped", why: canceled });
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
  const unheardReply: Move = {
    say: "ends without an engine to answer",
    do: (scene) => finish(scene, { ready: false, heard: false }),
  };
  return [
    ...(run.engine === "gone" ? [unheardReply] : []),
    { say: "answers: ready", do: (scene) => finish(scene, { ready: true }) },
    {
      say: "answers: unfinished",
      fault: "unfinished",
      do: (scene) => finish(scene, { ready: false }),
    },
  ];
}

/** What a call may meet while the protocol waits for something. */
function movesOfProtocol(scene: Scene): Move[] {
  const { state } = scene.call;
  switch (state.phase) {
    case "sleeping": {
      const { then } = state;
      const isBeforeSettlingEnd =
        "until" in then && then.phase !== "readingLedger" && (then.until ?? 0) > 0;
      const isSecondLook = "wasMissing" in then;
      // Such a call wakes only after "the settling time passes" (engine.ts): earlier listings would add nothing. The
      // second of two listings that must lack an instance is not delayed.
      if (isBeforeSettlingEnd && !isSecondLook) return [];
      return [{ say: "wakes", do: (it) => continueWith(it, { kind: "slept" }) }];
    }
    case "takingOver":
      return [{ say: `takes over the record ${state.record.key}`, do: takeOver }];
    case "awaitingPermit":
      return [
        {
          say: "gets permission to send the POST",
          do: (it) => continueWith(it, { kind: "permitted", now: 0 }),
        },
      ];
    case "takingBaseline":
    case "renewingBaseline":
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
  const fails = (error: typeof broken) => (it: Scene) =>
    continueWith(it, { kind: "listingFailed", error, now: 0 });
  moves.push({ say: "lists: 500", fault: "listFails", do: fails(broken) });
  moves.push({ say: "lists: 400", fault: "listRefused", do: fails(refused) });
  return moves;
}

/**
 * Results of the search for an id, which is one step here. The real search (`existenceOf`) waits for the settling time
 * itself, and reports an instance as gone only if that is proven.
 */
function searchMoves(scene: Scene, id: string): Move[] {
  const { model, world, run, call } = scene;
  const { tokenHash } = model.spec(run, call.resource).own;
  const instance = world.instances.find((it) => it.id === id);
  const searched =
    (existence: Existence): Move["do"] =>
    (it) =>
      continueWith(it, { kind: "searched", existence });
  const unproven = searched({ kind: "unproven", doubt: "listing", why: "partial" });
  const moves: Move[] = [];
  if (instance?.token !== tokenHash)
    moves.push({ say: "proves nothing, since the instance is another tenant's", do: unproven });
  else if (instance.alive) {
    const { name } = instance;
    moves.push({ say: `finds ${id}`, do: searched({ kind: "found", item: { id, name } }) });
  } else moves.push({ say: `proves ${id} gone`, do: searched({ kind: "gone", items: new Map() }) });
  moves.push({ say: "lists only a part, which is empty", fault: "partial", do: unproven });
  const listingFails: Move["do"] = (it) =>
    continueWith(it, { kind: "listingFailed", error: broken, now: 0 });
  moves.push({ say: "lists: 500", fault: "listFails", do: listingFails });
  return moves;
}

// ── The POST ─────────────────────────────────────────────────────────────────────────────────────

/** First, the service creates an instance and answers in a later step, or the POST ends in this step. */
function postMoves({ call }: Scene): Move[] {
  if (call.idMadeByPost !== undefined) {
    return [
      { say: `POST: 202 ${call.idMadeByPost}`, do: (it) => endPost(it, acceptedOutcome(it)) },
      {
        say: "POST: 500, but the service created an instance",
        fault: "500",
        do: (it) => endPost(it, failedOutcome("unclear", broken)),
      },
      {
        say: "POST: the answer is cut",
        fault: "cut",
        do: (it) => endPost(it, failedOutcome("unclear", cut)),
      },
    ];
  }
  const endsWith =
    (postOutcome: PostOutcome, { isSent = true } = {}): Move["do"] =>
    (it) => {
      if (isSent) countSentPost(it);
      endPost(it, postOutcome);
    };
  return [
    { say: "POST: the service creates an instance", do: (it) => void createInstance(it) },
    {
      say: "POST: 500, nothing created",
      fault: "500",
      do: endsWith(failedOutcome("unclear", broken)),
    },
    {
      say: "POST: no answer, nothing created",
      fault: "cut",
      do: endsWith(failedOutcome("unclear", cut)),
    },
    { say: "POST: refused", fault: "refused", do: endsWith(failedOutcome("refused", refused)) },
    {
      say: "POST: 429",
      fault: "429",
      do: endsWith(failedOutcome("rateLimited", limited), { isSent: false }),
    },
    {
      say: "POST: fails before a byte was sent",
      fault: "notSent",
      do: endsWith(failedOutcome("notSent", unreachable), { isSent: false }),
    },
    {
      say: "POST: can't be sent",
      fault: "unsendable",
      do: endsWith(failedOutcome("notSent", unsendable), { isSent: false }),
    },
    {
      say: "POST: no answer, and the service creates the instance much later",
      fault: "overdue",
      do: (it) => {
        createInstance(it).isMadeLate = true;
        endPost(it, failedOutcome("unclear", cut));
      },
    },
    {
      say: "POST: 500, but the service created an instance with another name",
      fault: "renamed",
      do: (it) => {
        createInstance(it).name = "renamed";
        endPost(it, failedOutcome("unclear", broken));
      },
    },
  ];
}

function acceptedOutcome({ world, call }: Scene): PostOutcome {
  const id = call.idMadeByPost ?? "";
  return {
    kind: "accepted",
    accepted: shownOf(id, world.instances.find((it) => it.id === id)?.name),
  };
}

function failedOutcome(
  kind: Exclude<PostOutcome["kind"], "accepted">,
  failure: typeof broken,
): PostOutcome {
  return { kind, failure };
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
