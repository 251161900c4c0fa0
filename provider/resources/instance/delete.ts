/** Delete tells the truth (G4): the service documents no destroy call. */
import { stateDeleteCommand } from "../../advice";
import { OperationFailed } from "../../errors";
import { originFromState } from "../../origin";
import type { DeleteRequest } from "../../requests";
import { timeouts, type Session } from "../../session/session";
import { destroyInstance } from "./destroy";
import { presenceOf, refuseElsewhere, traceOf, type Presence } from "./presence";

export async function deleteInstance(session: Session, request: DeleteRequest): Promise<void> {
  const { deletePolicy } = session.settings;
  if (session.creates.hasTakenOver(request.id)) return leaveToItsNewOwner(session, request);
  if (deletePolicy === "retain") return retain(session, request);
  using operation = session.operation(request.timeoutSeconds || timeouts.change);
  const trace = traceOf(request.oldOutputs);
  const { presence } = await presenceOf(session, request.id, trace, operation.signal);
  if (presence.kind === "gone") return;
  if (deletePolicy === "fail") {
    throw new OperationFailed(refusal(session, request, presence));
  }
  // A listing that shows it is of the right tenant, whatever token the state was made with.
  const doubted = presence.kind === "found" ? {} : trace;
  await destroyInstance(session, { ...request, trace: doubted }, operation.signal);
}

/**
 * Drops it from the state without a request: that must also work when the service can't be reached.
 * Never with the settings of another place, whose default policy may be another.
 */
function retain(session: Session, { id, urn, oldOutputs }: DeleteRequest): void {
  refuseElsewhere(id, originFromState(oldOutputs), session.connection.place());
  session.around.messages.warning(
    `instance ${id} is dropped from the state, not destroyed (compute:deletePolicy is "retain"): ${staysBehind(oldOutputs, session.settings.tokenKind)}`,
    urn,
  );
}

/** This very run took the instance over: what is deleted is an older record of it. */
function leaveToItsNewOwner(session: Session, { id, urn }: DeleteRequest): void {
  session.around.messages.warning(
    `instance ${id} was not destroyed: this run took it over for a resource of the program, which stands for it now`,
    urn,
  );
}

/** What an instance that is left alone goes on doing. */
export function staysBehind(outputs: DeleteRequest["oldOutputs"], configured: string): string {
  return isBilled(outputs, configured)
    ? "it goes on running and is billed until it is removed at the service"
    : "it stays at the service until its sandbox lifetime is over";
}

/** `configured` is the kind of the token in force, for a state that does not tell. */
function isBilled(outputs: DeleteRequest["oldOutputs"], configured: string): boolean {
  return (originFromState(outputs)?.tokenKind ?? configured) === "live";
}

function refusal(
  { settings }: Session,
  { id, urn, oldOutputs }: DeleteRequest,
  presence: Exclude<Presence, { kind: "gone" }>,
): string[] {
  const billed = isBilled(oldOutputs, settings.tokenKind) ? " and is billed" : "";
  const state =
    presence.kind === "found"
      ? `instance ${id} still exists${billed}`
      : `whether instance ${id} still exists can't be told (${presence.why})`;
  return [
    `${state}, and the service documents no call to destroy it. Ways out:`,
    "  - remove it at the service (its portal), then run this again: it succeeds once the instance is gone",
    `  - let it run, and drop it from the state: \`${stateDeleteCommand(urn)}\`, the resource option retainOnDelete, or \`pulumi config set compute:deletePolicy retain\``,
    "  - if the service has a destroy call: `pulumi config set compute:destroyPath '/v2/instances/{id}'`",
    "A destroy uses the settings that the last `pulumi up` recorded: after `pulumi config set`, run `pulumi destroy --run-program`.",
  ];
}
