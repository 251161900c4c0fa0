/**
 * The Delete call of an Instance, which succeeds only if the instance is gone or is meant to stay (G4). The service
 * documents no destroy call, so `compute:deletePolicy` says what happens: "fail" refuses, "retain" drops the instance from
 * the state and lets it run, and "destroy" sends DELETE (`compute:destroyPath`). Without `deleteBeforeReplace`, none
 * of them ends an instance before the one that replaces it is ready.
 */
import { isEnded, pauseLines, TimedOut } from "../abort";
import { afterChange, bulleted, requestReport, stateDeleteCommand } from "../advice";
import { logicalName, stackName } from "../pulumi/urn";
import type { ListItem } from "../api/contract";
import { RequestError } from "../api/requestError";
import { OperationFailed } from "../errors";
import { whyOpen } from "../evidence/why";
import type { Verdict } from "../evidence/witness";
import type { DeleteRequest } from "../pulumi/calls";
import type { DeleteOccasion, KnownInstance } from "../engine";
import { waits, type Operation } from "../session/operations";
import type { Session } from "../session/session";
import { isBilled, askAbout, outOfReach, refuseElsewhere, type Wanted } from "./existence";
import { heldBy, type Instance } from "./instance";
import { findingOf, refusal, waysToDelete, waysToRemove, type Existing } from "./refusals";
import { noteRetained } from "./retained";

// ── The decision ─────────────────────────────────────────────────────────────────────────────────

/** What a Delete knows. */
export interface DeleteFacts {
  /** What manages the instance besides the resource that is deleted, a clause. */
  readonly keeper?: string | undefined;
  /** Why the instance has to serve on. */
  readonly need?: Need | undefined;
  readonly deletePolicy: "fail" | "retain" | "destroy";
  /** Whether no stack has the instance (`pulumi do`), so that there is no state to drop it from. */
  readonly isStateless: boolean;
  /** What the listings prove. Undefined before they were asked. */
  readonly verdict?: Verdict;
}

/** What the replacement of an instance lacks. */
interface Need {
  /** A clause. */
  readonly lack: string;
  /** The command that deletes the old one once the replacement lacks nothing any more. */
  readonly command: string;
}

/** What a Delete does next. All but "look" end it. */
export type DeleteStep =
  /** It leaves the instance to its keeper. */
  | { readonly kind: "leave"; readonly keeper: string }
  /** It drops the instance from the state, whether or not the instance exists. */
  | { readonly kind: "retain" }
  /** It asks the listings. */
  | { readonly kind: "look" }
  | { readonly kind: "succeed" }
  | { readonly kind: "refuseWhileNeeded"; readonly existing: Existing; readonly need: Need }
  | { readonly kind: "destroy" | "refuse"; readonly existing: Existing };

/** Decides what a Delete does next. It succeeds only if the instance is gone or is meant to stay (G4). */
export function decideDelete(facts: DeleteFacts): DeleteStep {
  const { keeper, need, deletePolicy, isStateless, verdict } = facts;
  if (keeper) return { kind: "leave", keeper };
  if (deletePolicy === "retain" && !isStateless && !need) return { kind: "retain" };
  if (!verdict) return { kind: "look" };
  if (verdict.kind === "absent") return { kind: "succeed" };
  if (need) return { kind: "refuseWhileNeeded", existing: verdict, need };
  return { kind: deletePolicy === "destroy" ? "destroy" : "refuse", existing: verdict };
}

// ── What is known, and what is done ──────────────────────────────────────────────────────────────

/**
 * Deletes an instance as `decideDelete` says.
 *
 * @throws OperationFailed if the instance has another address or token kind, or (not with "retain") another account; for each
 *   `refuse…` step; and if a DELETE fails or is not proven to have worked. Unless it only retains: RequestError if a listing before the
 *   DELETE fails, and the error that ended the operation.
 */
export async function deleteInstance(
  session: Session,
  request: DeleteRequest,
  occasion: DeleteOccasion,
): Promise<void> {
  const { id, urn } = request;
  const { connection, ctx, engine } = session;
  const instance = heldBy(request);
  // In a replacement, the column would otherwise go on showing the new instance.
  const end = (outcome: string) => ctx.messages.status(urn, `${outcome}, ${id}`);
  using operation = session.operations.of(request, "delete");
  const next = nextOf(session, occasion);
  const policy = policyOf(session, occasion);
  let facts: DeleteFacts = {
    keeper: keeperOf(occasion, urn),
    need: next && needOf(instance, next),
    deletePolicy: policy.value,
    isStateless: engine.kind === "stateless",
  };
  for (;;) {
    const step = decideDelete(facts);
    switch (step.kind) {
      case "leave":
        return ctx.messages.warning(
          `${logicalName(urn)} was dropped from the state, but its instance ${id} was not destroyed: ${step.keeper}`,
          urn,
        );
      case "retain":
        // Another policy may hold elsewhere.
        refuseElsewhere(session, instance, connection.origin());
        return end(
          (await noteRetained(session, instance, policy.isOfProgram))
            ? "dropped from the state, not destroyed"
            : "gone",
        );
      case "look": {
        const { verdict } = await askAbout(session, instance, operation);
        facts = { ...facts, verdict };
        if (!next || verdict.kind === "absent") break;
        const seen = await seenOf(session, next, operation);
        facts = { ...facts, need: needOf(instance, next, { old: verdict, next: seen }) };
        break;
      }
      case "succeed":
        return end("gone");
      case "refuseWhileNeeded":
        throw refusalWhileNeeded(id, step.existing, step.need);
      case "destroy": {
        // A listing that shows the instance is of its tenant: from then on, its token is the one that the run uses.
        const origin = step.existing.kind === "listed" ? connection.origin() : instance.origin;
        await destroy(session, { id, urn, origin, acceptedAt: instance.acceptedAt }, operation);
        return end("gone");
      }
      case "refuse":
        throw refusal({
          what: `instance ${id} was not deleted`,
          ...findingOf(step.existing, isBilled(session, instance), session),
          ...(policy.why !== undefined && { why: policy.why }),
          ways: waysToDelete(engine, occasion, urn, step.existing),
          page: "delete.md",
        });
    }
  }
}

/** Returns what manages the instance besides this resource: another stack, of whose state this one is a copy, or another resource. */
function keeperOf(occasion: DeleteOccasion, urn: string): string | undefined {
  switch (occasion.is) {
    case "otherStack":
      return `it is of the stack ${stackName(urn)}, and this run is of ${stackName(occasion.stack)}`;
    case "shared":
      return `${logicalName(occasion.keeper)} of this program manages it, too`;
    case "removed":
    case "replaced":
      return undefined;
  }
}

/** Returns what replaces the instance, if it has come before the Delete. */
function nextOf({ state }: Session, occasion: DeleteOccasion): KnownInstance | undefined {
  const next = occasion.is === "replaced" ? occasion.next : undefined;
  return next && { ...next, isAwaited: next.isAwaited || state.unfinished.has(next.id) };
}

/** The policy of a Delete. */
interface Policy {
  value: DeleteFacts["deletePolicy"];
  isOfProgram?: boolean;
  /** Why it refuses, if that is not the program's policy. */
  why?: string;
}

/**
 * Returns the policy. If the resource has another provider by now, this process has the recorded settings of the old one. Then the
 * program's policy counts, but DELETE is sent only if both say so.
 */
function policyOf({ settings }: Session, occasion: DeleteOccasion): Policy {
  const { deletePolicy: own } = settings;
  const present = occasion.is === "replaced" ? occasion.deletePolicy : undefined;
  if (present === undefined || present === own) return { value: own };
  if (present !== "destroy") return { value: present, isOfProgram: true };
  const why = ', and "fail" is the policy in the recorded settings of its old provider';
  return own === "fail" ? { value: own, why } : { value: own };
}

/** Returns what the listings show of a replacement that is of the same place and token as the listings. */
async function seenOf(
  session: Session,
  { id, origin, acceptedAt }: KnownInstance,
  operation: Operation,
): Promise<Verdict | undefined> {
  const { connection, state } = session;
  const next = { id, origin, acceptedAt };
  if (id === "" || outOfReach(session, next, connection.origin())) return undefined;
  const { verdict } = await askAbout(session, next, operation);
  const isOtherToken = state.vouchersOf(next, connection.origin()) !== undefined;
  return verdict.kind === "listed" && isOtherToken ? undefined : verdict;
}

/** What the listings show of both instances of a replacement. */
interface Newest {
  readonly old: Verdict;
  readonly next: Verdict | undefined;
}

/**
 * Returns what the replacement of an instance lacks. Undefined if it is ready. A listing counts, not the state, but it does not finish
 * what this run's Create or Update has not finished. Where listings are cut off, the state of a finished one may still say
 * PROVISIONING. An address that was never there counts only in the run that has waited for the replacement, which may be meant to
 * have none.
 */
function needOf(before: Instance, next: KnownInstance, newest?: Newest): Need | undefined {
  const wait = "pulumi up";
  // Without a refresh, the state would keep what the listing has shown to be over.
  const refresh = "pulumi up --refresh";
  const { id } = next;
  if (id === "") return { lack: "its replacement was not created", command: wait };
  if (newest?.next?.kind === "absent")
    return { lack: `its replacement ${id} is gone`, command: refresh };
  const [old, listed] = [newest?.old, newest?.next].map(finishedIn);
  const status = listed?.status ?? next.status ?? "";
  const notReady = (what: string) => `its replacement ${id} is not ready (${what})`;
  if (next.isUnfinished) return { lack: notReady(status), command: wait };
  const hasServed = (old?.status ?? before.status) === "ACTIVE";
  const isStopped = listed ? status !== "ACTIVE" : status === "OFFLINE";
  if (hasServed && isStopped) return { lack: notReady(status), command: refresh };
  const ipv4 = listed ? listed.ipv4_public : next.ipv4;
  const isAddressDue = before.ipv4 !== undefined && status !== "PROVISIONING";
  const isMissed = ipv4 === undefined && (next.isAwaited || next.ipv4 !== undefined);
  return isAddressDue && isMissed
    ? { lack: notReady("its ipv4 is empty"), command: refresh }
    : undefined;
}

/** Returns how an instance is listed. A listing that lags behind shows it as PROVISIONING, and then what the run knew counts. */
function finishedIn(verdict: Verdict | undefined): ListItem | undefined {
  const item = verdict?.kind === "listed" ? verdict.items[0] : undefined;
  return item?.status === "PROVISIONING" ? undefined : item;
}

/** Returns the refusal to end a server before the one that replaces it is ready. */
function refusalWhileNeeded(id: string, existing: Existing, need: Need): OperationFailed {
  return refusal({
    what: `instance ${id} was not deleted`,
    finding: need.lack,
    ways: [
      `once the new one is ready: \`${need.command}\``,
      ...waysToRemove(existing).map((way) => `to end the old one all the same: ${way}`),
    ],
    page: "delete.md#a-replacement",
  });
}

// ── compute:deletePolicy "destroy" ───────────────────────────────────────────────────────────────

/** Sends DELETE, and waits until the instance is proven gone (G3). */
async function destroy(
  session: Session,
  instance: Wanted & { urn: string },
  operation: Operation,
): Promise<void> {
  const { id, urn } = instance;
  const { places, settings } = session;
  const { pollIntervalMs, settlingMs, destroyPath } = settings;
  const { clock } = session.ctx;
  const isTaken = await sendDestroy(session, id, operation);
  // After that, a listing that lacks the instance is evidence even in the settling time.
  const target = isTaken ? { ...instance, acceptedAt: undefined } : instance;
  const stake = isTaken ? "say" : "drop";
  // A listing may lag behind the DELETE of an earlier run, which was interrupted.
  const foundBy = isTaken ? Infinity : clock.now() + settlingMs;
  const although = isTaken
    ? " after its DELETE"
    : `, but the destroy call did not find it: check compute:destroyPath "${destroyPath}"${afterChange("destroyPath", places)}`;
  operation.show({ what: "DELETE sent" });
  const unproven = (finding: string, cause?: TimedOut) => {
    const way = `once it is gone, drop it from the state: \`${stateDeleteCommand(urn)}\``;
    return new OperationFailed([`instance ${id} ${finding}.`, ...bulleted([way])], { cause });
  };
  let listedAs: string | undefined;
  try {
    for (;;) {
      const { verdict } = await askAbout(session, target, operation, stake);
      if (verdict.kind === "absent") return;
      if (verdict.kind === "open")
        throw unproven(`is not proven gone after its DELETE: ${whyOpen(verdict, session)}`);
      listedAs = `is still listed as ${verdict.items[0].status}${although}`;
      if (clock.now() >= foundBy) throw unproven(listedAs);
      await clock.sleep(pollIntervalMs, operation.signal);
    }
  } catch (error) {
    // Another run would end in the same way if the service lists what it has deleted.
    if (listedAs !== undefined && error instanceof TimedOut && !error.pause)
      throw unproven(`${listedAs}, and the ${error.limit} are over`, error);
    throw ended(error, notKnown(id));
  }
}

/**
 * Returns whether the service has taken the DELETE, perhaps in a try whose answer was lost. Otherwise a 404 or 410 says that the
 * instance is gone, or that the path is wrong.
 */
async function sendDestroy(
  { connection, listings, settings }: Session,
  id: string,
  operation: Operation,
): Promise<boolean> {
  const { api } = await connection.open(operation);
  using _wait = operation.waiting(waits.destroy(settings.destroyPath ?? ""));
  // If the service has asked for a long pause, nothing is sent.
  operation.signal.throwIfAborted();
  try {
    await api.destroyInstance(id, operation.signal);
    return true;
  } catch (error) {
    if (!(error instanceof RequestError)) throw ended(error, notKnown(id));
    if (error.about === "absence") return error.mayHaveActed;
    throw ended(error, error.mayHaveActed ? notKnown(id) : `instance ${id} was not destroyed`);
  } finally {
    listings.markWrite();
  }
}

const notKnown = (id: string) => `whether instance ${id} was destroyed is not known`;

/** Returns what to throw for an error that has ended a destroy. `outcome`: what is known of the instance. */
function ended(error: unknown, outcome: string): unknown {
  if (error instanceof RequestError)
    return new OperationFailed(requestReport(outcome, error), { cause: error });
  if (!isEnded(error)) return error;
  const stays = "The instance stays in the state.";
  const end = error instanceof TimedOut ? `the ${error.limit} were over` : "it was canceled";
  const shared =
    error instanceof TimedOut && error.pause
      ? [...pauseLines(error.pause, error.limit), stays]
      : [`: ${end}. ${stays} Run again`];
  return new OperationFailed({ own: outcome, shared }, { cause: error });
}
