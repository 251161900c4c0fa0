/** The errors and notices of a create. All that leaves a create in doubt gives one form of text, which names a command if one helps. */
import { secondOf } from "../abort";
import {
  bulleted,
  importCommand,
  nextStep,
  oneRunCommands,
  pluginCommand,
  pageAt,
  requestReport,
  settleCommand,
  type SettingPlaces,
} from "../advice";
import { isNamed } from "../evidence/witness";
import { isNameFor } from "../instance/naming";
import { logicalName } from "../pulumi/urn";
import { RequestError } from "../api/requestError";
import { OperationFailed, type Report } from "../errors";
import { whyOpen, type Paging } from "../evidence/why";
import { displayRecordedName, displayRun, type LedgerRecord } from "../ledger/record";
import type { Session } from "../session/session";
import { waysToReach } from "../instance/existence";
import { noNetworksNotice } from "../instance/address";
import type { CreateSpec, Doubt, Failure, Leftover, Leftovers } from "./protocol";

/** Returns the error that the Create call fails with. `namesakes`: the ids of the instances that had the name before the POST. */
export function failureError(
  failure: Failure,
  spec: CreateSpec,
  paging: Paging,
  namesakes: readonly string[] = [],
): Error {
  if (!("error" in failure)) return new OperationFailed(stopReport(failure, spec, paging));
  const { error: cause } = failure;
  if (!(cause instanceof RequestError)) return cause;
  const [namesake] = cause.isRefusal ? namesakes : [];
  const report =
    failure.kind === "unclear"
      ? unclearReport(failure, spec, paging, namesake)
      : refusedCreateReport(cause, failure.firstError, namesake);
  return new OperationFailed(report, { cause });
}

/** Words a failure of a request that has made nothing. */
function refusedCreateReport(error: RequestError, first?: RequestError, namesake?: string): Report {
  const why = namesake && ` (${nameTaken(namesake)})`;
  const { own, shared } = requestReport(`nothing was created${why ?? ""}`, error);
  const more = [
    namesake && `More: ${pageAt("delete.md#a-name-that-the-program-chose")}`,
    first &&
      `An earlier try failed (${first.message}), and two listings show that it created nothing.`,
  ].filter((line) => line !== undefined);
  return { own, shared: [...shared, ...more], requests: first ? [error, first] : [error] };
}

/** A service may refuse a second instance of a name. */
const nameTaken = (id: string) => `instance ${id} has this name already`;

function stopReport(
  failure: Exclude<Failure, { error: Error }>,
  spec: CreateSpec,
  paging: Paging,
): Report {
  switch (failure.kind) {
    case "inDoubt":
      return inDoubtReport(failure, spec, paging);
    case "unreadable": {
      const own = `nothing was created: the file of an earlier create of ${resourceOf(spec)} can't be read (${failure.path})`;
      const way = `Remove that file once this finds nothing else in doubt: \`${settleCommand()}\``;
      return { own, shared: [".", way] };
    }
    case "leftovers":
      return leftoversReport(failure, spec, paging.places);
  }
}

const resourceOf = ({ identity }: CreateSpec) => `"${logicalName(identity.urn)}"`;

/** A flavor that the service has refused, and its answer. */
export interface RefusedFlavor {
  flavor: string;
  error: RequestError;
}

/** Returns the error of a create for which the service has refused each flavor. */
export function noFlavorError(refused: readonly RefusedFlavor[], cause: RequestError): Error {
  const answers = refused.map(({ flavor, error }) => `${flavor}: ${error.message}`);
  const texts = refused.map(({ error }) => error.commonMessage);
  const report: Report =
    new Set(texts).size === 1
      ? {
          own: "refused with each flavor",
          shared: [`, and nothing was created: ${cause.message}.`, nextStep(cause)],
          requests: [cause],
        }
      : {
          own: "no flavor was accepted",
          shared: [", and nothing was created:", ...bulleted(answers), nextStep(cause)],
          requests: refused.map(({ error }) => error),
        };
  return new OperationFailed(report, { cause });
}

/** Returns the message of a create whose first flavors were refused. */
export function refusedFlavorsNotice(refused: readonly RefusedFlavor[], flavor: string): string {
  const answers = refused.map((one) => `${one.flavor} was refused (${one.error.message})`);
  return `the instance has the flavor ${flavor}, because ${answers.join(", and ")}`;
}

// ── The one text of a create in doubt ────────────────────────────────────────────────────────────

/** A text names at most so many instances, so that it stays short. */
const maxNamed = 3;

/** Names the first of a list, and says how many more it has. */
function someOf(all: readonly string[]): string {
  const more = all.length - maxNamed;
  return all.slice(0, maxNamed).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** Names the instance of a create by its name and, as far as it is known, its id. */
function describe(create: Pick<LedgerRecord, "name" | "id">, why?: Doubt): string {
  const ids = [
    create.id ?? (why && "id" in why && why.id),
    why?.kind === "perhapsOthers" && `perhaps ${someOf(why.ids)}`,
  ].filter(Boolean);
  return `"${displayRecordedName(create)}"${ids.length === 0 ? "" : ` (${ids.join(", ")})`}`;
}

/** Says when, to the second, another run's create began. */
function begunOf({ at }: LedgerRecord): string {
  return at === undefined ? "" : `, begun ${secondOf(new Date(at))}`;
}

/** Returns the way out of a doubt: the one command. */
function settleLine(): string {
  return `To settle it: \`${settleCommand()}\``;
}

function inDoubtReport(
  { record, why }: Extract<Failure, { kind: "inDoubt" }>,
  spec: CreateSpec,
  paging: Paging,
): Report {
  const created = describe(record, why);
  if (why.kind === "anotherRun") {
    const own = `nothing was created: ${displayRun(record)} creates ${created}${begunOf(record)}`;
    return { own, shared: [", or has just created it.", "Run again once that run has ended."] };
  }
  return {
    own: `an earlier create of ${created} is in doubt`,
    shared: [`: ${reasonFor(why, paging)}.`, ...waysOut(why, record, spec, paging)],
    requests: requestBehind(why),
  };
}

/** Returns the lines that say what to do about the create of an earlier run. */
function waysOut(why: Doubt, record: LedgerRecord, spec: CreateSpec, { places }: Paging) {
  if (why.kind === "elsewhere") {
    const ways = bulleted(waysToReach(record, spec.identity, places));
    return ["Nothing was created.", ...ways, `More: ${pageAt("instance.md#out-of-reach")}`];
  }
  // Where the state has an older instance, `settle` leaves a create in doubt to the resource's next create, which stops here.
  const isLeft = why.kind === "changed" && spec.replaces !== undefined;
  const way = isLeft
    ? `To give that up: \`${settleCommand("--yes", "--forget", record.urn)}\``
    : settleLine();
  return [`Nothing was created. ${way}`];
}

function unclearReport(
  { why, record, error, firstError }: Extract<Failure, { kind: "unclear" }>,
  spec: CreateSpec,
  paging: Paging,
  namesake?: string,
): Report {
  const has = namesake === undefined ? "" : `, and ${nameTaken(namesake)}`;
  const twice = firstError ? "It was sent twice. " : "";
  const { identity } = spec;
  // `pulumi do --stateless` has no state that could be put right.
  const way =
    identity.scope === undefined
      ? `Look for ${describe(identity)} in the service's listing before you run this again, because each run creates an instance.`
      : settleLine();
  return {
    own: `the create of ${describe(record, why)} is in doubt${has}`,
    shared: [
      `: ${reasonFor(why, paging)}.`,
      `${error.message}. ${twice}Nothing more was sent.`,
      way,
    ],
    requests: [error, ...requestBehind(why)],
  };
}

/** Returns the failed request that leaves the create in doubt, if there is one. */
function requestBehind(why: Doubt): RequestError[] {
  const because = why.kind === "notFound" ? why.because : undefined;
  return because instanceof RequestError ? [because] : [];
}

/** Says in one clause why a create can neither go on nor be forgotten. */
function reasonFor(why: Doubt, paging: Paging): string {
  switch (why.kind) {
    case "anotherRun":
    case "unknownRun":
      return "whether the run that began it has ended is not known";
    case "elsewhere":
      return `the instance is out of reach, because ${why.difference}`;
    case "given":
      return "Pulumi was told the id, and may not have saved it";
    case "changed":
      return "the program, the token or the provider resource has changed since";
    case "perhapsOthers":
      return "what it made can't be told";
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
function leftoversReport({ items }: Leftovers, spec: CreateSpec, places: SettingPlaces): Report {
  const [first] = items;
  const named = someOf(items.map((item) => describeLeftover(item, spec)));
  return {
    own: first
      ? `nothing was created: ${resourceOf(spec)} may have an instance already, ${named}`
      : `nothing was created: whether ${resourceOf(spec)} has an instance already is not known`,
    shared: [
      first ? `: ${listedAs[first.why]}.` : ": the listing is not complete.",
      ...waysPast(items, spec, places),
      `More: ${pageAt("recover.md#leftovers")}`,
    ],
  };
}

/** Returns the ways out of a stop for leftovers. */
function waysPast([first]: readonly Leftover[], spec: CreateSpec, { variables }: SettingPlaces) {
  const { urn, provider, tokenKind } = spec.identity;
  const command = variables.deletePolicy
    ? oneRunCommands.replaceTainted
    : oneRunCommands.besideLeftovers;
  if (!first) return [`To create it all the same: \`${command}\``];
  const second = tokenKind === "live" ? "a second one, which is billed, too" : "a second one";
  // A Delete that follows may refuse. It then names the next way: `retain` would here let go what nobody has asked about.
  const goOn = `\`${command}\`, with the same options, creates ${second}.`;
  // Without a Diff, as with --replace, the state's own instance and what was let run look like any other. `settle` tells them.
  if (first.why === "tag")
    return [
      settleLine(),
      `If settle does not name it (a state has it, or it was let run on purpose): ${goOn}`,
    ];
  // What a name alone leaves open, `settle` can't tell either.
  return [
    `To take it over: \`${importCommand({ urn, provider }, first.id)}\`, or remove it at the service.`,
    `If it was let run on purpose: ${goOn}`,
  ];
}

const listedAs = {
  tag: "one with its generated name is listed, and a second one would run beside it",
  name: "one of its name is listed",
};

// ── Notices ──────────────────────────────────────────────────────────────────────────────────────

/** Names a leftover. Only a name that is not secret is shown as the service lists it. */
function describeLeftover({ id, name, why }: Leftover, { identity }: CreateSpec): string {
  return describe({ id, name: why === "name" ? identity.name : name });
}

/** Returns the message of a create that takes over an earlier run's instance, or of its preview. */
export function resumedReport(id: string): Report {
  return {
    own: `an earlier run created ${id} for this resource`,
    shared: [
      ", and ended too early. This run goes on with it, and creates nothing new.",
      // The engine keeps the pending operation of a killed run, but not that of an interrupted one.
      `If Pulumi warns of pending operations: \`${settleCommand("--yes")}\``,
    ],
  };
}

/** Returns the warning of a create whose instance was found by its name in a listing. A listing shows few outputs. */
export function lostAnswerReport(id: string): Report {
  const own = `the answer to the create of instance ${id} was lost`;
  return { own, shared: [".", noNetworksNotice] };
}

/** Returns what a preview says of a resource that another run is creating. */
export function anotherRunReport(record: LedgerRecord): Report {
  return {
    own: `${displayRun(record)} creates ${describe(record)}${begunOf(record)}`,
    shared: [", and is still under way. `pulumi up` waits for its end"],
  };
}

/** Returns what a preview says of leftovers that may be another run's. */
export function perhapsStoppedReport(
  items: readonly Leftover[],
  spec: CreateSpec,
  { places }: Paging,
): Report {
  const named = items.map((item) => describeLeftover(item, spec));
  return {
    own: `${someOf(named)} may be left over from an earlier create of this resource`,
    shared: [
      ". `pulumi up` will stop here, unless a run is under way.",
      ...waysPast(items, spec, places),
    ],
  };
}

/** Returns the message at the end of a run about the creates that earlier runs have left in doubt. */
export function inDoubtNotice(records: readonly LedgerRecord[]): string[] {
  const named = someOf(records.map((record) => describe(record)));
  const are =
    records.length === 1 ? "1 earlier create is" : `${records.length} earlier creates are`;
  const next = "`pulumi up` first looks for what was made, if the program still asks for it.";
  return [`${are} in doubt: ${named}.`, `${next} ${settleLine()}`];
}

/** The notice if a listing before a create was not complete. A run prints it once. */
export const partialNotice =
  "the listing before the create was not complete, so leftovers of earlier creates may be missing from it";

/** How a notice of leftovers begins. If a program chose the name, all that is known is that other instances have this name. */
export const leftoversNotices = {
  tag: "new instances are created, although these may be left over from earlier creates",
  name: "new instances are created, although other instances have these names",
};
/** How a notice of leftovers that cost nothing ends, before their number. */
export const inSandbox = ", in the sandbox: ";

/**
 * Names leftovers before a new instance is created, each once. The first time, it also names the leftovers of the other resources that
 * the program has asked for by then, and that are to be created.
 */
export function reportLeftovers(
  session: Session,
  { items, partial }: Leftovers,
  spec: CreateSpec,
): void {
  const { ctx, notices, settings } = session;
  if (partial && notices.markSaid("partial listing")) ctx.messages.info(partialNotice);
  if (items.length === 0) return;
  const isFirst = notices.markSaid("leftovers");
  const own = items.map((item) => ({ ...item, text: describeLeftover(item, spec) }));
  const unsaid = [...own, ...(isFirst ? leftoversOfOthers(session) : [])].filter(({ id }) =>
    notices.markSaid(`leftover ${id}`),
  );
  for (const why of ["tag", "name"] as const) {
    const texts = unsaid.filter((one) => one.why === why).map(({ text }) => text);
    const begin = leftoversNotices[why];
    if (texts.length === 0) continue;
    const count = `${texts.length} ${texts.length === 1 ? "instance" : "instances"}`;
    if (settings.tokenKind === "test") ctx.messages.info(`${begin}${inSandbox}${count}`);
    else
      ctx.messages.warning(
        isFirst
          ? [`${begin}:`, ...bulleted(texts), waysToSee[why]]
          : `${begin}: ${texts.join(", ")}`,
      );
  }
}

const waysToSee = {
  tag: `To see what is in no stack: \`${pluginCommand("audit")}\``,
  name: `To see whether a create is in doubt: \`${settleCommand()}\``,
};

/** Returns the leftovers that the last listing shows of all resources that are to be created. */
function leftoversOfOthers({ engine, listings, options, state }: Session) {
  const { urns, names } = engine.toCreate();
  const known = new Set(urns.flatMap((urn) => engine.resource(urn).before?.known ?? []));
  const items = [...(listings.latest?.items.values() ?? [])];
  return items.flatMap(({ id, name }): (Leftover & { text: string })[] => {
    if (engine.ours.has(id) || state.shown.has(id) || known.has(id)) return [];
    const chosen = names.find((one) => isNamed(name, one));
    if (chosen !== undefined)
      return [{ id, name, why: "name", text: describe({ id, name: chosen }) }];
    const isTagged = urns.some((urn) => isNameFor(name, urn, options.scope ?? ""));
    return isTagged ? [{ id, name, why: "tag", text: describe({ id, name }) }] : [];
  });
}
