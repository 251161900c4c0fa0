/** The messages of a create: pending creates, leftovers, and how this one failed (G2, G9). */
import { discardCommand, explain, importAs, importCommand } from "../advice";
import { RequestError } from "../api/errors";
import { OperationFailed } from "../errors";
import { displayRecordedName, type LedgerRecord } from "../ledger/record";
import type { Failure, Leftover, PendingReason, Unclear } from "./protocol";

/** The create that messages are about. */
export interface About {
  urn: string;
  provider: string | undefined;
  /** As messages show it: a secret one is redacted (G8). */
  shownName: string;
  settlingMs: number;
}

/** The error that the engine is given. */
export function errorOf(failure: Failure, about: About): Error {
  switch (failure.kind) {
    case "pending":
      return new OperationFailed(pending(failure.record, failure.why, failure.id));
    case "leftovers":
      return new OperationFailed(leftoversRefused(failure.items, failure.partial, about));
    case "standing":
      return new OperationFailed(standing(failure.record, failure.id));
    case "lookFailed":
    case "refused":
      return new OperationFailed(explain(failure.failure), { cause: failure.failure });
    case "notSent":
      return failure.failure instanceof RequestError
        ? new OperationFailed(explain(failure.failure), { cause: failure.failure })
        : failure.failure;
    case "unclear":
      return new OperationFailed(
        `${failure.failure.message}. ${unclear(failure, failure.key, about)}`,
        { cause: failure.failure },
      );
    case "stopped":
      return failure.why;
  }
}

// ── Pending creates ──────────────────────────────────────────────────────────────────────────────

function pending(record: LedgerRecord, why: PendingReason, id = "<id>"): string {
  if (why.is === "overtaken") {
    return `another run created instance ${id} for this resource's URN while this one waited: nothing was created now. Run again, and see what the state holds by then`;
  }
  const name = displayRecordedName(record.name);
  const start = `an earlier run began to create "${name}" for this resource (${record.at}), and no state is known to hold its result`;
  const ways = `To take the instance over: \`${importCommand(record, id)}\`. To forget that create, once you know that nothing of it runs: \`${discardCommand(record.key)}\``;
  return `${start}: ${reason(why, id)}. Nothing was created now. ${ways}`;
}

function reason(why: Exclude<PendingReason, { is: "overtaken" }>, id: string): string {
  const unknown = "whether it is there can't be told";
  switch (why.is) {
    case "inFlight":
      return "that run is still at it. Run again once it has ended";
    case "otherScope":
      return "its provider was another one (another version of the plugin, or another organisation's stack of the same name), so it can't be told whether it is this stack's";
    case "replied":
      return `the engine was given instance ${id}, and whether a state holds it is not known`;
    case "unlockable":
      return "whether that run has ended can't be told, or others keep taking it over";
    case "elsewhere":
      return why.difference;
    case "changed":
      // The digest is keyed with the token.
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
      return `${unknown}: the token is not the one it was begun with, so its listing may be another tenant's`;
    case "several":
      return `several instances could be it: ${why.ids.join(", ")}`;
    case "turnedUp":
      return `${found(why.ids)}, but the name is not one that the provider made up, so it may be another's`;
    case "lookFailed":
      return `${unknown}: ${why.failure.message}`;
  }
}

const found = (ids: readonly string[]) =>
  ids.length > 1 ? `several of that name are there: ${ids.join(", ")}` : `${ids.join()} is there`;

/** The one notice of a run about pending creates that it does not deal with. */
export function pendingNotice(
  records: readonly LedgerRecord[],
  elsewhere: number,
  order: { scope: string | undefined; baseUrl: string },
): string {
  const lines = records.map((record) => {
    const { urn, id, key, baseUrl, scope, stage, at } = record;
    const what = `"${displayRecordedName(record.name)}"${id === undefined ? "" : `, instance ${id}`} at ${baseUrl} (${at}) for ${urn}`;
    const resumes =
      scope !== undefined &&
      scope === order.scope &&
      baseUrl === order.baseUrl &&
      stage !== "replied";
    const byItself = resumes
      ? "its own create looks for it; where the program has it under another name by now, "
      : "";
    const next = `${byItself}take it over with \`${importCommand(record, id ?? "<id>")}\`, or forget it with \`${discardCommand(key)}\` once you know that nothing of it runs`;
    return `${what}: ${next}`;
  });
  const others =
    elsewhere > 0 ? `. Other projects have ${elsewhere} more; \`discard\` lists them` : "";
  return `earlier runs left pending creates, whose instances no state is known to hold: ${lines.join("; ")}${others}`;
}

export function resumedNotice(id: string, shownName: string): string {
  return `an earlier run created ${id} ("${shownName}") for this resource, and no state is known to hold it: this run takes it over, and creates nothing new`;
}

// ── Leftovers ────────────────────────────────────────────────────────────────────────────────────

/** A resource, and its leftovers. */
export interface LeftoversOf {
  about: About;
  items: readonly Leftover[];
}

export function leftoversNotice(found: readonly LeftoversOf[]): string {
  const lines = found.flatMap(({ about, items }) => items.map((item) => leftoverLine(item, about)));
  return `instances that may be left over from earlier creates are at the service, and new ones are created: ${lines.join("; ")}. They may also be another stack's, or the very ones that this run replaces; if nothing holds one, take it over by its import (under a name of its own), or remove it at the service. ${failSetting}`;
}

const failSetting =
  "`pulumi config set compute:leftovers fail` stops such a create before anything is sent";

export const partialNotice =
  "the listing before the create was not complete, so only a part of the service was searched for leftovers of earlier creates";

function leftoverLine({ id, why }: Leftover, { urn, provider }: About): string {
  const how = {
    tag: "its name was made for this resource",
    name: "it has the same name",
    delivered: "an earlier run created it for this resource",
  }[why];
  return `${id} (${urn}: ${how}; \`${importAs("<name>", id, provider)}\`)`;
}

function leftoversRefused(items: readonly Leftover[], partial: boolean, about: About): string {
  const what = [
    ...items.map((item) => leftoverLine(item, about)),
    ...(partial ? [partialNotice] : []),
  ].join("; ");
  const take = items.map(({ id }) => `\`${importCommand(about, id)}\``).join(" or ");
  const ways = [
    ...(items.length > 0
      ? [
          `If it is this resource's, take it over: ${take}; if nothing holds it, remove it at the service`,
        ]
      : []),
    "To create a new one all the same (`--replace`, `pulumi state taint`, replacementTrigger and replaceWith need that, too): `pulumi config set compute:leftovers warn`",
  ];
  return `nothing was created, since compute:leftovers is "fail" and something may be left of earlier creates of this resource: ${what}. ${ways.join(". ")}`;
}

function standing(record: LedgerRecord, id: string): string {
  return `nothing was created: instance ${id}, which an earlier run created for this resource, is still there or too young to be listed, and its delete would fail (compute:deletePolicy is "fail"), so that there would be two. Remove it at the service first, or let it run: \`pulumi config set compute:deletePolicy retain\`. If no state holds it any more (\`pulumi state delete\`), take it over: \`${importCommand(record, id)}\`, or forget it: \`${discardCommand(record.key)}\``;
}

// ── A POST whose outcome is not known ────────────────────────────────────────────────────────────

const nextUp =
  "The next `pulumi up` on this machine looks again before it creates anything; elsewhere, look for the name in the service's list first";

function unclear(how: Unclear, key: string, about: About): string {
  const { shownName: name, settlingMs } = about;
  switch (how.end) {
    case "several":
      return `Several instances named "${name}" have turned up since: ${how.ids.join(", ")}. Which of them this create made can't be told. Find out, remove the others at the service, and take the right one over: \`${importCommand(about, "<id>")}\`. ${noneOfThem(key)}`;
    case "turnedUp": {
      const [id = "<id>"] = how.ids;
      return how.ids.length > 1
        ? unclear({ end: "several", ids: how.ids }, key, about)
        : `An instance named "${name}" has turned up since, ${id}; the name is not one that the provider made up, so it may be another's, and it was not adopted. If it is the one, take it over: \`${importCommand(about, id)}\`. ${noneOfThem(key)}`;
    }
    case "none": {
      const within = `within ${settlingMs / 1000} s`;
      const seen =
        how.problem !== undefined
          ? `the look for it failed (${how.problem})`
          : how.complete
            ? `no instance named "${name}" turned up ${within}`
            : `the listings were not complete, and showed no instance named "${name}" ${within}`;
      const times =
        how.sent > 1 ? ` The create was sent ${how.sent} times; neither was answered clearly.` : "";
      return `Whether it was created is not known: ${seen}.${times} Nothing more was sent. ${nextUp}. Should the instance turn up, take it over with \`${importCommand(about, "<id>")}\``;
    }
    case "stopped":
      return `Whether "${name}" was created is not known, and the look for it was cut short (${how.why.message}). ${nextUp}, and take it over with \`${importCommand(about, "<id>")}\``;
    case "repeatFailed": {
      const why = how.repeat instanceof RequestError ? explain(how.repeat) : how.repeat.message;
      return `No instance named "${name}" turned up, so the create was tried once more, which surely made nothing: ${why} Whether the first one created it all the same is not known. ${nextUp}`;
    }
  }
}

const noneOfThem = (key: string) =>
  `If it is none of this create's, forget the create and run again: \`${discardCommand(key)}\``;
