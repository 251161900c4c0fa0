/** Lists what a Create call may meet next: responses, listings (also late and partial ones), and its end. */
import type { Accepted, ListItem } from "../../provider/api/contract";
import type { PostOutcome } from "../../provider/api/postOutcome";
import type { Witness } from "../../provider/evidence/witness";
import type { Event } from "../../provider/create/protocol";
import { isNameFor } from "../../provider/instance/naming";
import { continueWith, failures, finish, lookAt, rowOf, shownIn, takeOver, wakeUp } from "./call";
import { checkIsOnlyInstance, failIf } from "./invariants";
import type { Fault } from "./slice";
import { instanceOf, newInstance, tenantOf, type Change, type Instance, type Scene } from "./world";

type Move = Change<Scene>;

/** Returns what this Create call may meet next. Does not change `scene`. */
export function movesOfCall(scene: Scene): Move[] {
  const { run, call } = scene;
  const { phase } = call.state;
  // In the phase "ended", the protocol has ended, but the reply is still to come.
  if (phase === "ended") return movesBeforeReply(scene);
  const moves = movesOfProtocol(scene);
  const hasServiceActed = phase === "posting" && call.idMadeByPost !== undefined;
  if (phase === "takingOver" || hasServiceActed) return moves;
  const stop = on({ kind: "stopped", why: new Error("canceled") });
  // Ctrl-C ends each wait. Only a POST on which the service has acted may continue for its grace period. Before
  // that, the POST counts as not sent.
  if (run.canceled) return [{ say: "is stopped", do: stop }];
  if (run.engine === "gone") return [...moves, { say: "is stopped", do: stop }];
  return [...moves, { say: "times out", fault: "timeout", do: stop }];
}

/** How a call may reply whose instance the protocol has accepted. */
function movesBeforeReply({ run }: Scene): Move[] {
  const reply = (say: string, how: Parameters<typeof finish>[1], fault?: Fault): Move => ({
    say,
    fault,
    do: (scene) => finish(scene, how),
  });
  const replies = [
    reply("answers: ready", { ready: true }),
    reply("answers: unfinished", { ready: false }, "unfinished"),
  ];
  if (run.engine === "alive") return replies;
  return [reply("ends without an engine to answer", { ready: false, heard: false }), ...replies];
}

/** A step that continues the call with this event. */
const on =
  (event: Event): Move["do"] =>
  (scene) =>
    continueWith(scene, event);

/** What a call may meet while the protocol waits for something. */
function movesOfProtocol(scene: Scene): Move[] {
  const { state } = scene.call;
  if (state.wakeAt !== undefined) {
    // Such a call wakes only after "the settling time passes" (engine.ts): earlier listings would add nothing.
    if (state.phase === "searching" && isEarly(state.witness)) return [];
    return [{ say: "wakes", do: wakeUp }];
  }
  switch (state.phase) {
    case "takingOver":
      return [{ say: `takes over the record of ${state.waiting.record.session}`, do: takeOver }];
    case "awaitingPermit":
      return [{ say: "gets permission to send the POST", do: on({ kind: "permitted", now: 0 }) }];
    case "takingBaseline":
    case "searching":
      return listingMoves(scene);
    case "posting":
      return postMoves(scene);
    case "claiming":
    case "recording":
    case "ended":
      throw new Error(`nothing happens to "${state.phase}"`);
  }
}

/** Whether nothing can be proven before the settling time is over. */
function isEarly({ question, firstLacking }: Witness): boolean {
  return question.listedBy > 0 && firstLacking === undefined;
}

// ── Listings ─────────────────────────────────────────────────────────────────────────────────────

/**
 * Listings that show every listed instance, and any choice of those that are not surely listed yet. Also, once in a history, one
 * that lacks a listed instance, or some that lack all, an empty partial one, and two that fail.
 */
function listingMoves(scene: Scene): Move[] {
  const tenant = tenantOf(scene.call.planned.spec.identity.tokenHash);
  const notYetListed = scene.world.instances
    .filter(
      (instance) =>
        instance.alive && !instance.listed && !instance.isMadeLate && instance.tenant === tenant,
    )
    .map(({ id }) => id);
  const moves: Move[] = [];
  for (let chosen = 0; chosen < 1 << notYetListed.length; chosen++) {
    const ids = notYetListed.filter((_, index) => chosen & (1 << index));
    const shown = [...shownIn(scene), ...ids];
    moves.push({
      say: `lists ${shown.join(", ") || "nothing"}`,
      do: (copy) => {
        for (const instance of copy.world.instances) instance.listed ||= ids.includes(instance.id);
        continueWith(copy, { kind: "looked", look: lookAt(copy, shown, true), now: 0 });
      },
    });
  }
  const { lapse } = scene.world;
  const lapseMove = (lacked: readonly string[], fault: Fault | undefined): Move => ({
    say: `lists all but ${lacked.join(", ")}`,
    fault,
    do: (after) => {
      after.world.lapse = fault === "lapse" ? "over" : "now";
      const shown = shownIn(after).filter((id) => !lacked.includes(id));
      continueWith(after, { kind: "looked", look: lookAt(after, shown, true), now: 0 });
    },
  });
  const surely = shownIn(scene);
  if (scene.call.state.phase === "searching" && surely.length > 0) {
    if (!lapse) moves.push(...surely.map((id) => lapseMove([id], "lapse")));
    if (lapse !== "over") moves.push(lapseMove(surely, lapse ? undefined : "lists nothing"));
  }
  moves.push({
    ...partialListing,
    do: (copy) => {
      continueWith(copy, { kind: "looked", look: lookAt(copy, [], false), now: 0 });
    },
  });
  const refused = on({ kind: "listingFailed", error: failures.refused, now: 0 });
  return [...moves, failedListing, { say: "lists: 400", fault: "listRefused", do: refused }];
}

const partialListing = { say: "lists only a part, which is empty", fault: "partial" } as const;

const failedListing: Move = {
  say: "lists: 500",
  fault: "listFails",
  do: on({ kind: "listingFailed", error: failures.broken, now: 0 }),
};

// ── The POST ─────────────────────────────────────────────────────────────────────────────────────

const unclear = {
  broken: { kind: "unclear", failure: failures.broken },
  cut: { kind: "unclear", failure: failures.cut },
} satisfies Record<string, PostOutcome>;

/** First, the service creates an instance and answers in a later step, or the POST ends in this step. */
function postMoves({ world, run, call }: Scene): Move[] {
  const move = (say: string, fault: Fault | undefined, what: Move["do"]): Move => ({
    say: `POST: ${say}`,
    fault,
    do: what,
  });
  const id = call.idMadeByPost;
  /** Answers that name an instance of the baseline, or of this run. One that came since could not be told apart. */
  const before = call.state.phase === "posting" ? call.state.attempt.baseline.items : new Map();
  const wrongIds = world.instances
    .filter(
      (instance) =>
        instance.id !== id && (before.has(instance.id) || run.made.includes(instance.id)),
    )
    .map(({ id: other, name }) => {
      const accepted: Accepted = { id: other, name, networks: [] };
      return { kind: "accepted" as const, accepted };
    });
  const ends = (outcome: PostOutcome) => (scene: Scene) => endPost(scene, outcome);
  if (id !== undefined) {
    const accepted = { id, name: instanceOf(world, id)?.name, networks: [] };
    return [
      move(`202 ${id}`, undefined, ends({ kind: "accepted", accepted })),
      move("500, but the service created an instance", "500", ends(unclear.broken)),
      move("the answer is cut", "cut", ends(unclear.cut)),
      ...wrongIds.map((answer) => move(`202 ${answer.accepted.id}`, "wrong id", ends(answer))),
    ];
  }
  const sent = (outcome: PostOutcome) => (scene: Scene) => {
    countSentPost(scene);
    endPost(scene, outcome);
  };
  const { refused, limited, unreachable, unsendable } = failures;
  const notSent = (failure: typeof unreachable) => ends({ kind: "notSent", failure });
  return [
    move("the service creates an instance", undefined, (copy) => void createInstance(copy)),
    move("500, nothing created", "500", sent(unclear.broken)),
    move("no answer, nothing created", "cut", sent(unclear.cut)),
    move("refused", "refused", ends({ kind: "refused", failure: refused })),
    move("429", "429", ends({ kind: "rateLimited", failure: limited })),
    move("fails before a byte was sent", "notSent", notSent(unreachable)),
    move("can't be sent", "unsendable", notSent(unsendable)),
    ...wrongIds.map((answer) =>
      move(`202 ${answer.accepted.id}, nothing created`, "wrong id", sent(answer)),
    ),
    move("no answer, and the service creates the instance much later", "overdue", (copy) => {
      Object.assign(createInstance(copy), { isMadeLate: true, wasMadeLate: true });
      endPost(copy, unclear.cut);
    }),
    move("500, but the service created an instance with another name", "renamed", (copy) => {
      createInstance(copy).name = "renamed";
      endPost(copy, unclear.broken);
    }),
  ];
}

/** Ends the POST of the call with this outcome. */
function endPost(scene: Scene, outcome: PostOutcome): void {
  scene.call.idMadeByPost = undefined;
  const { planned, state } = scene.call;
  if (state.phase !== "posting") throw new Error("no POST is under way");
  const record = { ...planned.spec.identity, before: state.before, at: "" };
  // The last listing before the POST need not be the baseline.
  const look = lookAt(scene, [], false);
  continueWith(scene, { kind: "posted", outcome, look, record, now: 0 });
}

/** Counts a POST that reaches the service. @throws Violation if its record does not describe it, or it must not be sent */
function countSentPost(scene: Scene): void {
  const { run, call } = scene;
  const row = rowOf(scene);
  failIf(!row && !run.unlocked, "a POST is sent that no record describes");
  failIf(row !== undefined && row.at === undefined, "a POST is sent, and its record says none was");
  if (row) {
    failIf(row.sent, "a record describes two POSTs");
    row.sent = true;
  }
  failIf(++call.sent > 2, "a POST is repeated more than once");
  const isOpen = scene.world.instances.some(
    ({ isMadeLate, resource }) => isMadeLate && resource === call.planned.identity,
  );
  failIf(
    call.sent > 1 && isOpen,
    "a POST is repeated, and the service may still carry out the first",
  );
}

/** The instances that the create lets run: all of its resource that its baseline shows, what it replaces, and what that knew. */
function passedBy({ world, run, call }: Scene): string[] {
  const { state, planned } = call;
  const { identity, letsRun } = planned.spec;
  const items = state.phase === "posting" ? [...state.attempt.baseline.items.values()] : [];
  const isOwn = ({ name = "" }: ListItem) =>
    identity.kind === "generated"
      ? isNameFor(name, identity.urn, identity.scope ?? "")
      : name === planned.spec.name.toLowerCase();
  const { id } = run.before[planned.identity] ?? {};
  const mayPass = identity.kind === "generated" || letsRun;
  const shown = mayPass ? [...items.filter(isOwn).map((item) => item.id), id ?? []].flat() : [];
  // A listing may lack what was made less than the settling time before.
  const isListed = (one: string) => instanceOf(world, one)?.listed === true;
  return [...shown, ...(instanceOf(world, id)?.passed.filter(isListed) ?? [])];
}

/** The service creates the instance that the POST asks for. The service lists names in lower case. */
function createInstance(scene: Scene): Instance {
  const { world, run, call } = scene;
  const { machine } = run.plan;
  const { identity: resource, spec, digest: asked } = call.planned;
  const { scope = "", urn, kind, tokenHash } = spec.identity;
  const tenant = tenantOf(tokenHash);
  const name = spec.name.toLowerCase();
  const passed = passedBy(scene);
  const of = {
    resource,
    scope,
    urn,
    kind,
    name,
    digest: asked,
    tokenHash,
    tenant,
    machine,
    passed,
  };
  const instance = newInstance(world, of);
  const row = rowOf(scene);
  countSentPost(scene);
  if (row) row.made = [...row.made, instance.id];
  call.idMadeByPost = instance.id;
  world.instances.push(instance);
  checkIsOnlyInstance(scene, instance);
  return instance;
}
