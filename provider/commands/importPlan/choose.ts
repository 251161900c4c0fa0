/** Which of the listed instances a plan takes, and why it does not take the others. */
import { importCommand } from "../../advice";
import type { ListItem } from "../../api/contract";
import type { LedgerRecord } from "../../ledger/record";
import { isSamePlace, originDifference, type Origin } from "../../origin";
import { isResumed } from "../openCreates";
import type { StackState } from "../pulumi";

export interface Wanted {
  /** A pattern with `*` and `?`; undefined: any name. */
  name: string | undefined;
  /** None given: every one but PROVISIONING. */
  statuses: readonly string[];
}

export interface Known {
  /** Where the instances are listed. */
  origin: Origin;
  /** The stack that is to take them over. */
  state: StackState | undefined;
  /** The creates that runs of this machine left open. */
  open: readonly LedgerRecord[];
  /** Whether a text can be shown as it is: no control characters, no secret. */
  isSayable: (text: string) => boolean;
}

export interface Choice {
  chosen: readonly ListItem[];
  /** The stack has these already. */
  held: readonly ListItem[];
  leftOut: readonly { item: ListItem; why: string }[];
}

export function choose(items: readonly ListItem[], wanted: Wanted, known: Known): Choice {
  const matches = pattern(wanted.name);
  const chosen: ListItem[] = [];
  const held: ListItem[] = [];
  const leftOut: { item: ListItem; why: string }[] = [];
  const sorted = [...items].sort((a, b) => compare(a.name, b.name) || compare(a.id, b.id));
  for (const item of sorted) {
    const { name = "", status = "", id } = item;
    if (!matches.test(name)) continue;
    if (wanted.statuses.length > 0 && !wanted.statuses.includes(status)) continue;
    if (isHeld(id, known)) held.push(item);
    else {
      const why = hindrance(item, wanted, known);
      if (why === undefined) chosen.push(item);
      else leftOut.push({ item, why });
    }
  }
  return { chosen, held, leftOut };
}

function hindrance({ id, status }: ListItem, wanted: Wanted, known: Known): string | undefined {
  if (!known.isSayable(id)) return "its id has characters in it that a plan can't hold";
  const open = known.open.find((it) => it.id === id && isSamePlace(it, known.origin));
  if (open) {
    const next = isResumed(open)
      ? "and the next `pulumi up` takes it over"
      : `and no state is known to hold it: \`${importCommand(open, id)}\` takes it over`;
    return `an earlier run created it for ${open.urn}, ${next}`;
  }
  if (status === "PROVISIONING" && wanted.statuses.length === 0) {
    return "it is PROVISIONING, so a run may be just creating it; --status PROVISIONING takes it all the same";
  }
  return undefined;
}

/** By id; an instance that lives elsewhere is another one, whatever its id. */
function isHeld(id: string, { state, origin }: Known): boolean {
  const sameId = state?.instances.filter((it) => it.id === id && !it.external) ?? [];
  return sameId.some((it) => !it.origin || originDifference(it.origin, origin) === undefined);
}

/** Case is nothing in a hostname. */
function pattern(glob = "*"): RegExp {
  const source = glob
    .replace(/[\\^$.+()[\]{}|]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, "isu");
}

function compare(a = "", b = ""): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
