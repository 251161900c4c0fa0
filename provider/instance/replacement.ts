/**
 * Whether the Delete of a replacement would fail: then Diff refuses it (G4), so that the preview fails,
 * and neither a second server is made nor a dependent removed first.
 */
import { explain, stateDeleteCommand } from "../advice";
import { RequestError } from "../api/errors";
import { OperationFailed } from "../errors";
import { originDifference, originFromState, type Origin } from "../origin";
import type { DiffRequest } from "../requests";
import { timeouts, type Session } from "../session/session";
import { stillThere } from "./delete";
import { existenceOf, knownInstanceOf, type Existence } from "./existence";

type Replaced = Pick<DiffRequest, "urn" | "id" | "oldOutputs">;

/** @throws OperationFailed if the Delete would fail, with the ways out. */
export async function refuseStuckReplacement(session: Session, replaced: Replaced): Promise<void> {
  refuseOutOfReach(replaced, session.connection.place());
  switch (session.settings.deletePolicy) {
    case "retain":
      return;
    case "destroy":
      return refuseOtherAccount(session, replaced);
    case "fail":
      return refuseWhileThere(session, replaced);
  }
}

function refuseOutOfReach({ id, urn, oldOutputs }: Replaced, here: Origin): void {
  const kept = originFromState(oldOutputs);
  const difference = kept && originDifference(kept, here);
  if (!difference) return;
  throw new OperationFailed([
    `instance ${id} can't be replaced with this configuration: ${difference}. Nothing was changed. Ways out:`,
    "  - run again with the configuration it was made with",
    `  - let it run, and drop it from the state: \`${stateDeleteCommand(urn)}\`; the next run then creates one here`,
  ]);
}

/** The account is asked for only where the state tells of one. */
async function refuseOtherAccount(session: Session, replaced: Replaced): Promise<void> {
  if (originFromState(replaced.oldOutputs)?.account === undefined) return;
  using operation = session.operation(timeouts.look);
  try {
    refuseOutOfReach(replaced, (await session.connection.open(operation.signal)).origin);
  } catch (error) {
    // Create asks for it as well, before it sends anything.
    if (!(error instanceof RequestError)) throw error;
  }
}

async function refuseWhileThere(session: Session, replaced: Replaced): Promise<void> {
  const existence = await look(session, replaced);
  if (existence.kind === "gone") return;
  const { id } = replaced;
  throw new OperationFailed([
    `replacing instance ${id} will fail, before a second server is made: ${stillThere(session, replaced, existence)}, and the service documents no call to destroy it. Nothing was changed. Ways out:`,
    "  - remove it at the service (its portal), then run this again: the new one is created once it is gone",
    "  - let it run, and have the new one created beside it: `pulumi config set compute:deletePolicy retain` (the resource option retainOnDelete wants that setting, too: the provider is not told of the option)",
    "  - if the service has a destroy call: `pulumi config set compute:destroyPath '/v2/instances/{id}'`",
    "  - take the change back in the program, or name the property in the resource option ignoreChanges",
  ]);
}

async function look(session: Session, replaced: Replaced): Promise<Existence> {
  using operation = session.operation(timeouts.look);
  try {
    const { origin } = await session.connection.open(operation.signal);
    refuseOutOfReach(replaced, origin);
    const trace = knownInstanceOf(replaced.oldOutputs);
    return (await existenceOf(session, replaced.id, trace, operation.signal)).existence;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return { kind: "unproven", doubt: "listing", why: explain(error) };
  }
}
