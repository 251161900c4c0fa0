/** The errors and notices of a create. All that leaves a create in doubt gives one text, which names one command. */
import { secondOf } from "../abort";
import {
  bulleted,
  explain,
  importCommand,
  nextStep,
  oneRunCommands,
  ownCommand,
  pageAt,
  settleCommand,
} from "../advice";
import { logicalName } from "../pulumi/urn";
import { RequestError } from "../api/errors";
import { OperationFailed } from "../errors";
import { whyOpen, type Paging } from "../evidence/why";
import { displayRecordedName, displayRun, type LedgerRecord } from "../ledger/record";
import type { Session } from "../session/session";
import { noNetworksNotice } from "../instance/address";
import type { CreateSpec, Doubt, Failure, Leftover, Leftovers } from "./protocol";

/** Returns the error that the Create call fails with. `namesakes`: the ids of the instances that had the name before the POST. */
export function failureError(
  failure: Failure,
  spec: CreateSpec,
  session: Session,
  namesakes: readonly string[] = [],
): Error {
  const cause = "error" in failure ? failure.error : undefined;
  if (cause && !(cause instanceof RequestError)) return cause;
  const lines = failureLines(failure, spec, session);
  if (cause?.isAboutRequest) lines.push(...namesakeLines(namesakes, spec, session));
  return new OperationFailed(lines, { cause });
}

/** Says which instance has the name already, as a service may refuse a second one of it. */
function namesakeLines(ids: readonly string[], { own }: CreateSpec, session: Session): string[] {
  const old = session.engine.resource(own.urn).before?.id ?? "";
  const isReplaced = ids.includes(old);
  const [id] = isReplaced ? [old] : ids;
  if (id === undefined) return [];
  const way = isReplaced
    ? wayToTheName(session)
    : `${wayToTheName(session)}; or, if the program renamed the resource, give its old name in the option aliases`;
  const which = isReplaced ? `${id}, which is replaced,` : id;
  return [`instance ${which} has the name ${describe(own)}, too. If that is why: ${way}.`];
}

/** Returns how the new instance of a replacement gets a name that no other instance has. */
function wayToTheName({ settings }: Session): string {
  return settings.deletePolicy === "destroy"
    ? "set the resource option deleteBeforeReplace, so that the old one is deleted first"
    : "give the new one another name";
}

/** Returns what a preview says of a replacement whose new instance gets the name that the program chose for the old one. */
export function sameNameNotice(oldId: string, session: Session): string[] {
  return [
    `the new instance is made beside ${oldId} under its name, unless the resource option deleteBeforeReplace is set.`,
    `If the service refuses a second one of a name: ${wayToTheName(session)}`,
  ];
}

function failureLines(failure: Failure, spec: CreateSpec, paging: Paging): string[] {
  switch (failure.kind) {
    case "inDoubt":
      return inDoubtLines(failure, spec, paging);
    case "unclear":
      return unclearLines(failure, spec, paging);
    case "unreadable":
      return [
        `an earlier create of "${logicalName(spec.own.urn)}" is in doubt: its file can't be read.`,
        `${failure.path}. ${nothing}`,
        `Remove that file once this finds nothing else in doubt: \`${settleCommand()}\``,
      ];
    case "leftovers":
      return leftoversLines(failure, spec);
    case "stopped":
    case "postFailed":
      return [twice(failure.firstError) + reasonOf(failure.error)];
  }
}

/** A flavor that the service has refused, and its answer. */
export interface RefusedFlavor {
  flavor: string;
  error: RequestError;
}

/** Returns the error of a create for which the service has refused each flavor. */
export function noFlavorError(refused: readonly RefusedFlavor[], cause: RequestError): Error {
  const lines = [
    "no flavor was accepted, and nothing was created:",
    ...bulleted(refused.map(({ flavor, error }) => `${flavor}: ${error.message}`)),
    nextStep(cause),
  ];
  return new OperationFailed(lines, { cause });
}

/** Returns the message of a create whose first flavors were refused. */
export function refusedFlavorsNotice(refused: readonly RefusedFlavor[], flavor: string): string {
  const answers = refused.map((one) => `${one.flavor} was refused (${one.error.message})`);
  return `the instance has the flavor ${flavor}, because ${answers.join(", and ")}`;
}

/** Says how an earlier POST of the create failed, if there was one. */
function twice(firstError: RequestError | undefined): string {
  return firstError
    ? `an earlier try failed (${firstError.message}), and two listings show that it created nothing. Then, `
    : "";
}

/** Returns the error's message, and the next step if a request failed. */
function reasonOf(error: Error): string {
  return error instanceof RequestError ? explain(error) : error.message;
}

// ── The one text of a create in doubt ────────────────────────────────────────────────────────────

const nothing = "Nothing was created.";
/** A text names at most so many instances, so that it stays short. */
const maxNamed = 3;

/** Names the first of a list, and says how many more it has. */
function someOf(all: readonly string[]): string {
  const more = all.length - maxNamed;
  return all.slice(0, maxNamed).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** Names the instance of a create by its name and its id, as far as they are known. */
function describe(create: Pick<LedgerRecord, "name" | "id">): string {
  const { id } = create;
  return `"${displayRecordedName(create)}"${id === undefined ? "" : ` (${id})`}`;
}

/** Says about when the create's POST was sent, if one was. */
function begun({ at }: LedgerRecord): string {
  return at === undefined ? "" : `, begun ${secondOf(new Date(at))}`;
}

/** Returns the last line: the one command. */
function settleLine(): string {
  return `To settle it: \`${settleCommand()}\``;
}

function inDoubtLines(
  { record, why }: Extract<Failure, { kind: "inDoubt" }>,
  spec: CreateSpec,
  paging: Paging,
): string[] {
  const resource = `"${logicalName(spec.own.urn)}"`;
  const isUnderWay = why.kind === "anotherRun";
  // Where the state has an older instance, `settle` leaves the create to the next one, which stops here.
  const isLeft = why.kind === "changed" && spec.isReplacement;
  const way = isLeft
    ? `To give that up: \`${settleCommand("--yes", "--forget", record.urn)}\``
    : settleLine();
  return [
    isUnderWay
      ? `${displayRun(record)} creates ${resource}, or has just created it.`
      : `an earlier create of ${resource} is in doubt: ${reasonFor(why, paging)}.`,
    `${describe({ ...record, id: record.id ?? ("id" in why ? why.id : undefined) })}${begun(record)}. ${nothing}`,
    isUnderWay ? "Run again once that run has ended." : way,
  ];
}

function unclearLines(
  { why, record, error, firstError }: Extract<Failure, { kind: "unclear" }>,
  spec: CreateSpec,
  paging: Paging,
): string[] {
  const sent = firstError ? "was sent twice, and is" : "is";
  const { own } = spec;
  return [
    `the create of "${logicalName(own.urn)}" ${sent} in doubt: ${reasonFor(why, paging)}.`,
    `${error.message}.`,
    `${describe(record)}${begun(record)}. Nothing more was sent.`,
    // `pulumi do --stateless` has no state that could be put right.
    own.scope === undefined
      ? `Look for ${describe(own)} in the service's listing before you run this again, because each run creates an instance.`
      : settleLine(),
  ];
}

/** Says in one clause why a create can neither go on nor be forgotten. */
function reasonFor(why: Doubt, paging: Paging): string {
  switch (why.kind) {
    case "anotherRun":
      return "another run is under way";
    case "unknownRun":
      return "whether the run that began it has ended is not known";
    case "elsewhere":
      return `the instance is out of reach, because ${why.difference}`;
    case "given":
      return "Pulumi was told the id, and may not have saved it";
    case "changed":
      return "the program, the token or the provider resource has changed since";
    case "perhapsOthers":
      return `whether it made ${someOf(why.ids)} can't be told`;
    case "notFound":
      return whyNotFound(why, paging);
  }
}

function whyNotFound({ because }: Extract<Doubt, { kind: "notFound" }>, paging: Paging): string {
  if (because === undefined)
    return "no listing shows its instance, but the service may still make it";
  if (because instanceof Error) return `the search for it ended early (${because.message})`;
  return because.why === "tenant"
    ? "the token was another one, so this token's listing may be another tenant's"
    : whyOpen(because, paging);
}

/** Says which listed instances stop the create. */
function leftoversLines({ items }: Leftovers, spec: CreateSpec): string[] {
  const { urn, provider, tokenKind } = spec.own;
  const resource = `"${logicalName(urn)}"`;
  const [first] = items;
  const isRefused = spec.leftovers === "fail";
  const finding = first
    ? `${resource} may have an instance already: ${listedAs[first.why]}.`
    : `whether ${resource} has an instance already is not known: the listing is not complete.`;
  const named = items.map((item) => describeLeftover(item, spec));
  const second = tokenKind === "live" ? "a second one, which is billed, too" : "a second one";
  const lines = [
    finding,
    first ? `${someOf(named)}. ${nothing}` : nothing,
    first?.why === "tag" && settleLine(),
    // What a name alone leaves open, `settle` can't tell either.
    first?.why === "name" &&
      `To take it over: \`${importCommand({ urn, provider }, first.id)}\`, or remove it at the service.`,
    isRefused &&
      `To create ${first ? second : "it all the same"}: \`${oneRunCommands.besideLeftovers}\``,
    // The engine does not say that it replaces an instance.
    `More${first?.why === "tag" && !isRefused ? ", also on --replace and taints" : ""}: ${pageAt("recover.md#leftovers")}`,
  ];
  return lines.filter((line) => line !== false);
}

const listedAs = {
  tag: "one with its generated name is listed, and a second one would run beside it",
  name: "one of its name is listed",
};

// ── Notices ──────────────────────────────────────────────────────────────────────────────────────

/** Names a leftover. Only a name that is not secret is shown as the service lists it. */
function describeLeftover({ id, name, why }: Leftover, { own }: CreateSpec): string {
  return describe({ id, name: why === "name" ? own.name : name });
}

/** Returns the message of a create that takes over an earlier run's instance, or of its preview. */
export function resumedNotice(id: string): string {
  return `an earlier run created ${id} for this resource, and ended too early. This run goes on with it, and creates nothing new`;
}

/** Returns the warning of a create whose instance was found by its name in a listing. A listing shows few outputs. */
export function lostAnswerNotice(id: string): string[] {
  return [`the answer to the create of instance ${id} was lost.`, noNetworksNotice];
}

/** Returns what a preview says of a resource that another run is creating. */
export function anotherRunNotice(record: LedgerRecord): string {
  return `${displayRun(record)} creates this resource and is still under way: ${describe(record)}${begun(record)}. \`pulumi up\` waits for its end`;
}

/** Returns what a preview says of leftovers that may be another run's. */
export function perhapsStoppedNotice(items: readonly Leftover[], spec: CreateSpec): string {
  const named = items.map((item) => describeLeftover(item, spec));
  return `${someOf(named)} may be left over from an earlier create of this resource. \`pulumi up\` will stop here, unless a run is under way`;
}

/** Returns the message at the end of a run about the creates that earlier runs have left in doubt. */
export function inDoubtNotice(records: readonly LedgerRecord[]): string[] {
  const named = someOf(records.map(describe));
  const are =
    records.length === 1 ? "1 earlier create is" : `${records.length} earlier creates are`;
  const finding = `${are} in doubt, because this run was shown no state that holds what they made`;
  return [`${finding}: ${named}.`, settleLine()];
}

/** The notice if a listing before a create was not complete. A run prints it once. */
export const partialNotice =
  "the listing before the create was not complete, so leftovers of earlier creates may be missing from it";

/** How a notice of leftovers begins. */
export const leftoversNotice =
  "new instances are created, although these may be left over from earlier creates";

/** Names leftovers before a new instance is created, each once. Creates that waited for the same listing share one notice. */
export function reportLeftovers(
  { ctx, notices, settings }: Session,
  { items, partial }: Leftovers,
  spec: CreateSpec,
): void {
  if (partial && notices.markSaid("partial listing")) ctx.messages.info(partialNotice);
  const leftovers = items.map((item) => ({ id: item.id, text: describeLeftover(item, spec) }));
  notices.reportLeftovers(leftovers, (descriptions) =>
    settings.tokenKind === "test"
      ? [`${leftoversNotice}, in the sandbox: ${descriptions.join(", ")}`]
      : [
          `${leftoversNotice}:`,
          ...bulleted(descriptions),
          items.some(({ why }) => why === "name")
            ? `To see whether a create is in doubt: \`${settleCommand()}\``
            : `To see what is in no stack: \`${ownCommand("audit")}\``,
        ],
  );
}
