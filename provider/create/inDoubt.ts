/** Names, at the end of a run, the creates that earlier runs of the stack have left in doubt. */
import { isNamed } from "../evidence/witness";
import type { LedgerRecord } from "../ledger/record";
import type { Session } from "../session/session";
import { inDoubtNotice } from "./reports";

/**
 * Ends the doubt about what the run was shown, and names the rest in one message. An instance that costs nothing is worth an info
 * line only.
 */
export function reportInDoubt(session: Session): void {
  const { ledger, options, engine, ctx, notices, listings } = session;
  if (engine.kind === "stateless") return;
  const { latest } = listings;
  const namesakesOf = ({ name, at = "" }: LedgerRecord) => {
    if (!latest?.complete || name === undefined || latest.begunAt < session.settledBy(at))
      return undefined;
    const namesakes = [...latest.items.values()].filter((item) => isNamed(item.name, name));
    return new Set(namesakes.map(({ id }) => id));
  };
  const records = ledger
    .endRun({ scope: options.scope, stack: engine.stack }, namesakesOf)
    .filter(({ urn }) => !engine.resource(urn).isDoubtSaid);
  if (records.length === 0 || !notices.markSaid("in doubt")) return;
  const isBilled = records.some(({ tokenKind }) => tokenKind === "live");
  ctx.messages[isBilled ? "warning" : "info"](inDoubtNotice(records));
}
