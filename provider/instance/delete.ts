/** Delete tells the truth (G4): the service documents no destroy call. */
import { stateDeleteCommand } from "../advice";
import { OperationFailed } from "../errors";
import type { DeleteRequest } from "../requests";
import { timeouts, type Session } from "../session/session";
import { destroyInstance } from "./destroy";
import { existenceOf, knownInstanceOf, type Existence, type KnownInstance } from "./existence";
import { isBilled, retainInstance } from "./retain";

export async function deleteInstance(session: Session, request: DeleteRequest): Promise<void> {
  const { deletePolicy } = session.settings;
  if (session.creates.hasTakenOver(request.id)) return leaveToItsNewOwner(session, request);
  if (deletePolicy === "retain") return retainInstance(session, request);
  using operation = session.operation(request.timeoutSeconds || timeouts.change);
  const trace = knownInstanceOf(request.oldOutputs);
  const { existence } = await existenceOf(session, request.id, trace, operation.signal);
  if (existence.kind === "gone") return settleGone(session, request.id, trace);
  if (deletePolicy === "fail") {
    throw new OperationFailed(refusal(session, request, existence));
  }
  // A listing that shows it is of the right tenant, whatever token the state was made with.
  const doubted = existence.kind === "found" ? { acceptedAt: trace.acceptedAt } : trace;
  await destroyInstance(session, { ...request, trace: doubted }, operation.signal);
  session.ledger.settleId(session.settings, request.id, "gone");
}

/** Without a recorded origin the listings may have been another tenant's. */
function settleGone(session: Session, id: string, { kept }: KnownInstance): void {
  if (kept) session.ledger.settleId(session.settings, id, "gone");
}

/** This run took the instance over for a resource of the program: only an older place of it in the state goes. */
function leaveToItsNewOwner(session: Session, { id, urn }: DeleteRequest): void {
  session.ctx.messages.warning(
    `instance ${id} was not destroyed: this run took it over for a resource of the program, which stands for it now`,
    urn,
  );
}

type NotGone = Exclude<Existence, { kind: "gone" }>;

/** Says that the instance still exists, or may. */
export function stillThere(
  { settings }: Session,
  { id, oldOutputs }: Pick<DeleteRequest, "id" | "oldOutputs">,
  existence: NotGone,
): string {
  if (existence.kind === "unproven") {
    return `whether instance ${id} still exists can't be told (${existence.why})`;
  }
  const billed = isBilled(oldOutputs, settings.tokenKind) ? " and is billed" : "";
  return `instance ${id} still exists${billed}`;
}

function refusal(session: Session, request: DeleteRequest, existence: NotGone): string[] {
  const { urn } = request;
  return [
    `${stillThere(session, request, existence)}, and the service documents no call to destroy it. Ways out:`,
    "  - remove it at the service (its portal), then run this again: it succeeds once the instance is gone",
    `  - let it run, and drop it from the state: \`${stateDeleteCommand(urn)}\`, the resource option retainOnDelete, or \`pulumi config set compute:deletePolicy retain\``,
    "  - if the service has a destroy call: `pulumi config set compute:destroyPath '/v2/instances/{id}'`",
    "A destroy uses the settings that the last `pulumi up` recorded: after `pulumi config set`, run `pulumi destroy --run-program`.",
  ];
}
