/**
 * The Delete call of an Instance, which succeeds only if the instance is gone or is meant to stay (G4). The service
 * documents no destroy call, so `compute:deletePolicy` says what happens: "fail" refuses, "retain" drops the instance from
 * the state and lets it run, and "destroy" sends DELETE (`compute:destroyPath`). None of them ends an instance before the one
 * that replaces it, its successor, is ready.
 */
import { isEnded, TimedOut, type Canceled } from "../abort";
import { bulleted, explain, stateDeleteCommand, withDependents } from "../advice";
import { logicalName, stackName, stackOf } from "../urn";
import type { ListItem } from "../api/contract";
import { RequestError } from "../api/errors";
import { OperationFailed, type Refused } from "../errors";
import { whyOpen } from "../evidence/why";
import type { DeleteRequest } from "../calls";
import { waits } from "../session/operations";
import type { Successor } from "../session/knownState";
import type { Session } from "../session/session";
import { isBilled, lookFor, refuseElsewhere, type Wanted } from "./existence";
import { heldBy, type Instance } from "./instance";
import { lookAtRetained, noteRetained } from "./retained";
import { findingOf, refusal, waysToDelete } from "./refusals";

/**
 * Deletes an instance as `compute:deletePolicy` says. Leaves an instance that this run has taken over, one that another
 * resource of the program keeps, and one of another stack, of whose state this one is a copy.
 *
 * @throws OperationFailed if the instance lives elsewhere ("retain" does not ask for the account). With "retain", nothing else
 *   (without a stack, or if the successor is not ready, "retain" is like "fail"). OperationFailed if the token is refused; with
 *   "fail", or if the successor is not ready, if the instance exists or may exist; with "destroy", if the DELETE fails or is not
 *   proven to have worked. RequestError if a listing before the DELETE fails. The error that ended the operation before it.
 */
export async function deleteInstance(session: Session, request: DeleteRequest): Promise<void> {
  const { id, urn } = request;
  const { creates, ctx, run, settings, state } = session;
  const stack = run.programStack?.() ?? stackOf(urn);
  if (stack !== stackOf(urn)) return ctx.messages.warning(otherStack(id, urn, stack), urn);
  session.isDestroy = true;
  state.keep(urn, undefined);
  if (creates.ours.get(id) === "takenOver") {
    // The engine deletes an older entry of the same instance from the state.
    const reason = "because this run took it over for a resource of the program";
    return ctx.messages.warning(`instance ${id} was not destroyed, ${reason}`, urn);
  }
  const keeper = state.otherKeeper({ id, urn });
  if (keeper !== undefined) {
    const text = `instance ${id} was dropped from the state as ${logicalName(urn)}, not destroyed, because ${logicalName(keeper)} of this program manages it, too`;
    return ctx.messages.info(text, urn);
  }
  // In a replacement, the column would otherwise go on showing the new instance.
  const show = (outcome: string) => ctx.messages.status(urn, `${outcome}, ${id}`);
  const instance = heldBy(request);
  const refused = refusalWhileNeeded(session, instance);
  if (settings.deletePolicy === "retain" && !run.stateless && !refused) {
    return show(await retain(session, instance));
  }
  using operation = session.operationOf(request, "delete");
  const { verdict } = await lookFor(session, instance, operation.signal);
  if (verdict.kind === "absent") return show(goneOutcome);
  if (refused) throw refused;
  if (settings.deletePolicy === "destroy") {
    // A listing that shows the instance is of its tenant: from then on, its token is the one that the run uses.
    const { acceptedAt } = instance;
    const origin = verdict.kind === "listed" ? session.connection.origin() : instance.origin;
    await destroy(session, urn, { id, origin, acceptedAt }, operation.signal);
    return show(goneOutcome);
  }
  throw refusal({
    id,
    what: `instance ${id} was not deleted`,
    ...findingOf(verdict, isBilled(session, instance), session),
    ways: waysToDelete(session, urn, verdict),
    page: "delete.md",
  });
}

/** Returns the warning of an instance that the state has as a copy of another stack's state. */
function otherStack(id: string, urn: string, stack: string): string[] {
  const why = `it is of the stack ${stackName(urn)}, and this run is of ${stackName(stack)}`;
  return [
    `instance ${id} was dropped from the state, not deleted: ${why}.`,
    "If the other stack is gone, remove the instance at the service (its portal).",
  ];
}

/** Returns the refusal to delete an instance whose successor is not ready, so that no server is ended that still serves. */
function refusalWhileNeeded({ state }: Session, before: Instance): Refused | undefined {
  const { id } = before;
  const next = state.successorOf(before);
  const lack = next && lackOf(next, before, state.unfinished.has(next.id));
  if (!next || lack === undefined) return undefined;
  const isCreated = next.id !== "";
  const finding = isCreated
    ? `its replacement ${next.id} is not ready (${lack})`
    : "its replacement was not created";
  // What is unfinished is read before the next update. Otherwise, only an address need not be there in the next run.
  const up = next.status === "OFFLINE" ? "pulumi up --refresh" : "pulumi up";
  return refusal({
    id,
    what: `instance ${id} was not deleted`,
    finding,
    ways: [
      `once ${isCreated ? "the new one is ready" : "its create works"}: \`${up}\``,
      "to end the old one all the same: remove it at the service (its portal), and run this again",
    ],
    page: "delete.md#a-replacement",
  });
}

/**
 * Returns what a successor lacks that the instance before it has. Where listings are cut off, a finished one is PROVISIONING. An
 * address counts in the run that has waited for the successor (`wasAwaited`): it may be meant to have none.
 */
function lackOf(
  { status, ipv4, isUnfinished }: Successor,
  before: Instance,
  wasAwaited: boolean,
): string | undefined {
  if (isUnfinished) return status ?? "";
  if (status === "OFFLINE" && before.status === "ACTIVE") return status;
  const isAddressLost = wasAwaited && ipv4 === undefined && before.ipv4 !== undefined;
  return isAddressLost && status !== "PROVISIONING" ? "its ipv4 is empty" : undefined;
}

/** The outcome of a Delete whose instance is proven gone, for the Info column. */
const goneOutcome = "gone";

// ── compute:deletePolicy "destroy" ───────────────────────────────────────────────────────────────

/** Sends DELETE, and waits until the instance is proven gone (G3). */
async function destroy(
  session: Session,
  urn: string,
  instance: Wanted,
  signal: AbortSignal,
): Promise<void> {
  const { id } = instance;
  const isAcknowledged = await sendDestroy(session, id, signal);
  // After an acknowledged DELETE, a listing that lacks the instance is evidence even in the settling time.
  const { origin } = instance;
  const target = isAcknowledged ? { id, origin, acceptedAt: undefined } : instance;
  const { clock } = session.ctx;
  const { pollIntervalMs, settlingMs, destroyPath } = session.settings;
  const start = clock.now();
  const what = isAcknowledged ? "DELETE sent" : "DELETE did not find it";
  session.operations.show(signal, { what });
  /** What the last listing showed. */
  let listed: ListItem | undefined;
  try {
    for (;;) {
      const { verdict } = await lookFor(session, target, signal);
      if (verdict.kind === "absent") return;
      if (verdict.kind === "open") {
        throw new OperationFailed(
          `DELETE was sent for instance ${id}, but it can't be proven that the instance is gone: ${whyOpen(verdict, session)}. ${ifGone(urn, id)}`,
        );
      }
      [listed] = verdict.items;
      // A listing may lag behind an earlier DELETE whose response was lost, so a 404 is no error in the settling time.
      if (!isAcknowledged && clock.now() - start >= settlingMs) {
        throw stillListed(listed, {
          urn,
          why: "but the destroy call did not find it",
          otherwise: `Otherwise check that compute:destroyPath "${destroyPath}" is right`,
        });
      }
      await clock.sleep(pollIntervalMs, signal);
    }
  } catch (error) {
    if (isAcknowledged && listed && error instanceof TimedOut && !error.pause) {
      // Another run would end in the same way if the service lists what it has deleted.
      throw stillListed(listed, {
        urn,
        why: `though the service acknowledged its DELETE and the ${error.limit} were over`,
        otherwise: "If the service only needs longer, set a longer customTimeouts.delete",
        cause: error,
      });
    }
    throw ended(error, id, true);
  }
}

/** Returns the error for an instance that its DELETE has not removed from the listings. */
function stillListed(
  { id, status }: ListItem,
  { urn, why, otherwise, cause }: { urn: string; why: string; otherwise: string; cause?: TimedOut },
): OperationFailed {
  const as = status === undefined ? "" : ` as ${status}`;
  const lines = [`instance ${id} is still listed${as}, ${why}.`];
  return new OperationFailed([...lines, ...bulleted([ifGone(urn, id), otherwise])], { cause });
}

function ifGone(urn: string, id: string): string {
  return `If you know that it is gone: \`${stateDeleteCommand(urn)}\` (if Pulumi asks which one: ${id}; ${withDependents})`;
}

/**
 * Returns what to throw for an error that has ended a destroy, in which a DELETE may have been sent. `mayHaveActed`: whether the
 * service may have carried it out.
 */
function ended(error: unknown, id: string, mayHaveActed: boolean): unknown {
  if (!isEnded(error) && !(error instanceof RequestError)) return error;
  const outcome = mayHaveActed
    ? `whether instance ${id} was destroyed is not known`
    : `instance ${id} was not destroyed`;
  return new OperationFailed(`${outcome}: ${whyEnded(error)}`, { cause: error });
}

/** Returns why a destroy has ended, and the next step. */
function whyEnded(error: Canceled | TimedOut | RequestError): string {
  if (error instanceof RequestError) return explain(error);
  const stays = "The instance stays in the state. Run again";
  if (!(error instanceof TimedOut)) return `the operation was canceled. ${stays}`;
  return error.pause
    ? `${error.message}. ${stays} after that time`
    : `the ${error.limit} were over. ${stays}`;
}

/** Returns whether the service acknowledged the DELETE. A 404 or 410 means that the instance is gone, or that the path is wrong. */
async function sendDestroy(session: Session, id: string, signal: AbortSignal): Promise<boolean> {
  const { api } = await session.connection.open(signal);
  const { destroyPath = "" } = session.settings;
  using _wait = session.operations.waiting(signal, waits.destroy(destroyPath));
  // If the service has asked for a long pause, nothing is sent.
  signal.throwIfAborted();
  try {
    await api.destroyInstance(id, signal);
    return true;
  } catch (error) {
    if (error instanceof RequestError && error.isNotFound) return false;
    // A pause may have been asked of another instance's DELETE.
    const ownPath = destroyPath.replaceAll("{id}", () => encodeURIComponent(id));
    const pausedBy = error instanceof TimedOut ? error.pause?.error : undefined;
    const failed = pausedBy?.path === ownPath ? pausedBy : error;
    throw ended(error, id, !(failed instanceof RequestError) || failed.mayHaveActed);
  } finally {
    session.listings.markWrite();
  }
}

// ── compute:deletePolicy "retain" ────────────────────────────────────────────────────────────────

/**
 * Drops the instance from the state, even if the service can't be reached. The listings only make what is said of it more
 * exact (`reportRetained`). Returns the outcome, for the Info column.
 *
 * @throws OperationFailed if the instance has another address or token kind. The account is not asked for
 */
async function retain(session: Session, instance: Instance): Promise<string> {
  // Another policy may hold elsewhere.
  refuseElsewhere(session, instance, session.connection.origin());
  const retained = await lookAtRetained(session, instance);
  if (!retained) return goneOutcome;
  await noteRetained(session, retained);
  return "dropped from the state, not destroyed";
}
