/** How a refused delete, replacement or refresh is worded. */
import { bulleted, oneRunCommands, pageAt } from "../advice";
import { instanceStatuses } from "../api/serviceConstants";
import type { DeleteOccasion, Engine } from "../engine";
import { OperationFailed, type Report } from "../errors";
import { whyOpen, type Paging } from "../evidence/why";
import type { Verdict } from "../evidence/witness";

/** Why nothing was done with an instance. */
interface Refusal {
  /** The instance, and what was not done: "instance i-1 was not deleted". */
  what: string;
  /** What was found of this instance alone, a short clause. */
  finding?: string;
  /** The rest of the first line, which is the same for other instances. */
  why?: string;
  /** At most two, each with at most one command, and what a rename needs. */
  ways: readonly string[];
  /** The page that says more. */
  page: string;
}

/** Returns the error. */
export function refusal(refused: Refusal): OperationFailed {
  return new OperationFailed(refusalReport(refused));
}

/** Returns what the error says. */
export function refusalReport({ what, finding, why = "", ways, page }: Refusal): Report {
  const shared = [`${why}.`, ...bulleted(ways), `More: ${pageAt(page)}`];
  return { own: finding === undefined ? what : `${what}: ${finding}`, shared };
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

/**
 * Returns the way out by hand. If no listing would show that the instance was removed, there is none. `refresh`: the command that
 * gives the state the token of this run, if one does.
 */
export function waysToRemove(existing: Existing, refresh?: string, what = "it"): string[] {
  if (existing.kind === "open") return [];
  const remove = `remove ${what} at the service (its portal)`;
  if (existing.weakness === undefined) return [`${remove}, and run this again`];
  if (existing.weakness === "incomplete" || refresh === undefined) return [];
  return [
    `\`${refresh}\`, because the state has another token than this run. Then ${remove}, and run the refused command again`,
  ];
}

/** Returns the ways out of a refused replacement. The change may replace other instances, too. */
export function waysToReplace(existing: Existing): string[] {
  const all = "all that the change replaces (Pulumi stops at the first)";
  const beside = `create the new ones beside the old ones: \`${oneRunCommands.retain}\``;
  return [...waysToRemove(existing, "pulumi refresh --run-program", all), beside];
}

/** Returns the ways out of a refused delete. */
export function waysToDelete(
  engine: Engine,
  occasion: DeleteOccasion,
  urn: string,
  existing: Existing,
): string[] {
  // With the program, a refresh leaves out the old entry of a replacement. Without it, it has the settings that this run has recorded.
  const first = waysToRemove(existing, "pulumi refresh");
  const nameCall =
    "name the service's destroy call: the same command with --compute:destroy-path '/v2/instances/{id}'";
  if (engine.kind === "stateless") return [...first, nameCall];
  const drop = "drop it from the state, and let it run";
  // If the program has asked for no instance, this may be a destroy, or an `up`: the way is the command that was typed.
  if (!engine.hasRegistered && occasion.is !== "replaced")
    return [...first, `${drop}: put COMPUTE_DELETE_POLICY=retain before the same command`];
  // An alias that comes after the new instance changes nothing.
  const isRenamed = engine.ours.size > 0 && !engine.resource(urn).isRegistered;
  const renamed =
    "keep it, if the program only renamed it: undo that, and remove the new one (a rename needs the option `aliases`)";
  const undo = isRenamed ? [renamed] : [];
  return [...first, ...undo, `${drop}: \`${oneRunCommands.retain}\``];
}
