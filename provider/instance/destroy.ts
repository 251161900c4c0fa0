/** The destroy call of a service that has one (`compute:destroyPath`), and the proof that it worked (G4). */
import { isEnded, TimedOut, type Canceled } from "../abort";
import { explain, stateDeleteCommand } from "../advice";
import { RequestError } from "../api/errors";
import { OperationFailed } from "../errors";
import type { Session } from "../session/session";
import { existenceOf, type KnownInstance } from "./existence";

export interface DeleteTarget {
  id: string;
  urn: string;
  /** What the state knows of it; without an origin if a listing has shown it since. */
  trace: KnownInstance;
}

/** Sends DELETE, and succeeds only once the instance is proven gone (G3). */
export async function destroyInstance(
  session: Session,
  target: DeleteTarget,
  signal: AbortSignal,
): Promise<void> {
  const answer = await sendDestroy(session, target.id, signal);
  try {
    await untilGone(session, target, answer, signal);
  } catch (error) {
    if (!isEnded(error)) throw error;
    throw new OperationFailed(
      `DELETE was sent for instance ${target.id}, but the instance still existed when ${howEnded(error)}. It stays in the state; run again to check it again`,
    );
  }
}

/** "unknown" for a 404: gone already, or the path is wrong. What the listings show decides. */
async function sendDestroy(
  session: Session,
  id: string,
  signal: AbortSignal,
): Promise<"taken" | "unknown"> {
  const { api } = await session.connection.open(signal);
  try {
    await api.destroyInstance(id, signal);
    return "taken";
  } catch (error) {
    if (isEnded(error)) {
      throw new OperationFailed(
        `DELETE may have been sent for instance ${id}: ${howEnded(error)} while the destroy call was under way. It stays in the state; run again to look again`,
      );
    }
    if (!(error instanceof RequestError)) throw error;
    if (error.status === 404) return "unknown";
    const what =
      error.transient && error.kind !== "unreachable"
        ? `whether instance ${id} was destroyed is not known`
        : `instance ${id} was not destroyed`;
    throw new OperationFailed(`${what}: ${explain(error)}`, { cause: error });
  } finally {
    session.listings.markWrite();
  }
}

async function untilGone(
  session: Session,
  { id, urn, trace }: DeleteTarget,
  answer: "taken" | "unknown",
  signal: AbortSignal,
): Promise<void> {
  const { clock, messages } = session.ctx;
  // An acknowledged DELETE says itself why listings lack it, however young it is.
  const expected = answer === "taken" ? { kept: trace.kept } : trace;
  const started = clock.now();
  for (;;) {
    const seconds = Math.round((clock.now() - started) / 1000);
    messages.status(urn, `DELETE was sent for ${id}; waiting until it is gone, ${seconds} s`);
    const { existence } = await existenceOf(session, id, expected, signal);
    if (existence.kind === "gone") return;
    if (existence.kind === "unproven") {
      throw new OperationFailed(
        `DELETE was sent for instance ${id}, but it can't be proven that the instance is gone: ${existence.why}. If you know that it is gone: \`${stateDeleteCommand(urn)}\``,
      );
    }
    // A listing may lag behind a destroy whose answer was lost.
    if (answer === "unknown" && clock.now() - started >= session.settings.settlingMs) {
      throw new OperationFailed(
        `the destroy call answers 404 for instance ${id}, which is listed all the same: is compute:destroyPath "${session.settings.destroyPath}" right?`,
      );
    }
    await clock.sleep(session.settings.pollIntervalMs, signal);
  }
}

function howEnded(error: Canceled | TimedOut): string {
  return error instanceof TimedOut
    ? `the ${error.seconds} s (customTimeouts) were over`
    : "the operation was canceled";
}
