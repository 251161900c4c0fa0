/** The table of `probe`: a pure function of the facts. */
import { inStack, pageAt } from "../../provider/advice";
import { instanceStatuses, pageLimit } from "../../provider/api/serviceConstants";
import { usualCursor } from "../../provider/evidence/collect";
import { isNamed } from "../../provider/evidence/witness";
import { shellQuote } from "../../provider/shellQuote";
import { count } from "../terminal";
import type {
  AccountFact,
  Answer,
  CreateFact,
  CursorFact,
  CursorTry,
  DestroyTry,
  Facts,
  Found,
  ListingFact,
  Made,
  OrderFact,
  Refusal,
  SameNameFact,
  Sighting,
} from "./facts";

/** A line of the table. */
export interface Row {
  readonly what: string;
  readonly found: string;
  /** How sure it is. */
  readonly sure: string;
  /** What the product does with it. */
  readonly then?: string;
  /** The section of the service's document that says otherwise. */
  readonly contradicts?: string;
}

/** A setting that follows, as a command. */
export interface Advised {
  readonly command: string;
  readonly why: string;
}

/** What a person reads. */
export interface Table {
  readonly rows: readonly Row[];
  readonly settings: readonly Advised[];
  /** What could not be found out. */
  readonly open: readonly { readonly what: string; readonly why: string }[];
}

/** Makes the table. `stack`: the stack for the commands, if it is not the selected one. */
export function tableOf(facts: Facts, stack: string | undefined): Table {
  const rows: Row[] = [];
  const open: { what: string; why: string }[] = [];
  const add = <T>(what: string, fact: Found<T>, rowsOf: (value: T) => readonly Row[]) => {
    if (fact.kind === "open") open.push({ what, why: fact.why });
    else rows.push(...rowsOf(fact.value));
  };
  add("account", facts.account, (fact) => [accountRow(fact)]);
  add("listing", facts.listing, listingRows);
  add("cursor", facts.cursor, (fact) => cursorRows(fact, facts.settings.cursorParameter));
  add("order", facts.order, (fact) => [orderRow(fact)]);
  add("create", facts.create, createRows);
  add("same name", facts.sameName, (fact) => [sameNameRow(fact)]);
  add("destroy call", facts.destroy, destroyRows);
  const why = sightingOf(facts)?.why;
  if (why !== undefined) open.push({ what: "ready", why });
  const settings = settingsOf(facts).map(({ name, value, why: reason }) => ({
    command: inStack(`pulumi config set compute:${name} ${shellQuote(value)}`, stack),
    why: reason,
  }));
  return { rows, settings, open };
}

const once = "one answer";
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** A refusal in few words: "409 name_taken". */
const shortText = ({ status, code }: Refusal) =>
  [status, code].filter((part) => part !== undefined).join(" ");

const maxMessageLength = 120;

/** A refusal with what the service says: "409 name_taken: The name is taken." */
function refusalText(refusal: Refusal): string {
  return `${shortText(refusal)}: ${refusal.message.slice(0, maxMessageLength)}`;
}

/** Names the section that an answer without the envelope contradicts. */
const ofRefusal = ({ isEnvelope }: Refusal) =>
  isEnvelope ? {} : { contradicts: "Error envelope" };

function accountRow(fact: AccountFact): Row {
  const what = "account";
  switch (fact.kind) {
    case "id":
      return {
        what,
        found: `shows an id: ${fact.id}`,
        sure: once,
        then: "the state records it, and a refresh with another account's token fails",
      };
    case "noId":
      return {
        what,
        found: "shows no id",
        sure: once,
        then: "address, kind and hash of the token alone tell one account from another",
      };
    case "refused":
      return {
        what,
        found: refusalText(fact.refusal),
        sure: once,
        then: "each run warns, unless compute:validateCredentials is false",
        ...ofRefusal(fact.refusal),
      };
  }
}

function listingRows({ listed, hasMore, refusal }: ListingFact): Row[] {
  const isOther = hasMore ? listed !== pageLimit.default : listed > pageLimit.default;
  return [
    {
      what: "default page",
      found:
        hasMore || isOther
          ? `${listed}`
          : `not seen, because one page shows all ${listed} instances`,
      sure: once,
      then: `the provider always asks for ${pageLimit.max}`,
      ...(isOther && { contradicts: "Limits" }),
    },
    refusal
      ? {
          what: "other parameters",
          found: `refused: ${refusalText(refusal)}`,
          sure: once,
          then: "a wrong compute:cursorParameter is refused, and a warning says so",
          ...ofRefusal(refusal),
        }
      : {
          what: "other parameters",
          found: "ignored",
          sure: once,
          then: "a wrong compute:cursorParameter repeats the first page, and a warning says so",
        },
  ];
}

function cursorRows({ limit, isLimitKept, tries }: CursorFact, configured?: string): Row[] {
  const limitRow: Row = {
    what: "limit",
    found: isLimitKept ? "kept" : `not kept: limit=${limit} cuts no page`,
    sure: once,
    ...(!isLimitKept && { contradicts: "Limits" }),
  };
  const useful = tries.filter(({ result }) => result === "pages" || result === "muddled");
  const isWrong = tries.some(
    ({ parameter, result }) => parameter === configured && result !== "pages",
  );
  const wrong: Row[] = isWrong
    ? [
        {
          what: "cursor",
          found: `"${configured}" leads to no other page`,
          sure: once,
          then: "compute:cursorParameter names it, so each listing past 100 instances warns",
        },
      ]
    : [];
  if (useful.length > 0) return [limitRow, ...useful.map(cursorRow), ...wrong];
  if (tries.length === 0) return [limitRow];
  const none: Row = {
    what: "cursor",
    found: `none of ${tries.map(({ parameter }) => parameter).join(", ")}`,
    sure: `each ${[...new Set(tries.map(({ result }) => result))].join(" or ")}`,
    then: `past 100 instances, creates end unfinished: ${pageAt("scaling.md#a-thousand-instances-without-a-cursor")}`,
  };
  return [limitRow, none, ...wrong];
}

function cursorRow({ parameter, takes, result, pages, isWhole }: CursorTry): Row {
  const what = "cursor";
  if (result === "muddled")
    return { what, found: `"${parameter}" repeats or skips instances`, sure: `${pages} pages` };
  const byId =
    parameter === usualCursor
      ? "the provider finds it by itself: no setting is needed"
      : "with the setting below, listings past 100 instances are complete";
  return {
    what,
    found: `"${parameter}" leads on, by ${takes === "id" ? "the last id" : "number"}`,
    sure: `${pages} pages without repetition${isWhole ? ", to the end" : ""}`,
    then: takes === "id" ? byId : "the provider can't use it, because it passes ids",
  };
}

function orderRow({ oldestFirst, newestFirst }: OrderFact): Row {
  const all = oldestFirst + newestFirst;
  const sure = (agreeing: number) => `${agreeing} of ${all} listings of two instances`;
  const what = "order";
  if (oldestFirst > 0 && newestFirst > 0)
    return {
      what,
      found: "changes from listing to listing",
      sure: sure(Math.max(oldestFirst, newestFirst)),
      then: "pages by a cursor may repeat or lack instances: such a listing proves nothing",
    };
  return oldestFirst > 0
    ? {
        what,
        found: "oldest first",
        sure: sure(oldestFirst),
        then: "without a cursor, a new instance past the first 100 is listed by its status alone",
      }
    : {
        what,
        found: "newest first",
        sure: sure(newestFirst),
        then: "a new instance is on the first page",
      };
}

function createRows(fact: CreateFact): Row[] {
  switch (fact.kind) {
    case "known":
      return [
        {
          what: "create",
          found: `the answer names ${fact.id}, which may be an older instance`,
          sure: once,
          then: "the provider adopts no such instance, and searches for its own",
        },
      ];
    case "refused":
      return [
        {
          what: "create",
          found: `refused: ${refusalText(fact.refusal)}`,
          sure: once,
          then: "nothing was made: give other ids with --flavor, --image and --vpc",
          ...ofRefusal(fact.refusal),
        },
      ];
    case "made":
      return madeRows(fact.made);
  }
}

const oneInstance = "one instance";

function madeRows({ sentName, postMs, accepted, sighting }: Made): Row[] {
  const isProvisioning = (accepted?.status ?? "PROVISIONING") === "PROVISIONING";
  return [
    {
      what: "create",
      found: `${accepted ? "answered" : "no clear answer"} after ${seconds(postMs)}${isProvisioning ? "" : `, with status ${accepted?.status}`}`,
      sure: oneInstance,
      ...(!isProvisioning && { contradicts: "POST /v2/instances, rule 2" }),
    },
    listedRow(sighting),
    statusRow(sighting),
    addressRow(sighting),
    networkRow(accepted?.networks ?? []),
    nameRow(sentName, [accepted?.name, sighting.name]),
  ];
}

function listedRow({ listedAt, lackedAt = 0 }: Sighting): Row {
  const found =
    listedAt === undefined
      ? "not listed"
      : lackedAt > listedAt
        ? `comes and goes until ${seconds(lackedAt)} after the 202`
        : lackedAt > 0
          ? `${seconds(lackedAt)} to ${seconds(listedAt)} after the 202`
          : "in the first listing";
  return {
    what: "listed",
    found,
    sure: oneInstance,
    then: "after a lost answer, the provider searches for compute:settlingSeconds",
  };
}

const isDocumented = (status: string) => (instanceStatuses as readonly string[]).includes(status);

function statusRow({ statuses }: Sighting): Row {
  const isOther = statuses.some(({ status }) => !isDocumented(status));
  const ways = statuses.map(({ status, at }) => `${status || "none"} ${seconds(at)}`);
  return {
    what: "status",
    found: ways.join(" → ") || "none seen",
    sure: oneInstance,
    then: "the create waits for ACTIVE; another status counts after compute:settlingSeconds",
    ...(isOther && { contradicts: "States and transitions" }),
  };
}

function addressRow({ addressAt, before, statuses }: Sighting): Row {
  const activeAt = statuses.find(({ status }) => status === "ACTIVE")?.at;
  const earlier = before.length > 0 ? `; before that ${before.join(", ")}` : "";
  const isLate = activeAt !== undefined && addressAt !== undefined && addressAt > activeAt;
  return {
    what: "address",
    found: addressAt === undefined ? `none${earlier}` : `after ${seconds(addressAt)}${earlier}`,
    sure: oneInstance,
    then:
      addressAt === undefined
        ? "a create waits for one for compute:settlingSeconds, and then warns"
        : isLate
          ? "the create waits for it after ACTIVE"
          : "it is there once the instance is ACTIVE",
  };
}

function networkRow(networks: readonly { type: string; mac_address?: string | undefined }[]): Row {
  const kinds = networks.map(
    ({ type, mac_address: mac }) => `${type} ${mac === undefined ? "without" : "with"} MAC`,
  );
  return {
    what: "networks",
    found: kinds.length > 0 ? `${count(kinds.length, "network")}: ${kinds.join(", ")}` : "none",
    sure: oneInstance,
    then: kinds.length > 0 ? "outputs of the instance" : "networks and privateIpv4 stay empty",
    ...(kinds.length === 0 && { contradicts: "Network" }),
  };
}

function nameRow(sent: string, shown: readonly (string | undefined)[]): Row {
  const names = [...new Set(shown.filter((name) => name !== undefined))];
  const [name = "nothing", ...others] = names;
  const what = "name";
  if (name === sent && others.length === 0)
    return { what, found: "comes back as it was sent", sure: oneInstance };
  return {
    what,
    found: `${sent} comes back as ${names.join(", then ") || "nothing"}`,
    sure: oneInstance,
    then: names.every((one) => isNamed(one, sent))
      ? "the provider recognizes it, and the output has the service's form"
      : "after a lost answer, the provider can't find its instance by name",
    contradicts: "Instance",
  };
}

function sameNameRow(fact: SameNameFact): Row {
  const what = "same name";
  switch (fact.kind) {
    case "another":
      return {
        what,
        found: "accepted: a second instance",
        sure: once,
        then: "a replacement may keep a name that the program chose",
      };
    case "same":
      return {
        what,
        found: "answered with the first instance",
        sure: once,
        then: "the provider takes no such answer for its own create",
      };
    case "refused":
      return {
        what,
        found: `refused: ${refusalText(fact.refusal)}`,
        sure: once,
        then: `a replacement can't keep a name that the program chose: ${pageAt("delete.md#a-name-that-the-program-chose")}`,
        ...ofRefusal(fact.refusal),
      };
  }
}

const answerText = (answer: Answer<number>) =>
  answer.kind === "answered" ? `${answer.value}` : shortText(answer.refusal);

/** The try that has destroyed an instance. */
const working = (tries: readonly DestroyTry[]) =>
  tries.find(({ goneAfter }) => goneAfter !== undefined);

function destroyRows(tries: readonly DestroyTry[]): Row[] {
  const what = "destroy call";
  const call = working(tries);
  if (call?.own && call.goneAfter !== undefined)
    return [
      {
        what,
        found: `DELETE ${call.path} answers ${answerText(call.own)}; gone after ${seconds(call.goneAfter)}`,
        sure: "two complete listings lack the instance",
        then: "with the setting below, a delete destroys",
      },
      {
        what: "unknown id",
        found: `DELETE answers ${answerText(call.stranger)}`,
        sure: once,
        ...(call.stranger.kind === "refused" && ofRefusal(call.stranger.refusal)),
      },
    ];
  const answers = tries.map(({ path, stranger, own = stranger }) => {
    const kept = own.kind === "answered" ? ", and the instance stays listed" : "";
    return `${path}: ${answerText(own)}${kept}`;
  });
  return [
    {
      what,
      found: `none found. ${answers.join("; ")}`,
      sure: `${tries.length} paths`,
      then: "a delete follows compute:deletePolicy, and destroys nothing. The sandbox ends its instances",
    },
  ];
}

const sightingOf = ({ create }: Facts) =>
  create.kind === "found" && create.value.kind === "made" ? create.value.made.sighting : undefined;

/** A setting is raised to so many times of what one sandbox has needed. */
const margin = 3;
const maxSettlingSeconds = 600;
/** A wait for an instance takes so many polls. */
const pollsInAWait = 20;
const maxPollSeconds = 60;

/** Returns the settings that follow. What concerns times is only ever raised: one sandbox instance proves no less. */
function settingsOf(facts: Facts): { name: string; value: string; why: string }[] {
  const { settings, cursor, destroy } = facts;
  const advised: { name: string; value: string; why: string }[] = [];
  const tries = cursor.kind === "found" ? cursor.value.tries : [];
  const cursors = tries.filter(({ takes, result }) => takes === "id" && result === "pages");
  const hasCursor = cursors.some(
    ({ parameter }) => parameter === (settings.cursorParameter ?? usualCursor),
  );
  const [other] = cursors;
  if (other && !hasCursor)
    advised.push({
      name: "cursorParameter",
      value: other.parameter,
      why: "a listing then shows all instances",
    });
  const sighting = sightingOf(facts);
  const unsettledMs = sighting ? unsettledOf(sighting) : 0;
  const settling = Math.min(maxSettlingSeconds, Math.ceil((margin * unsettledMs) / 10_000) * 10);
  if (settling * 1000 > settings.settlingMs)
    advised.push({
      name: "settlingSeconds",
      value: `${settling}`,
      why: `${margin} times the ${seconds(unsettledMs)} for which listings lacked the instance, its address or its end status`,
    });
  const call = destroy.kind === "found" ? working(destroy.value) : undefined;
  if (call && call.path !== settings.destroyPath)
    advised.push({
      name: "destroyPath",
      value: call.path,
      why: "from then on, a removal, a replacement and `pulumi destroy` send DELETE, and the server ends",
    });
  const readyMs = Math.max(sighting?.addressAt ?? 0, sighting?.statuses.at(-1)?.at ?? 0);
  const poll = Math.min(maxPollSeconds, Math.round(readyMs / 1000 / pollsInAWait));
  if (poll * 1000 > settings.pollIntervalMs)
    advised.push({
      name: "pollIntervalSeconds",
      value: `${poll}`,
      why: `an instance took ${seconds(readyMs)} to get ready, and fewer listings show that as well`,
    });
  return advised;
}

/** Returns how long listings did not show an instance as it was in the end. */
function unsettledOf({ listedAt = 0, lackedAt = 0, addressAt, statuses }: Sighting): number {
  const lacking = lackedAt > 0 ? Math.max(listedAt, lackedAt) : 0;
  const activeAt = statuses.find(({ status }) => status === "ACTIVE")?.at;
  const withoutAddress = activeAt === undefined ? 0 : Math.max(0, (addressAt ?? 0) - activeAt);
  const passing = statuses.map(({ status, at }, index) => {
    const next = statuses[index + 1];
    return next && status !== "PROVISIONING" ? next.at - at : 0;
  });
  return Math.max(lacking, withoutAddress, ...passing);
}
