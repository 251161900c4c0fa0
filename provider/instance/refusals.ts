/**
 * How a refused delete, replacement or refresh is worded. The reason and the ways out are the same for all instances of a run, so
 * they are said once. Each further instance has one line.
 */
import { bulleted, howToSet, pageAt } from "../advice";
import { OperationFailed } from "../errors";
import type { Origin } from "../origin";
import type { Session } from "../session/session";

/** Why nothing was done with an instance. */
interface Refusal {
  /** The instance, and what was not done: "instance i-1 was not deleted". */
  what: string;
  /** What was found of it, a clause: the same for all instances to which the rest applies. */
  finding: string;
  /** The line of a further instance, if the finding is short enough to be said again. */
  again?: string;
  /** The rest of the first line. */
  why?: string;
  /** Two at most, each with one command or none. */
  ways: readonly string[];
  /** The page that says more. */
  page: string;
  /** Whether the ways say what to do about the settings of the run. */
  namesSettings?: boolean;
}

/** Returns the error. If the run has refused another instance for the same reason, it has one line. */
export function refusal({ notices }: Session, refused: Refusal): OperationFailed {
  const { what, finding, why = "", ways, page, namesSettings = false } = refused;
  const { again = `${what}, for the same reason` } = refused;
  if (!notices.isFirst(`refused (${page}): ${finding}`))
    return new OperationFailed(`${again}.`, { namesSettings: true });
  const lines = [`${what}: ${finding}${why}.`, ...bulleted(ways), `More: ${pageAt(page)}`];
  return new OperationFailed(lines, { namesSettings });
}

/** The first way out for an instance that nothing but a person can destroy. */
export const removeIt = "remove it at the service (its portal), and run this again";

/**
 * Returns the command that lets instances run, as it is typed: an `up`, or a destroy whose program names the new settings. A
 * destroy by itself takes them from the state.
 */
export function commandToRetain({ run, state }: Session): string {
  const isUp = state.registered.size > 0;
  if (run.providerUrn !== undefined) {
    const argument = howToSet("deletePolicy", "retain", run.providerUrn);
    return isUp
      ? `${argument}, then \`pulumi up\``
      : `${argument}, then \`pulumi destroy --run-program\``;
  }
  const saved = "-c saves the setting in the stack's file";
  return isUp
    ? `\`pulumi up ${setRetain}\` (${saved})`
    : `\`pulumi destroy --run-program ${setRetain}\` (${saved}; the program needs an instance)`;
}

const setRetain = "-c compute:deletePolicy=retain";

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
