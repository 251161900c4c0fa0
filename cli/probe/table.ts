/** The table of `probe`: a pure function of the facts. */
import { inStack, pageAt } from "../../provider/advice";
import { instanceStatuses, pageLimit } from "../../provider/api/serviceConstants";
import { maxPollIntervalSeconds, maxSettlingSeconds } from "../../provider/config/settings";
import { noCursor, usualCursor } from "../../provider/evidence/collect";
import { isNamed } from "../../provider/evidence/witness";
import { shellQuote } from "../../provider/shellQuote";
import { count } from "../terminal";
import {
  open,
  type AccountFact,
  type Answer,
  type CreateFact,
  type CursorFact,
  type DestroyTry,
  type Facts,
  type StepResult,
  type ListingFact,
  type Made,
  type OrderFact,
  type RefusedAnswer,
  type SameNameFact,
  type ListedFact,
} from "./facts";

/** A line of the table. */
interface TableRow {
  readonly what: string;
  readonly found: string;
  /** How sure it is. */
  readonly sure: string;
  /** What the product does with it. Empty if nothing. */
  readonly then: string;
  /** The section of the service's document that says otherwise. Empty if none does. */
  readonly contradicts: string;
}

/** What a person reads. */
export interface Table {
  readonly rows: readonly TableRow[];
  /** The settings that follow, each as a command. */
  readonly settings: readonly { readonly command: string; readonly why: string }[];
  /** What could not be found out. */
  readonly open: readonly { readonly what: string; readonly why: string }[];
}

/** Makes the table. `stack`: the stack for the commands, if it is not the selected one. */
export function tableOf(facts: Facts, stack: string | undefined): Table {
  const rows = [accountRow(facts.account), ...listingRows(facts.listing)];
  const unanswered: { what: string; why: string }[] = [];
  const add = <T>(what: string, fact: StepResult<T>, rowsOf: (value: T) => readonly TableRow[]) => {
    if (fact.kind === "open") unanswered.push({ what, why: fact.why });
    else rows.push(...rowsOf(fact.value));
  };
  add("cursor", facts.cursor, (fact) => cursorRows(fact, facts.settings.cursorParameter));
  add("order", facts.order, (fact) => [orderRow(fact)]);
  add("create", facts.create, createRows);
  add("same name", facts.sameName, (fact) => [sameNameRow(fact)]);
  add("destroy call", destroyResult(facts), (tries) => destroyRows(tries, facts.settings));
  const why = madeSighting(facts)?.why;
  if (why !== undefined) unanswered.push({ what: "ready", why });
  const settings = settingsOf(facts).map(([name, value, reason]) => ({
    command: inStack(`pulumi config set compute:${name} ${shellQuote(value)}`, stack),
    why: reason,
  }));
  return { rows, settings, open: unanswered };
}

function row(what: string, found: string, sure: string, then = "", contradicts = ""): TableRow {
  return { what, found, sure, then, contradicts };
}

const once = "one answer";
const oneInstance = "one instance";
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
const maxMessageLength = 120;

/** A refusal in few words: "409 name_taken". */
const shortText = ({ status, code }: RefusedAnswer) => [status, code].filter(Boolean).join(" ");

/** The row of a refusal, with what the service says. */
function refusedRow(what: string, refusal: RefusedAnswer, then: string): TableRow {
  const found = `refused: ${shortText(refusal)}: ${refusal.message.slice(0, maxMessageLength)}`;
  return row(what, found, once, then, refusal.isEnvelope ? "" : "Error envelope");
}

function accountRow(fact: AccountFact): TableRow {
  switch (fact.kind) {
    case "id":
      return row("account", `shows an id: ${fact.id}`, once, "a state with another id is refused");
    case "noId":
      return row("account", "shows no id", once, "address and token alone tell accounts apart");
    case "refused":
      return refusedRow(
        "account",
        fact.refusal,
        "each run warns, unless compute:validateCredentials is false",
      );
  }
}

function listingRows({ listed, hasMore, refusal }: ListingFact): TableRow[] {
  const isOther = hasMore ? listed !== pageLimit.default : listed > pageLimit.default;
  const size =
    hasMore || isOther ? `${listed}` : `not seen, because one page shows all ${listed} instances`;
  const limit = `the provider always asks for ${pageLimit.max}`;
  const wrong = "a wrong compute:cursorParameter";
  return [
    row("default page", size, once, limit, isOther ? "Limits" : ""),
    refusal
      ? refusedRow("other parameters", refusal, `${wrong} is refused, and a warning says so`)
      : row("other parameters", "ignored", once, `${wrong} repeats a page, and a warning says so`),
  ];
}

function cursorRows({ limit, isPageCut, tries }: CursorFact, configured?: string): TableRow[] {
  if (!isPageCut) return [row("limit", `not kept: ${limit} cuts no page`, once, "", "Limits")];
  const rows = tries.flatMap(({ parameter, takes, result, pages, isWhole }) => {
    if (result === "muddled")
      return [row("cursor", `"${parameter}" repeats or skips instances`, `${pages} pages`)];
    if (result !== "pages")
      return parameter === configured
        ? [row("cursor", `"${parameter}", which is set, leads to no other page: ${result}`, once)]
        : [];
    const isFound = parameter === usualCursor && configured === undefined;
    const way = parameter === configured ? "names it" : "can name it";
    const own = isFound ? "the provider finds it by itself" : `compute:cursorParameter ${way}`;
    return [
      row(
        "cursor",
        `"${parameter}" leads on, by ${takes === "id" ? "the last id" : "number"}`,
        `${pages} pages without repetition${isWhole ? ", to the end" : ""}`,
        takes === "id" ? own : "the provider can't use it, because it passes ids",
      ),
    ];
  });
  const past100 = configured === noCursor ? "ipv4 may stay empty" : "creates end unfinished";
  const none = row(
    "cursor",
    `none of ${tries.map(({ parameter }) => parameter).join(", ")}`,
    `each ${[...new Set(tries.map(({ result }) => result))].join(" or ")}`,
    `past 100 instances, ${past100}: ${pageAt("scaling.md#a-thousand-instances-without-a-cursor")}`,
  );
  return [row("limit", "kept", once), ...(rows.length > 0 ? rows : [none])];
}

function orderRow({ oldestFirst, newestFirst }: OrderFact): TableRow {
  const most = Math.max(oldestFirst, newestFirst);
  const all = oldestFirst + newestFirst;
  const [found, then] =
    most < all
      ? ["changes from listing to listing", "pages may lack instances, and prove nothing"]
      : oldestFirst > 0
        ? ["oldest first", "a new instance is on the last page"]
        : ["newest first", "a new instance is on the first page"];
  return row("order", found, `${most} of ${all} listings of two instances`, then);
}

function createRows(fact: CreateFact): TableRow[] {
  switch (fact.kind) {
    case "known": {
      const found = `the answer names ${fact.id}, which may be an older instance`;
      return [row("create", found, once, "the provider adopts no such instance")];
    }
    case "refused":
      return [refusedRow("create", fact.refusal, "other ids: --flavor, --image and --vpc")];
    case "made":
      return madeRows(fact.made);
  }
}

function madeRows({ sentName, postMs, accepted, sighting }: Made): TableRow[] {
  const { status = "PROVISIONING", networks = [] } = accepted ?? {};
  const answer = `${accepted ? "answered" : "no clear answer"} after ${seconds(postMs)}`;
  const kinds = networks.map(
    ({ type, mac_address: mac }) => `${type} ${mac === undefined ? "without" : "with"} MAC`,
  );
  const settling = "after a lost answer, the provider searches for compute:settlingSeconds";
  return [
    status === "PROVISIONING"
      ? row("create", answer, oneInstance)
      : row("create", `${answer}, ${status}`, oneInstance, "", "POST /v2/instances, rule 2"),
    row("listed", listedText(sighting), oneInstance, settling),
    statusRow(sighting),
    addressRow(sighting),
    kinds.length > 0
      ? row("networks", `${count(kinds.length, "network")}: ${kinds.join(", ")}`, oneInstance)
      : row("networks", "none", oneInstance, "the outputs stay empty", "Network"),
    nameRow(sentName, [accepted?.name, sighting.name]),
  ];
}

function listedText({ listedAt, lackedAt = 0 }: ListedFact): string {
  if (listedAt === undefined) return "not listed";
  if (lackedAt > listedAt) return `comes and goes until ${seconds(lackedAt)} after the 202`;
  const isLate = lackedAt > 0;
  return isLate
    ? `${seconds(lackedAt)} to ${seconds(listedAt)} after the 202`
    : "in the first listing";
}

function statusRow({ statuses }: ListedFact): TableRow {
  const isDocumented = (status: string) => instanceStatuses.some((known) => known === status);
  const isOther = statuses.some(({ status }) => !isDocumented(status));
  const ways = statuses.map(({ status, at }) => `${status || "none"} ${seconds(at)}`);
  const then = "a create waits for ACTIVE; another counts after compute:settlingSeconds";
  const section = isOther ? "States and transitions" : "";
  return row("status", ways.join(" → ") || "none seen", oneInstance, then, section);
}

function addressRow({ addressAt, before }: ListedFact): TableRow {
  const earlier = before.length > 0 ? `; before that ${before.join(", ")}` : "";
  const found = `${addressAt === undefined ? "none" : `after ${seconds(addressAt)}`}${earlier}`;
  const then = "a create waits for it, after ACTIVE for compute:settlingSeconds";
  return row("address", found, oneInstance, then);
}

function nameRow(sent: string, shown: readonly (string | undefined)[]): TableRow {
  const names = [...new Set(shown.filter((name) => name !== undefined))];
  if (names.length === 1 && names[0] === sent)
    return row("name", "comes back as it was sent", oneInstance);
  const then = names.every((name) => isNamed(name, sent))
    ? "the provider recognizes it, and the output has the service's form"
    : "after a lost answer, the provider can't find its instance by name";
  const found = `${sent} comes back as ${names.join(", then ") || "nothing"}`;
  return row("name", found, oneInstance, then, "Instance");
}

function sameNameRow(fact: SameNameFact): TableRow {
  const sameName = "keep a name that the program chose";
  switch (fact.kind) {
    case "another":
      return row("same name", "accepted: a second instance", once, `a replacement may ${sameName}`);
    case "same": {
      const then = "the provider adopts no such instance";
      return row("same name", "answered with the first instance", once, then);
    }
    case "refused": {
      const page = pageAt("delete.md#a-name-that-the-program-chose");
      return refusedRow("same name", fact.refusal, `a replacement can't ${sameName}: ${page}`);
    }
  }
}

const answerText = (answer: Answer<number>) =>
  answer.kind === "answered" ? `${answer.value}` : shortText(answer.refusal);

/** The try that has destroyed an instance. */
const working = (tries: readonly DestroyTry[]) =>
  tries.find(({ goneAfter }) => typeof goneAfter === "number");

/** What the step has found out, which is nothing if a call may be there all the same. */
function destroyResult({ destroy, settings }: Facts): Facts["destroy"] {
  if (destroy.kind === "open" || working(destroy.value)) return destroy;
  const { destroyPath } = settings;
  const unseen = destroy.value.find(({ goneAfter }) => goneAfter === "unseen");
  if (unseen?.own)
    return open(
      `DELETE ${unseen.path} answers ${answerText(unseen.own)} (${answerText(unseen.stranger)} for an unknown id), but without two complete listings it can't be seen whether the instance is gone`,
    );
  if (destroyPath === undefined || destroy.value.some(({ path }) => path === destroyPath))
    return destroy;
  return open(
    `compute:destroyPath ${destroyPath} is not tried, because its last segment is not the id`,
  );
}

function destroyRows(tries: readonly DestroyTry[], { destroyPath }: Facts["settings"]): TableRow[] {
  const call = working(tries);
  if (call?.own && typeof call.goneAfter === "number") {
    const gone = `DELETE ${call.path} answers ${answerText(call.own)}; gone after ${seconds(call.goneAfter)}`;
    const isForeign = call.stranger.kind === "refused" && !call.stranger.refusal.isEnvelope;
    const then = call.path === destroyPath ? "compute:destroyPath names it" : "see below";
    return [
      row("destroy call", gone, "two complete listings lack the instance", then),
      row(
        "unknown id",
        `DELETE answers ${answerText(call.stranger)}`,
        once,
        "",
        isForeign ? "Error envelope" : "",
      ),
    ];
  }
  const answers = tries.map(({ path, stranger, own = stranger }) => {
    const still = own.kind === "answered" ? ", and the instance is not gone" : "";
    return `${path}: ${answerText(own)}${still}`;
  });
  const nothing = "a delete destroys nothing, and the sandbox ends its instances";
  const then = destroyPath === undefined ? nothing : "";
  return [row("destroy call", `none found. ${answers.join("; ")}`, `${tries.length} paths`, then)];
}

const madeSighting = ({ create }: Facts) =>
  create.kind === "found" && create.value.kind === "made" ? create.value.made.sighting : undefined;

/** A setting is raised to so many times of what one sandbox has needed. */
const margin = 3;
/** A wait for an instance takes so many polls. */
const pollsInAWait = 20;

type Advised = readonly [name: string, value: string, why: string];

/** Returns the settings that follow. What concerns times is only ever raised: one sandbox instance proves no less. */
function settingsOf(facts: Facts): Advised[] {
  const { settings, cursor, destroy } = facts;
  const advised: Advised[] = [];
  const tries = cursor.kind === "found" ? cursor.value.tries : [];
  const cursors = tries
    .filter(({ takes, result }) => takes === "id" && result === "pages")
    .map(({ parameter }) => parameter);
  const [other] = cursors;
  if (other !== undefined && !cursors.includes(settings.cursorParameter ?? usualCursor))
    advised.push(["cursorParameter", other, "a listing then shows all instances"]);
  const sighting = madeSighting(facts);
  const unsettledMs = sighting ? unsettledOf(sighting) : 0;
  const settling = Math.min(maxSettlingSeconds, Math.ceil((margin * unsettledMs) / 10_000) * 10);
  const lacked = `listings lacked the instance, its address or its end status for ${seconds(unsettledMs)}`;
  if (settling * 1000 > settings.settlingMs)
    advised.push(["settlingSeconds", `${settling}`, `${lacked}; this is ${margin} times as long`]);
  const call = destroy.kind === "found" ? working(destroy.value) : undefined;
  const { deletePolicy = "destroy" } = settings;
  const from =
    deletePolicy === "destroy"
      ? "from then on"
      : `once compute:deletePolicy is destroy in place of ${deletePolicy}`;
  if (call && call.path !== settings.destroyPath)
    advised.push([
      "destroyPath",
      call.path,
      `${from}, a removal, a replacement and \`pulumi destroy\` send DELETE, and the server ends`,
    ]);
  const readyMs = Math.max(sighting?.addressAt ?? 0, sighting?.statuses.at(-1)?.at ?? 0);
  const poll = Math.min(maxPollIntervalSeconds, Math.round(readyMs / 1000 / pollsInAWait));
  const slow = `an instance took ${seconds(readyMs)}: fewer listings show that as well`;
  if (poll * 1000 > settings.pollIntervalMs) advised.push(["pollIntervalSeconds", `${poll}`, slow]);
  return advised;
}

/** Returns how long listings did not show an instance as it was in the end. */
function unsettledOf({ listedAt = 0, lackedAt = 0, addressAt = 0, statuses }: ListedFact): number {
  const lacking = lackedAt > 0 ? Math.max(listedAt, lackedAt) : 0;
  const activeAt = statuses.find(({ status }) => status === "ACTIVE")?.at ?? Infinity;
  const passing = statuses.map(({ status, at }, index) => {
    const next = statuses[index + 1];
    return next && status !== "PROVISIONING" ? next.at - at : 0;
  });
  return Math.max(lacking, addressAt - activeAt, ...passing);
}
