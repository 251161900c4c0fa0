/** What a person is told when the outcome of a POST stays open (G2, G9). */
import { discardCommand, explain, importCommand } from "../../advice";
import type { ListItem } from "../../api/contract";
import type { RequestError } from "../../api/errors";
import { OperationFailed } from "../../errors";
import type { Sighting } from "./settle";

/** The create that was sent, and how it ended. */
export interface OpenCreate {
  urn: string;
  provider: string | undefined;
  /** As messages show it (G8). */
  name: string;
  failure: RequestError;
}

const nextUp =
  "The next `pulumi up` on this machine looks again before it creates anything; elsewhere, look for the name in the service's list first";

export function severalSeen(open: OpenCreate, seen: readonly ListItem[]): OperationFailed {
  const ids = seen.map((item) => item.id).join(", ");
  return failed(
    open,
    `Several instances named "${open.name}" have turned up since: ${ids}. Which of them this create made can't be told. Find out, remove the others at the service, and take the right one over: \`${importCommand(open, "<id>")}\`. If it is none of them, drop the note of this create and run again: \`${discardCommand(open.urn)}\``,
  );
}

export function notProvenOurs(open: OpenCreate, item: ListItem, doubt: string): OperationFailed {
  return failed(
    open,
    `An instance named "${open.name}" is there now, ${item.id}, but ${doubt}. If it is the one, take it over: \`${importCommand(open, item.id)}\`. If not, drop the note of this create and run again: \`${discardCommand(open.urn)}\``,
  );
}

export function noneSeen(
  open: OpenCreate,
  { complete, problem }: Sighting,
  { lookedMs, sent }: { lookedMs: number; sent: number },
): OperationFailed {
  const within = `within ${lookedMs / 1000} s`;
  const seen = problem
    ? `the look for it failed (${problem})`
    : complete
      ? `no instance named "${open.name}" turned up ${within}`
      : `the listings were not complete, and showed no instance named "${open.name}" ${within}`;
  const times = sent > 1 ? ` The create was sent ${sent} times, each unanswered or broken.` : "";
  return failed(
    open,
    `Whether it was created is not known: ${seen}.${times} Nothing more was sent. ${nextUp}. Should the instance turn up, take it over with \`${importCommand(open, "<id>")}\``,
  );
}

/** Ctrl-C, or the operation's time-out. */
export function cutShort(open: OpenCreate, why: Error): OperationFailed {
  return failed(
    open,
    `Whether "${open.name}" was created is not known, and the look for it was cut short (${why.message}). ${nextUp}, and take it over with \`${importCommand(open, "<id>")}\``,
  );
}

/** The one repeat was refused, or never left this machine. */
export function repeatRefused(open: OpenCreate, refusal: RequestError): OperationFailed {
  return failed(
    open,
    `No instance named "${open.name}" turned up, so the create was sent once more, and surely made nothing: ${explain(refusal)} Whether the first one created it all the same is not known. ${nextUp}`,
  );
}

function failed({ failure }: OpenCreate, what: string): OperationFailed {
  return new OperationFailed(`${failure.message}. ${what}`, { cause: failure });
}
