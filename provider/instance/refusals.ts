/**
 * How a refused delete, replacement or refresh is worded. The reason and the ways out are the same for all instances of a run, so
 * they are said once. Each further instance has one line.
 */
import { bulleted, oneRunCommands, pageAt } from "../advice";
import { instanceStatuses } from "../api/serviceConstants";
import type { EngineRun } from "../engineRun";
import { Refused } from "../errors";
import { whyOpen, type Paging } from "../evidence/why";
import type { Verdict } from "../evidence/witness";
import type { Origin } from "../origin";
import type { SessionRun } from "../session/session";

/** Why nothing was done with an instance. */
interface Refusal {
  id: string;
  /** The instance, and what was not done: "instance i-1 was not deleted". */
  what: string;
  /** What was found of this instance, a short clause. */
  finding: string;
  /** The rest of the first line, which is the same for other instances. */
  why?: string;
  /** At most two, each with at most one command. */
  ways: readonly string[];
  /** The page that says more. */
  page: string;
  /** Whether the ways say what to do about the settings of the run. */
  namesSettings?: boolean;
}

/** Returns the error. Where it reaches the engine, only the first instance with the same reason and ways has the whole of it. */
export function refusal(refused: Refusal): Refused {
  const { id, what, finding, why = "", ways, page, namesSettings = true } = refused;
  const rest = [...bulleted(ways), `More: ${pageAt(page)}`];
  const shared = { subject: [why, ...rest].join("\n"), id, again: `${what}: ${finding}.` };
  return new Refused([`${what}: ${finding}${why}.`, ...rest], shared, { namesSettings });
}

/** What is known of an instance that is not proven gone. */
export type Existing = Exclude<Verdict, { kind: "absent" }>;

/** Why an instance that exists can't be deleted. A clause. */
export const noCall = ", and the service documents no call to destroy it";

/** Says that the instance still exists, how it is listed if it may be gone, or why this is not known. */
export function findingOf(
  existing: Existing,
  isBilled: boolean,
  paging: Paging,
): Pick<Refusal, "finding" | "why"> {
  if (existing.kind === "open") {
    const why = ` (${whyOpen(existing, paging)})${noCall}`;
    return { finding: "whether it still exists can't be told", why };
  }
  const [{ status }] = existing.items;
  const isGonePerhaps = status !== undefined && !instanceStatuses.some((name) => name === status);
  const exists = isGonePerhaps ? `it is listed as ${status}` : "it still exists";
  const billed = isGonePerhaps ? " and may be billed" : " and is billed";
  return { finding: exists + (isBilled ? billed : ""), why: noCall };
}

/** Returns the way out by hand. If no listing would show that the instance was removed, there is none. */
function waysToRemove(existing: Existing): string[] {
  return existing.kind === "open"
    ? []
    : ["remove it at the service (its portal), and run this again"];
}

/** Returns the ways out of a refused replacement. */
export function waysToReplace(existing: Existing): string[] {
  const beside = `create the new one beside it: \`${oneRunCommands.retain}\``;
  return [...waysToRemove(existing), beside];
}

/** Returns the ways out of a refused delete. */
export function waysToDelete(engine: EngineRun, urn: string, existing: Existing): string[] {
  const first = waysToRemove(existing);
  const nameCall =
    "name the service's destroy call: the same command with --compute:destroy-path '/v2/instances/{id}'";
  if (engine.kind === "stateless") return [...first, nameCall];
  const drop = "drop it from the state, and let it run";
  const dropAll = `${drop}: put COMPUTE_DELETE_POLICY=retain before the same command, such as \`${oneRunCommands.retainAll}\``;
  // If the program has asked for no instance, this may be a destroy, or an `up`: the way is the command that was typed.
  if (!engine.hasRegistered) return [...first, dropAll];
  // An alias that comes after the new instance changes nothing.
  const isRenamed = engine.ours.size > 0 && !engine.resource(urn).isRegistered;
  const renamed =
    "keep it, if the program only renamed it: undo that, and remove the new one (a rename needs the option `aliases`)";
  return [...(isRenamed ? [renamed] : first), `${drop}: \`${oneRunCommands.retain}\``];
}

/** Returns how an instance comes within reach: by the setting that differs, where it comes from. */
export function wayIntoReach(
  { variables }: SessionRun,
  recorded: Origin,
  configured: Origin,
): { way: string; isVariable: boolean } {
  const setting = recorded.baseUrl === configured.baseUrl ? "apiToken" : "baseUrl";
  const token =
    recorded.tokenKind === configured.tokenKind
      ? `a token of account ${recorded.account}`
      : `a ${recorded.tokenKind} token`;
  const value = setting === "baseUrl" ? recorded.baseUrl : token;
  const variable = variables[setting];
  const way = `run again with ${value} in ${variable ?? `compute:${setting}`}`;
  return { way, isVariable: variable !== undefined };
}
