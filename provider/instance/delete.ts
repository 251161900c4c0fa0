/**
 * Delete tells the truth (G4). The service documents no destroy call, so `compute:deletePolicy` says what
 * happens: "fail" refuses, "retain" drops the instance from the state and lets it run, and "destroy" sends
 * DELETE (`compute:destroyPath`).
 */
import { isEnded, TimedOut, type Canceled } from "../abort";
import { explain, stateDeleteCommand } from "../advice";
import { RequestError } from "../api/errors";
import { OperationFailed } from "../errors";
import { originDifference, originFromState } from "../origin";
import type { DeleteRequest } from "../requests";
import { timeouts, type Session } from "../session/session";
import {
  existenceOf,
  isSameTenant,
  knownInstanceOf,
  refuseElsewhere,
  settlingEnd,
  type Existence,
  type KnownInstance,
} from "./existence";

/** @throws OperationFailed if the instance still exists, or may, and is not to be left alone. */
export async function deleteInstance(session: Session, request: DeleteRequest): Promise<void> {
  const { id, urn, oldOutputs } = request;
  const { ledger, settings } = session;
  if (session.creates.hasTakenOver(id)) {
    // Only an older place of the instance in the state goes.
    session.ctx.messages.warning(
      `instance ${id} was not destroyed: this run took it over for a resource of the program, which stands for it now`,
      urn,
    );
    return;
  }
  if (settings.deletePolicy === "retain") return retainInstance(session, request);
  using operation = session.operation(request.timeoutSeconds || timeouts.change);
  const known = knownInstanceOf(oldOutputs);
  const { existence } = await existenceOf(session, id, known, operation.signal);
  if (existence.kind === "gone") {
    // Without a recorded origin, the listings may have been another tenant's.
    if (known.recordedOrigin) ledger.settleId(settings, id, "gone");
    return;
  }
  if (settings.deletePolicy === "fail") {
    throw new OperationFailed([
      `${describeExistence(session, request, existence)}, and the service documents no call to destroy it. Ways out:`,
      "  - remove it at the service (its portal), then run this again: it succeeds once the instance is gone",
      `  - let it run, and drop it from the state: \`${stateDeleteCommand(urn)}\`, the resource option retainOnDelete, or \`pulumi config set compute:deletePolicy retain\``,
      "  - if the service has a destroy call: `pulumi config set compute:destroyPath '/v2/instances/{id}'`",
      "A destroy uses the settings that the last `pulumi up` recorded: after `pulumi config set`, run `pulumi destroy --run-program`.",
    ]);
  }
  // A listing that shows the instance is of the right tenant, whatever token the state was written with.
  const target = existence.kind === "found" ? { ...known, recordedOrigin: undefined } : known;
  await destroyInstance(session, request, target, operation.signal);
  ledger.settleId(settings, id, "gone");
}

/** Says that the instance still exists, or may. */
export function describeExistence(
  { settings }: Session,
  { id, oldOutputs }: Pick<DeleteRequest, "id" | "oldOutputs">,
  existence: Exclude<Existence, { kind: "gone" }>,
): string {
  if (existence.kind === "unproven") {
    return `whether instance ${id} still exists can't be told (${existence.why})`;
  }
  const billed = isBilled(oldOutputs, settings.tokenKind) ? " and is billed" : "";
  return `instance ${id} still exists${billed}`;
}

/** The kind of token in the state or, if it tells of none, the `configured` one. */
function isBilled(outputs: DeleteRequest["oldOutputs"], configured: string): boolean {
  return (originFromState(outputs)?.tokenKind ?? configured) === "live";
}

// ── compute:deletePolicy "destroy" ───────────────────────────────────────────────────────────────

/** Sends DELETE, and waits until the instance is proven gone (G3). */
async function destroyInstance(
  session: Session,
  { id, urn }: DeleteRequest,
  known: KnownInstance,
  signal: AbortSignal,
): Promise<void> {
  const isAcknowledged = await sendDestroy(session, id, signal);
  // After an acknowledged DELETE, an instance that is missing from listings need not be too young for them.
  const target = isAcknowledged ? { ...known, acceptedAt: undefined } : known;
  const { clock, messages } = session.ctx;
  const { pollIntervalMs, settlingMs, destroyPath } = session.settings;
  const start = clock.now();
  try {
    for (;;) {
      const seconds = Math.round((clock.now() - start) / 1000);
      messages.status(urn, `DELETE was sent for ${id}; waiting until it is gone, ${seconds} s`);
      const { existence } = await existenceOf(session, id, target, signal);
      if (existence.kind === "gone") return;
      if (existence.kind === "unproven") {
        throw new OperationFailed(
          `DELETE was sent for instance ${id}, but it can't be proven that the instance is gone: ${existence.why}. If you know that it is gone: \`${stateDeleteCommand(urn)}\``,
        );
      }
      // A listing may lag behind an earlier DELETE whose answer was lost.
      if (!isAcknowledged && clock.now() - start >= settlingMs) {
        throw new OperationFailed(
          `the destroy call answers 404 for instance ${id}, which is listed all the same: is compute:destroyPath "${destroyPath}" right?`,
        );
      }
      await clock.sleep(pollIntervalMs, signal);
    }
  } catch (error) {
    if (!isEnded(error)) throw error;
    throw new OperationFailed(
      `DELETE was sent for instance ${id}, but the instance still existed when ${endOf(error)}. It stays in the state; run again to check it again`,
    );
  }
}

/** Whether the service acknowledged it. A 404 means that the instance is gone, or that the path is wrong. */
async function sendDestroy(session: Session, id: string, signal: AbortSignal): Promise<boolean> {
  const { api } = await session.connection.open(signal);
  try {
    await api.destroyInstance(id, signal);
    return true;
  } catch (error) {
    if (isEnded(error)) {
      throw new OperationFailed(
        `DELETE may have been sent for instance ${id}: ${endOf(error)} while the destroy call was under way. It stays in the state; run again to look again`,
      );
    }
    if (!(error instanceof RequestError)) throw error;
    if (error.status === 404) return false;
    const what =
      error.transient && error.kind !== "unreachable"
        ? `whether instance ${id} was destroyed is not known`
        : `instance ${id} was not destroyed`;
    throw new OperationFailed(`${what}: ${explain(error)}`, { cause: error });
  } finally {
    session.listings.markWrite();
  }
}

function endOf(error: Canceled | TimedOut): string {
  return error instanceof TimedOut
    ? `the ${error.seconds} s (customTimeouts) were over`
    : "the operation was canceled";
}

// ── compute:deletePolicy "retain" ────────────────────────────────────────────────────────────────

/** How long a look may take that only serves a warning. */
const lookSeconds = 10;

/** Sessions in which such a look has failed: further Deletes do not wait for another one. */
const sessionsWithoutLook = new WeakSet<Session>();

/**
 * Drops the instance from the state, and leaves it alone. This works without the service, which is only
 * asked for the words of the warning.
 *
 * @throws OperationFailed if the state is of another place, where the policy may be another.
 */
async function retainInstance(session: Session, request: DeleteRequest): Promise<void> {
  const { id, urn, oldOutputs } = request;
  refuseElsewhere(id, originFromState(oldOutputs), session.connection.place());
  // `pulumi do --stateless` and a former `.get()` drop what another state may hold.
  if (session.state.isProven(id)) session.ledger.settleId(session.settings, id, "dropped");
  const remains = describeRetained(oldOutputs, session.settings.tokenKind);
  const rest = {
    listed: remains,
    missing: "the service no longer lists it, so it seems to be gone already",
    unknown: `if it still exists, ${remains}`,
  }[await lookOnce(session, request)];
  session.ctx.messages.warning(
    `instance ${id} is dropped from the state, not destroyed (compute:deletePolicy is "retain"): ${rest}`,
    urn,
  );
}

/** What an instance that is left alone goes on doing. `configured`: the kind of token in the settings. */
export function describeRetained(outputs: DeleteRequest["oldOutputs"], configured: string): string {
  return isBilled(outputs, configured)
    ? "it goes on running and is billed until it is removed at the service"
    : "it stays at the service until its sandbox lifetime is over";
}

/** Whether one shared listing shows the instance: "missing" is no proof that it is gone (G3). */
async function lookOnce(
  session: Session,
  { id, oldOutputs }: DeleteRequest,
): Promise<"listed" | "missing" | "unknown"> {
  if (sessionsWithoutLook.has(session)) return "unknown";
  using operation = session.operation(lookSeconds);
  const { connection, listings, ctx } = session;
  try {
    const { origin } = await connection.open(operation.signal);
    const { recordedOrigin, acceptedAt } = knownInstanceOf(oldOutputs);
    if (recordedOrigin && originDifference(recordedOrigin, origin)) return "unknown";
    const { items, complete } = await listings.get(listings.recent, operation.signal);
    if (items.has(id)) return "listed";
    const isSettled = settlingEnd(session, acceptedAt) <= ctx.clock.now();
    const isMissing =
      complete && isSettled && isSameTenant(session, id, { recordedOrigin, origin, items });
    return isMissing ? "missing" : "unknown";
  } catch (error) {
    sessionsWithoutLook.add(session);
    ctx.messages.debug(`whether ${id} still exists is not known: ${String(error)}`);
    return "unknown";
  }
}
