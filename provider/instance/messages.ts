/** The errors and warnings of a create: why it failed, which creates are pending, and what may be a leftover. */
import {
  discardCommand,
  explain,
  howToSet,
  importAs,
  importCommand,
  logicalName,
  ownCommand,
  stateDeleteCommand,
  withDependents,
  withStack,
  withWaysOut,
} from "../advice";
import type { Accepted } from "../api/contract";
import { RequestError } from "../api/errors";
import { OperationFailed } from "../errors";
import { whyOpen, type Paging } from "../evidence/why";
import { displayRecordedName, isHashedName, type LedgerRecord } from "../ledger/record";
import { isSamePlace } from "../origin";
import { isSameResource, projectOf, stackNameOf, stackOf } from "../pulumiNames";
import type { Session } from "../session/session";
import type { CreateSpec, Failure, Leftover, Leftovers, PendingReason } from "./protocol";

/** Returns the error that the Create call fails with. `paging` is how the session lists. */
export function failureError(failure: Failure, spec: CreateSpec, paging: Paging): Error {
  const cause = "error" in failure ? failure.error : undefined;
  if (cause && !(cause instanceof RequestError)) return cause;
  const repeated =
    "firstError" in failure && failure.firstError ? describeFirst(failure.firstError) : "";
  const [first, ...more] = [failureMessage(failure, spec, paging)].flat();
  return new OperationFailed([`${repeated}${first}`, ...more], { cause });
}

function failureMessage(failure: Failure, spec: CreateSpec, paging: Paging): string | string[] {
  if (failure.kind === "pending") return pendingError(failure.record, failure.why, spec, paging);
  if (failure.kind === "leftovers") return leftoversError(failure, spec);
  if (failure.kind === "undeletable") return undeletableError(failure, spec, paging);
  if (failure.kind === "unclear") return unclearError(failure, spec, paging);
  return reasonOf(failure.error);
}

/** Says how the first POST failed, if a second one was sent. Ends with a space. */
function describeFirst({ message }: RequestError): string {
  return `the create was sent twice. The first time, ${message}, and two listings show that nothing was created. The second time, `;
}

/** Returns the error's message, and the next step if a request failed. */
export function reasonOf(error: Error): string {
  return error instanceof RequestError ? explain(error) : error.message;
}

/** Returns the name of the create's instance as messages show it: redacted if it is secret (G8). */
function shownName({ own }: CreateSpec): string {
  return displayRecordedName(own.name);
}

/** An error names at most so many instances: it is cut at `maxMessageLength` as a whole, and its ways out come last. */
const maxNamed = 5;

/** Names the first instances of a list, and says how many more it has. */
function someOf(ids: readonly string[]): string {
  const more = ids.length - maxNamed;
  return ids.slice(0, maxNamed).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** What an import command is made from: a record, or the create of this run. */
type Importable = LedgerRecord | CreateSpec["own"];

/** Returns the command that imports the instance as the resource of `of`, into the stack of this run. */
function takeOverCommand(own: CreateSpec["own"], of: Importable, id: string): string {
  // The stack may have been renamed since, and its provider resource with it.
  const { provider } = of.scope === own.scope ? own : of;
  return withStack(importCommand({ urn: of.urn, provider }, id), own);
}

// ── Pending creates ──────────────────────────────────────────────────────────────────────────────

function pendingError(
  record: LedgerRecord,
  why: PendingReason,
  spec: CreateSpec,
  paging: Paging,
): string | string[] {
  const { key, at } = record;
  const { own } = spec;
  const onlyCandidate = why.kind === "turnedUp" && why.ids.length === 1 ? why.ids[0] : undefined;
  const id = record.id ?? onlyCandidate ?? "<id>";
  const begun = `an earlier run began to create "${displayRecordedName(record.name)}" for this resource (${at})`;
  const nothing = "This run created nothing";
  const takeOver = (of: Importable) => takeOverCommand(own, of, id);
  const cleared = clearedWays(own);
  const discard = `forget that create, once you know that it left no running instance: \`${discardCommand(key)}\``;
  const lookFirst = [
    `if \`pulumi stack --show-ids\` shows ${id}: forget the create with \`${discardCommand(key)}\` (\`pulumi refresh\` does that, too), and run again`,
    `if it does not show ${id}: take the instance over with ${takeOver(record)}`,
    ...cleared,
  ];
  if (why.kind === "inFlight") {
    return `another run, which is still under way, creates "${displayRecordedName(record.name)}" for this resource (${at}), so this run created nothing. Run again once that run has ended`;
  }
  if (why.kind === "contested") {
    return withWaysOut(
      `a run that created instance ${id} for this resource was under way together with another run of this stack. One of the two may have saved its state over the other's, so whether the state holds ${id} is not known. ${nothing}`,
      [
        ...lookFirst,
        `if you do not want ${id}: remove it at the service, and forget it with \`${discardCommand(key)}\``,
      ],
    );
  }
  if (why.kind === "replied") {
    return withWaysOut(
      `${begun}, and Pulumi was told that its instance is ${id}. Whether a state holds it is not known. ${nothing}`,
      [...lookFirst, ...keptWays(own, id, key)],
    );
  }
  if (why.kind === "otherStack") {
    const begunThere = `a run of stack ${stackNameOf(record.urn)} began to create "${displayRecordedName(record.name)}" (${at}) for ${record.urn}. That stack and this one have one provider resource, so either it was renamed to this one, or \`pulumi state move\` moved resources between the two`;
    return withWaysOut(`${begunThere}. ${nothing}`, [
      `if that stack exists: ${runThere(record)}. Then run this again`,
      `if it was renamed to this one: take the instance over with ${takeOver(own)}`,
      ...cleared,
      discard,
    ]);
  }
  if (why.kind === "unregistered") {
    const ways = isSamePlace(record, own)
      ? unregisteredWays(record, id, spec)
      : [
          withItsSettings(record),
          ...(mayHaveMoved(record, own)
            ? [
                `${ifMoved}: take it over as this resource with ${takeOver(own)}, and forget the create with \`${discardCommand(key)}\``,
                ...cleared,
              ]
            : []),
        ];
    return withWaysOut(
      `${adriftSummary(record, spec)}. ${nothing}, because compute:leftovers is "fail"`,
      [...ways, discard],
    );
  }
  if (why.kind === "changed" && why.sameToken) {
    // An import would record what the program asks for now, which is not what the server has.
    return withWaysOut(
      `${begun}. Its instance ${id} exists, but the program now asks for a different one. ${nothing}`,
      [
        `to keep ${id}: undo the change in the program, and run \`pulumi up\`, which takes the instance over. Then make the change again`,
        `to do without ${id}: remove it at the service, forget the create with \`${discardCommand(key)}\`, and run again`,
      ],
    );
  }
  const reason = pendingReason(why, id, record.id !== undefined, paging);
  // An import records what the program asks for, unchecked.
  const unchanged =
    why.kind === "changed" ? ", with a program that asks for what that run asked for" : "";
  const isElsewhere = why.kind === "otherOrigin";
  const reachable = isElsewhere ? ", with these settings" : "";
  return withWaysOut(`${begun}. ${reason}. ${nothing}`, [
    ...(isElsewhere ? [withItsSettings(record)] : []),
    `take the instance over${unchanged}${reachable}: ${takeOver(record)}`,
    ...replacedWays(own, id, key),
    discard,
  ]);
}

/**
 * Says what to do before an import as one of the resources, if the state has an instance of that resource, for example because
 * the create was to replace it.
 */
function clearedWays(
  { urn, stateless }: CreateSpec["own"],
  resources: readonly string[] = [urn],
): string[] {
  if (stateless) return [];
  const drop = resources.map((of) => `\`${stateDeleteCommand(of)}\``).join(" or ");
  return [
    `before that import, if the state has another instance for the same resource: ${drop} (${withDependents}), and remove that other instance at the service`,
  ];
}

/** Says how to keep the instance that the create was to replace, if the state still has it. */
function keptWays({ stateless }: CreateSpec["own"], id: string, key: string): string[] {
  if (stateless) return [];
  return [
    `to keep that other instance, and what depends on it, in the state: remove the instance that the create made (${id}) at the service, forget the create with \`${discardCommand(key)}\`, and run again`,
  ];
}

/** Says what to do with an instance that the create was to replace, before an import or instead of it. */
function replacedWays(own: CreateSpec["own"], id: string, key: string): string[] {
  return [...clearedWays(own), ...keptWays(own, id, key)];
}

/** Returns the ways out if a pending create stops this one because the program has not registered its resource so far. */
function unregisteredWays(record: LedgerRecord, id: string, { own }: CreateSpec): string[] {
  const takeOver = (of: Importable) => takeOverCommand(own, of, id);
  return [
    // Until a Read shows that the state has the instance, the record stops this create.
    `if the program still has that resource: take its instance over with ${takeOver(record)}, then \`pulumi up --refresh\``,
    `if the program has renamed it: take its instance over as this resource with ${takeOver(own)}`,
    ...clearedWays(own, [record.urn, own.urn]),
    ...keptWays(own, id, record.key),
  ];
}

/** Names the settings of a record's create. */
function settingsOf({ baseUrl, tokenKind, account }: LedgerRecord): string {
  const of = account === undefined ? "" : ` of account ${account}`;
  return `the settings of that create (${baseUrl}, a ${tokenKind} token${of})`;
}

/** The way to a pending create whose instance is out of reach of a run that has created nothing. */
function withItsSettings(record: LedgerRecord): string {
  return `run again with ${settingsOf(record)}: that run continues the create, or says what to do`;
}

/** Whether the addresses may be of one service. */
function mayHaveMoved(record: LedgerRecord, own: CreateSpec["own"]): boolean {
  return record.baseUrl !== own.baseUrl && record.tokenKind === own.tokenKind;
}

/** When an import with the address of this run finds the instance of a create at another one. */
const ifMoved =
  "if both addresses are of one service, and its list at this one shows the earlier instance";

/** Says, in a sentence without its full stop, why a pending create can be neither resumed nor settled. */
function pendingReason(
  why: Exclude<
    PendingReason,
    { kind: "inFlight" | "contested" | "replied" | "unregistered" | "otherStack" }
  >,
  id: string,
  isIdKnown: boolean,
  paging: Paging,
): string {
  const unknown = `Whether ${isIdKnown ? id : "its instance"} exists is not known`;
  switch (why.kind) {
    case "otherScope":
      return "That create had another provider resource (because of another version of the plugin, or because the stack belongs to another organization and has the same name), so it may be another stack's create";
    case "unlockable":
      return "Whether that run has ended is not known, or other runs keep taking its create over";
    case "otherOrigin":
      return `Its instance is out of reach: ${why.difference}`;
    case "changed":
      return `Its instance ${id} exists, but the token has changed since, so whether the program still asks for the same instance is not known`;
    case "secretName":
      return `${unknown}: its name was secret, and the name or the token has changed since`;
    case "open":
      return why.why === "tenant"
        ? `${unknown}: that run had another token, so this token's listing may be another tenant's`
        : `${unknown}: ${whyOpen(why, paging)}`;
    case "several":
      return `Several instances could be the one it created: ${someOf(why.ids)}`;
    case "turnedUp": {
      const ids = someOf(why.ids);
      const seen =
        why.ids.length > 1
          ? `Several instances of that name exist: ${ids}`
          : `Instance ${ids} of that name exists`;
      return `${seen}, but the provider did not generate the name, so it may belong to something else`;
    }
    case "listingFailed":
      return `${unknown}: ${why.error.message}`;
  }
}

/** Returns the warning that names a pending create which may be this resource's, and which the create can't resume. */
export function adriftNotice(record: LedgerRecord, spec: CreateSpec): string[] {
  const { id = "<id>", key, urn } = record;
  const { own } = spec;
  const dropNew = `\`${stateDeleteCommand(own.urn)}\` (${withDependents})`;
  const takeOver = takeOverCommand(own, own, id);
  const removeNew = "and remove the new one at the service";
  const elsewhere = [
    // An import uses the settings that the last `pulumi up` recorded.
    isSameResource(urn, own.urn)
      ? `if you want the earlier instance instead: first configure ${settingsOf(record)}. Then ${dropNew}, \`pulumi up\`, which continues that create or says what to do, ${removeNew}`
      : `if you want the earlier instance, too: configure ${settingsOf(record)}, run \`pulumi up\`, and then ${withStack(importAs("<name>", id, own.provider), own)}`,
    ...(mayHaveMoved(record, own)
      ? [
          `${ifMoved}: ${dropNew}, ${takeOver}, ${removeNew}. Then forget the create with \`${discardCommand(key)}\``,
        ]
      : []),
  ];
  return withWaysOut(
    `${adriftSummary(record, spec)}. A new instance is created nevertheless, since compute:leftovers is "warn"`,
    [
      ...(isSamePlace(record, own)
        ? [`if you want the earlier instance instead: ${dropNew}, ${takeOver}, ${removeNew}`]
        : elsewhere),
      `if the earlier one is not running: forget it with \`${discardCommand(key)}\``,
    ],
  );
}

/** Names a pending create of another URN or place, and says why this create does not resume it. */
function adriftSummary(record: LedgerRecord, { own }: CreateSpec): string {
  const { id, name, urn, at, baseUrl, tokenKind } = record;
  const instance = id === undefined ? "" : `, instance ${id},`;
  const begun = `an earlier run began to create "${displayRecordedName(name)}"${instance} (${at})`;
  if (isSameResource(urn, own.urn)) {
    return baseUrl === own.baseUrl
      ? `${begun} with a ${tokenKind} token, and this run has a ${own.tokenKind} one`
      : `${begun} at ${baseUrl}, and this run uses ${own.baseUrl}`;
  }
  const where = isSamePlace(record, own) ? "" : ` at ${baseUrl} with a ${tokenKind} token`;
  return `${begun}${where} for ${urn}, which this run's program has not registered so far. If the program has renamed that resource to "${logicalName(own.urn)}": an alias does not carry a pending create over`;
}

/** Returns the warning of a create that takes over an earlier run's instance. */
export function resumedNotice({ id, name }: Accepted, spec: CreateSpec): string {
  // Only a name that is not secret is shown as the service lists it.
  const shown = isHashedName(spec.own.name) ? shownName(spec) : name || spec.name;
  return `an earlier run created ${id} ("${shown}") for this resource, but ended before Pulumi knew of it. This run takes it over, and creates nothing new`;
}

/** Returns what the preview of a create says of an earlier create that the `up` has to settle first. */
export function earlierCreateNotice({ id, name, at, urn }: LedgerRecord): string {
  const instance = id ?? `"${displayRecordedName(name)}"`;
  return `an earlier create for ${urn} (${instance}, ${at}) may have left its instance. \`pulumi up\` looks for it first: it takes it over, creates a new one, or stops and says what to do`;
}

/** Returns the warning of a create whose instance was found by its name in a listing. A listing shows few outputs. */
export function lostAnswerNotice(id: string): string {
  return `the answer to the create of instance ${id} was lost, and only that answer shows networks, privateIpv4 and createdAt: these outputs stay empty`;
}

/** Returns the warning of a further instance that an unclear POST may have created. */
export function extraNotice(id: string, spec: CreateSpec): string[] {
  const { own } = spec;
  return withWaysOut(
    `there is another instance named "${shownName(spec)}", ${id}, which may come from a create without a clear answer`,
    [
      "if nothing else uses it: remove it at the service",
      `take it over as a separate resource: ${withStack(importAs("<name>", id, own.provider), own)}`,
    ],
  );
}

/**
 * Returns the warning at the end of a run that names the pending creates of earlier runs. `elsewhere` counts those of other
 * projects.
 */
export function pendingNotice(
  records: readonly LedgerRecord[],
  elsewhere: number,
  session: Session,
): string[] {
  const others = `Other projects have ${elsewhere} more. \`${ownCommand("discard")}\` lists them.`;
  return [
    "earlier runs left pending creates, and this run has seen no state that holds their instances:",
    ...records.flatMap((record) => describePending(record, session)),
    ...(elsewhere > 0 ? [others] : []),
  ];
}

/** Names a pending create, and then one way out a line. */
function describePending(record: LedgerRecord, { run, settings, state }: Session): string[] {
  const { urn, id, key, name, scope, baseUrl, tokenKind, stage, at } = record;
  const instance = id === undefined ? "" : `, instance ${id}`;
  const hasScope = scope !== undefined && scope === run.scope;
  const [ownUrn = urn] = hasScope ? state.registered : [];
  const isOfStack = hasScope && stackOf(ownUrn) === stackOf(urn);
  // The stack may have another name since then, or the record is that of a stack with which this one has exchanged resources.
  const isOfOtherName = hasScope && !isOfStack;
  const stack = { urn: ownUrn, stateless: record.stateless };
  const provider = hasScope ? run.providerUrn : record.provider;
  const isRegistered = [...state.registered].some((registered) => isSameResource(registered, urn));
  const isResumable = isOfStack && stage !== "replied";
  // Another stack has settings of its own.
  const isElsewhere = isOfStack && !isSamePlace(record, settings);
  const missing =
    isOfStack && !isRegistered
      ? ". This run's program has not registered that resource (if it has renamed it, import under the new name)"
      : "";
  const its = settingsOf(record);
  const ways = [
    ...(isOfOtherName ? [runThere(record)] : []),
    ...(isResumable
      ? [`the next create of that resource${isElsewhere ? ` with ${its}` : ""} searches for it`]
      : []),
    `${isOfOtherName ? "if that stack was renamed to this one: " : ""}take it over${isElsewhere ? `, once a \`pulumi up\` has recorded ${its}` : ""}: ${withStack(importCommand({ urn, provider }, id ?? "<id>"), stack)}`,
    `forget it, once you know that it left no running instance: \`${discardCommand(key)}\``,
  ];
  const head = `"${displayRecordedName(name)}"${instance} at ${baseUrl} (${tokenKind} token, ${at}) for ${urn}${missing}`;
  return [`  ${head}. Ways out:`, ...ways.map((way) => `    - ${way}`)];
}

// ── Leftovers ────────────────────────────────────────────────────────────────────────────────────

/** The notice if a listing before a create was not complete. With `compute:leftovers` "warn", a run prints it once. */
export const partialNotice =
  "the listing before the create was not complete, so leftovers of earlier creates may be missing from it";

/** Names one leftover, why it may be one, and the command that imports it. */
export function describeLeftover(leftover: Leftover, { own }: CreateSpec): string {
  const { id, claim } = leftover;
  const takeOver = withStack(importAs("<name>", id, own.provider), own);
  const next = !claim
    ? takeOver
    : claim.isSure
      ? runThere(claim)
      : `${runThere(claim)}. If it is not that stack's: ${takeOver}`;
  return `${id} (for ${own.urn}): ${whyLeftover(leftover)}; ${next}`;
}

/** Says what to do about an instance that the create of this URN, of another stack, has made or may have made. */
function runThere({ urn }: { urn: string }): string {
  return `\`pulumi up\` with stack ${stackNameOf(urn)} of project ${projectOf(urn)} selected keeps it, takes it over, or says what to do`;
}

function whyLeftover({ why, claim }: Leftover): string {
  const others =
    claim &&
    (claim.hasMade
      ? `a run on this machine created it for ${claim.urn}`
      : `a pending create of ${claim.urn} may have made it`);
  const and = others === undefined ? "" : `, and ${others}`;
  return {
    tag: `its name was generated for this resource${and}`,
    name: `it has the same name${and}`,
    delivered: others ?? "an earlier run created it for this resource",
    renamed:
      "an earlier run created it for another resource, which this run's program has not registered so far",
  }[why];
}

/** Returns the warning that names leftovers before new instances are created. */
export function leftoversNotice(descriptions: readonly string[], { own }: CreateSpec): string[] {
  return [
    "new instances are created although the service has instances that may be left over from earlier creates. They may also be another stack's, or the ones that this run replaces. If no state holds such an instance, take it over with its command (under a new resource name), or remove it at the service:",
    ...descriptions.map((text) => `  - ${text}`),
    `To have a create fail in this case before anything is sent: ${howToSet("leftovers", "fail", own.provider)}.`,
  ];
}

function leftoversError({ items, partial }: Leftovers, spec: CreateSpec): string[] {
  const setLeftoversWarn = howToSet("leftovers", "warn", spec.own.provider);
  const named = items.slice(0, maxNamed);
  const notNamed = items.length - named.length;
  const claims = named.flatMap(({ id, claim, why }) => {
    if (!claim) return [];
    // Once that stack's state is seen to hold the instance, only its name is in the way, if the program chose that.
    const then = why === "name" ? "Give this one another name" : "Then run this again";
    return [`if ${id} is the other stack's: ${runThere(claim)}. ${then}`];
  });
  const importable = items.filter(({ claim }) => !claim?.isSure).map(({ id }) => id);
  const imports = (importable.length > 2 ? ["<id>"] : importable).map((id) =>
    takeOverCommand(spec.own, spec.own, id),
  );
  return [
    'nothing was created, because compute:leftovers is "fail" and instances may be left over from earlier creates of this resource:',
    ...named.map((item) => `  - ${item.id}: ${whyLeftover(item)}`),
    ...(notNamed > 0 ? [`  - and ${notNamed} more`] : []),
    ...(partial ? [`  - ${partialNotice}`] : []),
    ...withWaysOut("`pulumi stack --show-ids` lists the instances of the stack", [
      ...(items.length > 0
        ? [
            `if the stack has the instance, and this run replaces it (\`--replace\`, \`pulumi state taint\`, replacementTrigger or replaceWith): ${setLeftoversWarn}`,
            "if the stack has it otherwise: `pulumi up --refresh`, which shows the provider what the state holds before it creates anything",
            ...(imports.length > 0
              ? [
                  `if the stack does not have it, and it is this resource's: take it over with ${imports.join(" or ")}`,
                  ...clearedWays(spec.own),
                ]
              : []),
            ...claims,
            "if no state holds it: remove it at the service",
          ]
        : []),
      `to create a new instance anyway: ${setLeftoversWarn}`,
    ]),
  ];
}

function undeletableError(
  { record, why }: Extract<Failure, { kind: "undeletable" }>,
  spec: CreateSpec,
  paging: Paging,
): string[] {
  const { id = "<id>", key } = record;
  const instance = `instance ${id}, which an earlier run created for this resource,`;
  const existence = why
    ? `whether ${instance} still exists is not known (${why.kind === "open" ? whyOpen(why, paging) : why.error.message}). If it does,`
    : `${instance} still exists, and`;
  const { provider } = spec.own;
  // With "retain", the instance counts as a leftover.
  const leftoversToo =
    spec.leftovers === "fail" ? ` and ${howToSet("leftovers", "warn", provider)}` : "";
  return withWaysOut(
    `nothing was created: ${existence} its delete would fail (compute:deletePolicy is "fail"), so two instances would run`,
    [
      "remove it at the service first",
      `let it run: ${howToSet("deletePolicy", "retain", provider)}${leftoversToo}`,
      `if no state holds it any more (\`pulumi state delete\`): take it over with ${takeOverCommand(spec.own, record, id)}, or forget it with \`${discardCommand(key)}\``,
    ],
  );
}

// ── A POST whose outcome is not known ────────────────────────────────────────────────────────────

/** Says what is known after a POST with an unclear outcome, and what a person can do. */
function unclearError(
  { why, key, error }: Extract<Failure, { kind: "unclear" }>,
  spec: CreateSpec,
  paging: Paging,
): string[] {
  const { own, settlingMs } = spec;
  const name = shownName(spec);
  const takeOver = (id: string) => takeOverCommand(own, own, id);
  const discard = `if this create made none of them: forget the create with \`${discardCommand(key)}\`, and run again`;
  const because = (finding: string) => `${error.message}. ${finding}`;
  const search = [
    ...(own.stateless
      ? [
          "look for the name in the service's listing before you run this again, because each run creates an instance",
        ]
      : [
          "run again: the next `pulumi up` on this machine searches for it before it creates anything",
          "on another machine: first look for the name in the service's listing",
        ]),
    `if the instance turns up: take it over with ${takeOver("<id>")}`,
    ...clearedWays(own),
  ];
  const notFound = (seen: string) =>
    withWaysOut(
      because(`Whether the instance was created is not known: ${seen}. Nothing more was sent`),
      search,
    );
  const notListed = `no instance named "${name}" turned up within ${settlingMs / 1000} s`;
  switch (why.kind) {
    case "several":
    case "turnedUp": {
      const [id = "<id>"] = why.ids;
      if (why.ids.length > 1) {
        const ids = someOf(why.ids);
        return withWaysOut(
          because(
            `Several instances named "${name}" have turned up since: ${ids}. Which of them this create made is not known`,
          ),
          [
            `find out, remove the others at the service, and take the right one over with ${takeOver("<id>")}`,
            ...replacedWays(own, "<id>", key),
            discard,
          ],
        );
      }
      return withWaysOut(
        because(
          `An instance named "${name}" has turned up since, ${id}. The provider did not generate the name, so the instance may belong to something else, and it was not adopted`,
        ),
        [
          `if this create made it: take it over with ${takeOver(id)}`,
          ...replacedWays(own, id, key),
          discard,
        ],
      );
    }
    case "none":
      return notFound(notListed);
    case "open":
      return notFound(`${notListed}, and ${whyOpen(why, paging)}`);
    case "listingFailed":
      return notFound(`the search for it failed (${why.error.message})`);
    case "stopped":
      return withWaysOut(
        because(
          `Whether "${name}" was created is not known, and the search for it ended early (${why.error.message})`,
        ),
        search,
      );
  }
}
