/** What a create tells the person: why it failed, pending creates, and leftovers (G2, G9). */
import { discardCommand, explain, importAs, importCommand } from "../advice";
import { RequestError } from "../api/errors";
import { OperationFailed } from "../errors";
import { displayRecordedName, type LedgerRecord } from "../ledger/record";
import type { CreateSpec, Failure, Leftover, PendingReason, UnclearReason } from "./protocol";

/** The create that a message is about. */
export interface CreateSubject {
  urn: string;
  /** The URN of the program's own provider; undefined for the default one. */
  provider: string | undefined;
  /** The name as messages show it: redacted if it is secret (G8). */
  shownName: string;
  settlingMs: number;
}

/** The error for the engine. */
export function failureError(failure: Failure, subject: CreateSubject): Error {
  switch (failure.kind) {
    case "pending":
      return new OperationFailed(pendingError(failure.record, failure.why));
    case "leftovers":
      return new OperationFailed(leftoversError(failure.items, failure.partial, subject));
    case "undeletable":
      return new OperationFailed(undeletableError(failure.record));
    case "listingFailed":
    case "refused":
      return new OperationFailed(explain(failure.error), { cause: failure.error });
    case "notSent": {
      const { error } = failure;
      if (!(error instanceof RequestError)) return error;
      return new OperationFailed(explain(error), { cause: error });
    }
    case "unclear": {
      const { error, why, key } = failure;
      const text = `${error.message}. ${unclearText(why, key, subject)}`;
      return new OperationFailed(text, { cause: error });
    }
    case "stopped":
      return failure.why;
  }
}

// ── Pending creates ──────────────────────────────────────────────────────────────────────────────

function pendingError(record: LedgerRecord, why: PendingReason): string {
  const { key, name, at, id = "<id>" } = record;
  if (why.kind === "overtaken") {
    return `another run created instance ${id} for this resource's URN while this one waited: nothing was created now. Run again: the state may hold that instance by then`;
  }
  return `an earlier run began to create "${displayRecordedName(name)}" for this resource (${at}), and no state is known to hold its result: ${pendingReason(why, id)}. Nothing was created now. To take the instance over: \`${importCommand(record, id)}\`. To forget that create, once you know that nothing of it runs: \`${discardCommand(key)}\``;
}

function pendingReason(why: Exclude<PendingReason, { kind: "overtaken" }>, id: string): string {
  const unknown = "whether its instance exists can't be told";
  switch (why.kind) {
    case "inFlight":
      return "that run is still at it. Run again once it has ended";
    case "otherScope":
      return "its provider was another one (another version of the plugin, or another organisation's stack of the same name), so it may not be this stack's";
    case "replied":
      return `the engine was given instance ${id}, and whether a state holds it is not known`;
    case "unlockable":
      return "whether that run has ended can't be told, or other runs keep taking its create over";
    case "otherOrigin":
      return why.difference;
    case "changed":
      return why.sameToken
        ? `instance ${id} is there, but the program now asks for another`
        : `instance ${id} is there, but the token has changed since, so whether the program still asks for the same can't be told`;
    case "unproven":
      return `whether ${id} still exists can't be told: ${why.why}`;
    case "secretName":
      return `${unknown}: its name was secret, and is not the one that the program gives now`;
    case "incomplete":
      return `${unknown}: the service's listing is not complete, and does not show it`;
    case "otherToken":
      return `${unknown}: that run had another token, so the listing may be another tenant's`;
    case "several":
      return `several instances could be it: ${why.ids.join(", ")}`;
    case "turnedUp": {
      const seen =
        why.ids.length > 1
          ? `several instances of that name are there: ${why.ids.join(", ")}`
          : `${why.ids.join()} is there`;
      return `${seen}, but the name is not one that the provider made up, so it may be another's`;
    }
    case "listingFailed":
      return `${unknown}: ${why.error.message}`;
  }
}

/** Names the pending creates of this project, and counts the others (`elsewhere`). */
export function pendingNotice(
  records: readonly LedgerRecord[],
  elsewhere: number,
  { scope, origin }: Pick<CreateSpec, "scope" | "origin">,
): string {
  const lines = records.map((record) => {
    const { urn, id, key, name, baseUrl, stage, at } = record;
    const instance = id === undefined ? "" : `, instance ${id}`;
    const isResumed =
      scope !== undefined &&
      scope === record.scope &&
      baseUrl === origin.baseUrl &&
      stage !== "replied";
    const resumes = isResumed
      ? "the next create of that resource looks for it; if the program has renamed the resource, "
      : "";
    return `"${displayRecordedName(name)}"${instance} at ${baseUrl} (${at}) for ${urn}: ${resumes}take it over with \`${importCommand(record, id ?? "<id>")}\`, or forget it with \`${discardCommand(key)}\` once you know that nothing of it runs`;
  });
  const others =
    elsewhere > 0 ? `. Other projects have ${elsewhere} more; \`discard\` lists them` : "";
  return `earlier runs left pending creates, whose instances no state is known to hold: ${lines.join("; ")}${others}`;
}

/** The warning of a create that takes over an earlier run's instance. */
export function resumedNotice(id: string, shownName: string): string {
  return `an earlier run created ${id} ("${shownName}") for this resource, and no state is known to hold it: this run takes it over, and creates nothing new`;
}

// ── Leftovers ────────────────────────────────────────────────────────────────────────────────────

/** Printed once a run if a listing before a create was not complete. */
export const partialNotice =
  "the listing before the create was not complete, so only a part of the service was searched for leftovers of earlier creates";

/** One leftover: its id, why it may be one, and its import. */
export function leftoverText({ id, why }: Leftover, { urn, provider }: CreateSubject): string {
  const reason = {
    tag: "its name was made for this resource",
    name: "it has the same name",
    delivered: "an earlier run created it for this resource",
  }[why];
  return `${id} (${urn}: ${reason}; \`${importAs("<name>", id, provider)}\`)`;
}

/** Names leftovers, each as `leftoverText` has it, before new instances are created. */
export function leftoversNotice(leftovers: readonly string[]): string {
  return `instances that may be left over from earlier creates are at the service, and new ones are created: ${leftovers.join("; ")}. They may also be another stack's, or the very ones that this run replaces. If nothing holds one, take it over by its import (under a name of its own), or remove it at the service. With \`pulumi config set compute:leftovers fail\`, a create stops before anything is sent`;
}

function leftoversError(
  items: readonly Leftover[],
  partial: boolean,
  subject: CreateSubject,
): string {
  const found = items.map((item) => leftoverText(item, subject));
  if (partial) found.push(partialNotice);
  const imports = items.map(({ id }) => `\`${importCommand(subject, id)}\``).join(" or ");
  const takeOver =
    items.length > 0
      ? `If it is this resource's, take it over: ${imports}; if nothing holds it, remove it at the service. `
      : "";
  return `nothing was created, since compute:leftovers is "fail" and something may be left of earlier creates of this resource: ${found.join("; ")}. ${takeOver}To create a new one all the same (\`--replace\`, \`pulumi state taint\`, replacementTrigger and replaceWith need that, too): \`pulumi config set compute:leftovers warn\``;
}

function undeletableError(record: LedgerRecord): string {
  const { id = "<id>", key } = record;
  return `nothing was created: instance ${id}, which an earlier run created for this resource, is still there or too young to be listed, and its delete would fail (compute:deletePolicy is "fail"), so there would be two. Remove it at the service first, or let it run: \`pulumi config set compute:deletePolicy retain\`. If no state holds it any more (\`pulumi state delete\`), take it over: \`${importCommand(record, id)}\`, or forget it: \`${discardCommand(key)}\``;
}

// ── A POST whose outcome is not known ────────────────────────────────────────────────────────────

const nextUp =
  "The next `pulumi up` on this machine looks again before it creates anything; elsewhere, look for the name in the service's list first";

function unclearText(why: UnclearReason, key: string, subject: CreateSubject): string {
  const { shownName: name, settlingMs } = subject;
  const takeOver = `\`${importCommand(subject, "<id>")}\``;
  switch (why.kind) {
    case "several":
    case "turnedUp": {
      const [id = "<id>"] = why.ids;
      const ways =
        why.ids.length > 1
          ? `Several instances named "${name}" have turned up since: ${why.ids.join(", ")}. Which of them this create made can't be told. Find out, remove the others at the service, and take the right one over: ${takeOver}`
          : `An instance named "${name}" has turned up since, ${id}; the name is not one that the provider made up, so it may be another's, and it was not adopted. If it is the one, take it over: \`${importCommand(subject, id)}\``;
      return `${ways}. If this create made none of them, forget the create and run again: \`${discardCommand(key)}\``;
    }
    case "none": {
      const within = `within ${settlingMs / 1000} s`;
      const seen =
        why.problem !== undefined
          ? `the look for it failed (${why.problem})`
          : why.complete
            ? `no instance named "${name}" turned up ${within}`
            : `the listings were not complete, and showed no instance named "${name}" ${within}`;
      const times =
        why.sent > 1 ? ` The create was sent ${why.sent} times; neither was answered clearly.` : "";
      return `Whether it was created is not known: ${seen}.${times} Nothing more was sent. ${nextUp}. If the instance turns up, take it over with ${takeOver}`;
    }
    case "stopped":
      return `Whether "${name}" was created is not known, and the look for it was cut short (${why.why.message}). ${nextUp}, and take it over with ${takeOver}`;
    case "repeatFailed": {
      const { error } = why;
      const text = error instanceof RequestError ? explain(error) : error.message;
      return `No instance named "${name}" turned up, so the create was tried once more, which surely made nothing: ${text} Whether the first one created it all the same is not known. ${nextUp}`;
    }
  }
}
