/** `audit`: compares the instances that the service lists with all stacks of the backend. It changes nothing. */
import type { Command } from "commander";
import { nameCursor, ownCommand } from "../advice";
import { existenceOf, type Existence } from "../instance/existence";
import { displayRecordedName } from "../ledger/record";
import { originKey, type Place } from "../origin";
import { propertyMap } from "../propertyValue";
import { timeouts } from "../session/session";
import { explainUnmanaged, fieldsOf, look, type Listed, type Look } from "./compare";
import { forgetAdvice, readPendingCreates, type RecordedCreate } from "./discard";
import type { Resource, StackInstance } from "./pulumi";
import { createSession, explainError, listService, type ServiceListing } from "./service";
import {
  addSettingOptions,
  type CommandSettings,
  readSettings,
  repeatable,
  type SettingOptions,
  stackHelp,
} from "./settings";
import { count, printData, type Terminal } from "./terminal";

type Options = SettingOptions & { json?: true; stack?: string[] };

/** An instance, a stack or a service without a verdict. */
interface Undecided {
  what: string;
  why: string;
}

/** A create that is pending in a state, or in the ledger, in which the provider records its creates on this machine. */
interface PendingCreate extends Partial<Resource> {
  urn: string;
  name?: string | undefined;
  /** When the create was started (ISO 8601). Undefined if only a state has the create. */
  at?: string;
  id?: string | undefined;
}

interface InNoStack extends Listed, Place {
  ipv4: string | undefined;
  /** Which create or which stack the instance may belong to. Undefined if nothing is known. */
  note: string | undefined;
  /** The URN of the pending create that may have made the instance. */
  pendingCreate: string | undefined;
}

/** The output of `--json`, which also has the `result` of `outcomes`. */
type Report = ReturnType<typeof createReport>;

/** For each exit code, the `result` of `--json` and the last line of the printed report. */
const outcomes = {
  0: {
    result: "ok",
    verdict:
      "Every listed instance is managed, and every managed instance that could be compared exists.",
  },
  1: { result: "found", verdict: "Something was found: see above." },
  3: { result: "undecided", verdict: "Nothing was found, but not everything could be decided." },
} as const;

const exitCodeHelp = `
Exit codes:
  0  every listed instance is managed, and every managed instance that could be compared exists
  1  something was found: an instance in no stack or in several, an instance that is gone, or a
     pending create
  2  the command line is wrong
  3  nothing was found, but not everything could be decided: for example because a listing
     was incomplete, or because settings, a stack or a service could not be read`;

/** Adds the command `audit`. */
export function addAudit(program: Command, io: Terminal): void {
  const command = program
    .command("audit")
    .description(
      "compare the instances that the service lists with all stacks of the backend; changes nothing",
    )
    .option("--json", "Print the result as JSON.")
    .option(
      "--stack <name>",
      `${stackHelp} Give the option several times to list the instances with the settings of each of these stacks. All stacks of the backend are compared in any case.`,
      repeatable,
    )
    .addHelpText("after", exitCodeHelp);
  addSettingOptions(command, "deletePolicy", "destroyPath", "leftovers").action(
    async (options: Options) => {
      const report = await audit(options, io);
      const exitCode = "managed" in report ? exitCodeOf(report) : 3;
      const { result, verdict } = outcomes[exitCode];
      if (options.json) printData({ result, ...report }, io);
      else if ("managed" in report) {
        printReport(report, options, io);
        io.print(verdict);
      }
      io.exitCode = exitCode;
    },
  );
}

function exitCodeOf({ inNoStack, inSeveral, gone, openCreates, undecided }: Report): 0 | 1 | 3 {
  if ([inNoStack, inSeveral, gone, openCreates].some((it) => it.length > 0)) return 1;
  return undecided.length > 0 ? 3 : 0;
}

/** Returns the report, or only `undecided` if nothing could be compared. Each failure is also printed to stderr. */
async function audit(options: Options, io: Terminal): Promise<Report | Pick<Report, "undecided">> {
  const undecided: Undecided[] = [];
  const addFailure = (what: string, error: unknown) => {
    const lines = explainError(error);
    lines.forEach((line) => io.warn(line));
    undecided.push({ what, why: lines.join("; ").replaceAll("; →", " →") });
  };
  const services: AuditedService[] = [];
  for (const stack of options.stack ?? [undefined]) {
    try {
      const found = await readSettings(stack, options, io);
      const service = await listService(createSession(found.settings, io)).catch(
        (error: unknown) => {
          io.warn(`The settings come from ${found.source}.`);
          throw error;
        },
      );
      services.push({ ...service, ...found });
    } catch (error) {
      addFailure(stack ? `the service of stack ${stack}` : "the service", error);
    }
  }
  if (services.length === 0) return { undecided };
  try {
    const looks = await lookTwice(services, io.env);
    const creates = readPendingCreates(io.env, (message) => io.warn(`warning: ${message}`));
    return createReport(services, looks, creates, undecided);
  } catch (error) {
    addFailure("the stacks", error);
    return { undecided };
  }
}

type AuditedService = ServiceListing & CommandSettings;

interface Looks {
  first: Look;
  second: Look;
  /** The instances that no listing of the first look showed, and whether they exist. */
  checked: { instance: StackInstance; existence: Existence }[];
}

/**
 * Compares the states with the listings. If something differs, lists and compares a second time, since a run may have
 * created or deleted an instance in the meantime. Otherwise, `second` is the same object as `first`.
 */
async function lookTwice(
  services: readonly AuditedService[],
  env: NodeJS.ProcessEnv,
): Promise<Looks> {
  const first = await look(services, env);
  const { unmanaged, missing, pending, instances } = first;
  if (unmanaged.length + missing.length + pending.length === 0) {
    return { first, second: first, checked: [] };
  }
  for (const { session } of services) {
    // Only a listing of its own tenant proves that an instance is gone (G3). The session recognizes such a listing by other
    // instances that were recorded with the same token.
    for (const { id, origin } of instances) {
      if (origin) session.state.observe(id, propertyMap({ [originKey]: origin }));
    }
  }
  const checked = await Promise.all(
    missing.map(async ({ service: { session }, instance }) => {
      using operation = session.operation(timeouts.look);
      return { instance, existence: await existenceOf(session, instance, operation.signal) };
    }),
  );
  const relisted = await Promise.all(services.map(({ session }) => listService(session)));
  return { first, second: await look(relisted, env), checked };
}

/** Only what both looks show counts as an instance in no stack, as gone, or as a create that is pending in a state. */
function createReport(
  services: readonly AuditedService[],
  { first, second, checked }: Looks,
  creates: readonly RecordedCreate[],
  failures: readonly Undecided[],
) {
  const undecided = [...failures];
  // A stack that both looks could not read counts once.
  const unreadable = new Map(
    [...first.stacks.unreadable, ...second.stacks.unreadable].map((it) => [it.stack, it.problem]),
  );
  for (const [stack, why] of unreadable) undecided.push({ what: `stack ${stack}`, why });
  for (const { origin, listing } of services.filter((it) => !it.listing.complete)) {
    const what = origin.baseUrl;
    const why =
      listing.unreadable > 0
        ? "its listing holds items that can't be read"
        : `its listing is not complete: there may be instances that it does not show. ${nameCursor}`;
    // Several stacks may have the same service.
    if (!undecided.some((it) => it.what === what && it.why === why)) undecided.push({ what, why });
  }

  const { instances, managed, notComparable } = second;
  const openCreates = findPendingCreates(first, second, creates);
  const onlyInStates = openCreates.filter(({ at }) => at === undefined);
  const known = { creates, onlyInStates, instances };
  const inNoStack: InNoStack[] = [];
  for (const { service, item } of second.unmanaged) {
    const { id, name = "", status, ipv4_public } = item;
    // The next audit reports an instance that was created between the looks.
    if (!first.unmanaged.some((it) => it.item.id === id && it.service.session === service.session))
      continue;
    const explanation = explainUnmanaged(item, service.origin, known);
    const why = explanation?.isOpen
      ? explanation.note
      : status === "PROVISIONING"
        ? "in no stack, but PROVISIONING, so a run may be creating it right now"
        : unreadable.size > 0
          ? "it is in no stack that could be read"
          : undefined;
    if (why !== undefined) undecided.push({ what: `instance ${id} "${name}"`, why });
    else {
      const { baseUrl, tokenKind } = service.origin;
      const reader = instances.find((it) => it.id === id && it.external);
      const note =
        explanation?.note ?? (reader && `${reader.stack} reads it, but does not manage it`);
      const [ipv4, pendingCreate] = [ipv4_public || undefined, explanation?.urn];
      inNoStack.push({ ...fieldsOf(item), baseUrl, tokenKind, ipv4, note, pendingCreate });
    }
  }

  const gone: (Resource & { id: string })[] = [];
  for (const { instance, existence } of checked) {
    const { id, stack, urn } = instance;
    const isHeld = instances.some((it) => isSameResource(it, instance) && it.id === id);
    if (existence.kind === "found" || !isHeld) continue;
    if (existence.kind === "gone") gone.push({ id, stack, urn });
    else undecided.push({ what: `instance ${id} of ${stack}`, why: existence.why });
  }

  // The settings of a stack should reach the stack's instances. Instances of other stacks may live elsewhere.
  for (const { id, stack, why } of notComparable) {
    if (services.some((it) => it.stack === stack))
      undecided.push({ what: `instance ${id} of ${stack}`, why });
  }
  const { states } = first.stacks;
  const withInstances = states.filter((state) => state.instances.length > 0).length;
  return {
    services: services.map(({ origin: { baseUrl, tokenKind, account }, source, listing }) => {
      const { items, complete } = listing;
      return { baseUrl, tokenKind, account, settings: source, listed: items.size, complete };
    }),
    stacks: { read: states.length, withInstances },
    managed,
    inNoStack,
    inSeveral: managed.filter(({ resources }) => resources.length > 1),
    gone,
    openCreates,
    undecided,
    notComparable,
  };
}

function isSameResource(one: Resource, other: Resource): boolean {
  return one.stack === other.stack && one.urn === other.urn;
}

/** Returns the pending creates in the ledger and in states, without those of a run that is under way on this machine. */
function findPendingCreates(
  first: Look,
  second: Look,
  creates: readonly RecordedCreate[],
): PendingCreate[] {
  const inState = first.pending.filter(
    (it) =>
      second.pending.some((other) => isSameResource(it, other)) &&
      !creates.some(({ live, record }) => live && record.urn === it.urn) &&
      // Pulumi keeps a pending create that a later run has continued, until `pulumi refresh --clear-pending-creates`.
      !second.managed.some(
        ({ name, resources }) =>
          name === it.name && resources.some((other) => isSameResource(it, other)),
      ),
  );
  const inLedger = creates
    .filter(({ isHere, live }) => isHere && !live)
    .map(({ record: { urn, name, at, id } }) => ({ urn, name: displayRecordedName(name), at, id }))
    .filter(({ urn, id }) => !second.instances.some((it) => it.id === id && it.urn === urn));
  return [
    ...inLedger.map((it) => ({ ...inState.find(({ urn }) => urn === it.urn), ...it })),
    ...inState.filter((it) => !inLedger.some(({ urn }) => urn === it.urn)),
  ];
}

function printReport(report: Report, { stack = [] }: Options, { print }: Terminal): void {
  const { services, stacks, managed, inNoStack, openCreates } = report;
  const printLine = (label: string, value: string) => print(label.padEnd(11) + value);
  for (const { baseUrl, tokenKind, settings, listed, complete } of services) {
    const instances = `${count(listed, "instance")} listed`;
    const ending = complete ? "" : ", and there may be more";
    printLine(
      "service",
      `${baseUrl} (${tokenKind} token; settings from ${settings}): ${instances}${ending}`,
    );
  }
  printLine("stacks", `${stacks.read} read, ${stacks.withInstances} with instances`);
  printLine("managed", count(managed.length, "instance"));

  const describe = ({ id, name, status }: Listed) => `${id}  "${name}"  ${status}`;
  const rowOf = ({ urn, name, at, id, stack: holder }: PendingCreate) => [
    ...[urn, name && `"${name}"`, at && `started ${at}`, id],
    holder && `pending in ${holder}`,
  ];
  const printSection = (title: string, rows: (string | undefined)[][], next: string) => {
    if (rows.length === 0) return;
    print("");
    print(`${title} (${rows.length}):`);
    for (const row of rows) print(`  ${row.filter(Boolean).join("  ")}`);
    print(`  → ${next}`);
  };
  const printInNoStack = (title: string, instances: readonly InNoStack[], next: string) => {
    const isBilled = instances.some(({ tokenKind }) => tokenKind === "live");
    const billed = isBilled ? " (those of a live token are billed)" : "";
    printSection(
      title + billed,
      instances.map((it) => [describe(it), it.ipv4, it.note]),
      next,
    );
  };

  const [onlyStack, ...others] = stack;
  const stackArgs = onlyStack ? ["--stack", others.length > 0 ? "<name>" : onlyStack] : [];
  printInNoStack(
    "In no stack",
    inNoStack.filter((it) => it.pendingCreate === undefined),
    `Take them over (\`${ownCommand("import-plan", ...stackArgs)}\`), or remove them at the service (its portal).`,
  );
  printInNoStack(
    "In no stack, but explained by a pending create",
    inNoStack.filter((it) => it.pendingCreate !== undefined),
    "Do what the line of each says.",
  );
  printSection(
    "In a stack but gone",
    report.gone.map((it) => [it.id, it.stack, it.urn]),
    "`pulumi refresh` drops them from the state, and the next `pulumi up` creates new ones.",
  );
  printSection(
    "Managed by more than one resource",
    report.inSeveral.map((it) => [
      describe(it),
      ...it.resources.map((resource) => `${resource.stack}: ${resource.urn}`),
    ]),
    "Keep one resource of each instance. Run no `pulumi up` before all of this is done. Take the others out of their programs, and then out of their states: `pulumi state delete --force <urn> --stack <stack>` (--force, because an import protects the resource).",
  );
  // The line of an instance above says what to do about its create.
  const hasInstanceAbove = ({ urn, id, name }: PendingCreate) =>
    inNoStack.some(
      (it) => it.pendingCreate === urn && (id === undefined ? it.name === name : it.id === id),
    );
  const inLedger = openCreates.filter((it) => it.at && !hasInstanceAbove(it));
  printSection(
    "Pending creates",
    inLedger.map(rowOf),
    `Run \`pulumi up\`, which resumes those of its stack or says what to do. ${forgetAdvice(inLedger.map(({ urn }) => urn))}`,
  );
  printSection(
    "Pending creates that the ledger of this machine does not have",
    openCreates.filter(({ at }) => at === undefined).map(rowOf),
    "The next `pulumi up` creates each of them once more, unless a stack has its instance by then. If its instance is listed above, import that first. `pulumi refresh --clear-pending-creates` removes the pending create.",
  );
  printSection(
    "Not decided",
    report.undecided.map(({ what, why }) => [`${what}: ${why}`]),
    "Run `audit` again later, or with settings that reach them.",
  );
  printSection(
    "Not compared",
    report.notComparable.map((it) => [it.id, it.stack, it.why]),
    "Run `audit` with their base URL and token. For a stack of this folder's project, --stack NAME reads both.",
  );
  print("");
}
