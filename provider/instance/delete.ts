/**
 * The Delete call of an Instance, which succeeds only if the instance is gone or is meant to stay (G4). The service
 * documents no destroy call, so `compute:deletePolicy` says what happens: "fail" refuses, "retain" drops the instance from
 * the state and lets it run, and "destroy" sends DELETE (`compute:destroyPath`). Without `deleteBeforeReplace`, none
 * of them ends an instance before the one that replaces it is ready.
 */
import { isEnded, pauseLines, TimedOut } from "../abort";
import { afterChange, bulleted, requestReport, stateDeleteCommand } from "../advice";
import { logicalName, stackName } from "../pulumi/urn";
import { RequestError } from "../api/errors";
import { OperationFailed } from "../errors";
import { whyOpen } from "../evidence/why";
import type { Verdict } from "../evidence/witness";
import type { DeleteRequest } from "../pulumi/calls";
import type { DeleteOccasion, KnownInstance } from "../engineRun";
import { waits, type Operation } from "../session/operations";
import type { KnownState } from "../session/knownState";
import type { Session } from "../session/session";
import { isBilled, lookFor, refuseElsewhere, type Wanted } from "./existence";
import { heldBy, type Instance } from "./instance";
import { findingOf, refusal, waysToDelete, type Existing } from "./refusals";
import { noteRetained } from "./retained";

// ── The decision ─────────────────────────────────────────────────────────────────────────────────

/** What a Delete knows. */
export interface DeleteFacts {
  /** What manages the instance besides the resource that is deleted, a clause. */
  readonly keeper?: string | undefined;
  /** Why the instance has to serve on: what its replacement lacks, a clause. */
  readonly need?: string | undefined;
  readonly deletePolicy: "fail" | "retain" | "destroy";
  /** Whether no stack has the instance (`pulumi do`), so that there is no state to drop it from. */
  readonly isStateless: boolean;
  /** What the listings prove. Undefined before they were asked. */
  readonly verdict?: Verdict;
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
  | { readonly kind: "refuseWhileNeeded"; readonly need: string }
  | { readonly kind: "destroy" | "refuse"; readonly existing: Existing };

/** Decides what a Delete does next. It succeeds only if the instance is gone or is meant to stay (G4). */
export function decideDelete(facts: DeleteFacts): DeleteStep {
  const { keeper, need, deletePolicy, isStateless, verdict } = facts;
  if (keeper) return { kind: "leave", keeper };
  if (deletePolicy === "retain" && !isStateless && !need) return { kind: "retain" };
  if (!verdict) return { kind: "look" };
  if (verdict.kind === "absent") return { kind: "succeed" };
  if (need) return { kind: "refuseWhileNeeded", need };
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
  const { connection, ctx, engine, settings, state } = session;
  const instance = heldBy(request);
  // In a replacement, the column would otherwise go on showing the new instance.
  const end = (outcome: string) => ctx.messages.status(urn, `${outcome}, ${id}`);
  using operation = session.operations.of(request, "delete");
  const next = occasion.is === "replaced" ? occasion.next : undefined;
  let facts: DeleteFacts = {
    keeper: keeperOf(occasion, urn),
    need: next && needOf(state, instance, next),
    deletePolicy: settings.deletePolicy,
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
          (await noteRetained(session, instance))
            ? "dropped from the state, not destroyed"
            : "gone",
        );
      case "look":
        facts = { ...facts, verdict: (await lookFor(session, instance, operation)).verdict };
        break;
      case "succeed":
        return end("gone");
      case "refuseWhileNeeded":
        throw refusalWhileNeeded(id, step.need);
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
          ways: waysToDelete(engine, urn, step.existing),
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

/**
 * Returns why the instance has to serve on: what its replacement lacks. Undefined if the replacement is ready. Where listings are cut
 * off, a finished instance is PROVISIONING. An address counts in the run that has waited for the replacement, which may be meant to
 * have none.
 */
function needOf(
  { unfinished }: Pick<KnownState, "unfinished">,
  before: Instance,
  { id, status = "", ipv4, isUnfinished }: KnownInstance,
): string | undefined {
  if (id === "") return "its replacement was not created";
  const isStopped = status === "OFFLINE" && before.status === "ACTIVE";
  if (isUnfinished || isStopped) return `its replacement ${id} is not ready (${status})`;
  const isAddressLost = unfinished.has(id) && ipv4 === undefined && before.ipv4 !== undefined;
  return isAddressLost && status !== "PROVISIONING"
    ? `its replacement ${id} is not ready (its ipv4 is empty)`
    : undefined;
}

/** Returns the refusal to end a server before the one that replaces it is ready. */
function refusalWhileNeeded(id: string, need: string): OperationFailed {
  return refusal({
    what: `instance ${id} was not deleted`,
    finding: need,
    ways: [
      "once the new one is ready: `pulumi up --refresh`",
      "to end the old one all the same: remove it at the service (its portal), and run this again",
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
      const { verdict } = await lookFor(session, target, operation);
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
    if (error.isNotFound) return error.mayHaveActed;
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
