/**
 * How a refused delete, replacement or refresh is worded. The reason and the ways out are the same for all instances of a run, so
 * they are said once. Each further instance has one line.
 */
import { bulleted, oneRunCommands, pageAt } from "../advice";
import { instanceStatuses } from "../api/serviceConstants";
import { Refused } from "../errors";
import type { Verdict } from "../evidence/witness";
import type { Origin } from "../origin";
import type { Session } from "../session/session";

/** Why nothing was done with an instance. */
interface Refusal {
  id: string;
  /** Where a way names the resource. */
  urn?: string;
  /** The instance, and what was not done: "instance i-1 was not deleted". */
  what: string;
  /** What was found of it, a clause. */
  finding: string;
  /** The finding without what differs for each request. */
  kind?: string;
  /** Whether the finding is short enough to be said again of a further instance. */
  isBrief?: boolean;
  /** The rest of the first line. */
  why?: string;
  /** Each with one command or none. */
  ways: readonly string[];
  /** The page that says more. */
  page: string;
  /** Whether the ways say what to do about the settings of the run. */
  namesSettings?: boolean;
}

/** Returns the error. Where it reaches the engine, only the first instance with the same reason and ways has the whole of it. */
export function refusal(refused: Refusal): Refused {
  const { id, urn = "", what, finding, kind = finding, why = "", ways, page } = refused;
  const again = refused.isBrief ? `${what}: ${finding}` : `${what}, for the same reason`;
  const rest = [...bulleted(ways), `More: ${pageAt(page)}`];
  const subject = [kind, ...rest].join("\n").replaceAll(urn, "");
  const shared = { subject, id, again: `${again}.` };
  return new Refused([`${what}: ${finding}${why}.`, ...rest], shared, {
    namesSettings: refused.namesSettings ?? false,
  });
}

/** What is known of an instance that is not proven gone. */
export type Existing = Exclude<Verdict, { kind: "absent" }>;

/** Whether the instance may be gone all the same: a listing is not complete, say, or the service lists what it has deleted. */
export function mayBeGone(existing: Existing): boolean {
  if (existing.kind === "open") return true;
  const [{ status }] = existing.items;
  return status !== undefined && !(instanceStatuses as readonly string[]).includes(status);
}

/** Returns the first way out for an instance that nothing but a person can destroy, unless no listing would show its removal. */
function waysToRemove(existing: Existing | undefined): string[] {
  return existing?.kind === "open"
    ? []
    : ["remove it at the service (its portal), and run this again"];
}

/** Returns the ways out of a refused replacement. `existing` is undefined if the listing failed. */
export function waysToReplace(existing: Existing | undefined): string[] {
  const create =
    existing && mayBeGone(existing)
      ? "if it is gone, or is to run on, create the new one"
      : "create the new one beside it";
  return [...waysToRemove(existing), `${create}: \`${oneRunCommands.retain}\``];
}

/**
 * Returns the ways out of a refused delete. If the program has asked for no instance, this may be a destroy, or an `up`, in which
 * nobody may be led to a destroy.
 */
export function waysToDelete(
  { state: { registered }, creates }: Session,
  urn: string,
  existing: Existing,
): string[] {
  const first = waysToRemove(existing);
  const drop = mayBeGone(existing)
    ? "if it is gone, or is to run on, drop it from the stack"
    : "let it run, and drop it from the stack";
  if (registered.size === 0)
    return [
      ...first,
      `${drop}: the same command, with COMPUTE_DELETE_POLICY=retain in front of it`,
      `destroy the whole stack, and let all of its instances run: \`${oneRunCommands.retainAll}\``,
    ];
  // An alias that comes after the new instance changes nothing.
  const isRenamed = creates.ours.size > 0 && !registered.has(urn);
  const renamed =
    "if the program only renamed it: undo that, and remove the new one (a rename needs the option `aliases`)";
  return [...(isRenamed ? [renamed] : []), ...first, `${drop}: \`${oneRunCommands.retain}\``];
}

/** Returns how an instance comes within reach: by the setting that differs, where it comes from. */
export function wayIntoReach(
  { run }: Session,
  recorded: Origin | undefined,
  configured: Origin,
): { way: string; isVariable: boolean } {
  const { baseUrl, apiToken } = run.variables;
  if (recorded && recorded.baseUrl !== configured.baseUrl) {
    const way =
      baseUrl === undefined
        ? `run again with compute:baseUrl ${recorded.baseUrl}`
        : `run again with ${recorded.baseUrl} in ${baseUrl}`;
    return { way, isVariable: baseUrl !== undefined };
  }
  const token =
    recorded?.tokenKind === configured.tokenKind
      ? `a token of account ${recorded.account}`
      : `a ${recorded?.tokenKind} token`;
  const place = apiToken === undefined ? "" : ` in ${apiToken}`;
  return { way: `run again with ${token}${place}`, isVariable: apiToken !== undefined };
}
