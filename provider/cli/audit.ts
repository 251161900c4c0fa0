/**
 * `pulumi-resource-compute audit`: compares the instances that the service lists with those of all stacks of the
 * backend. The command changes nothing, and reads the states with their secrets encrypted.
 */
import type { Command } from "commander";
import { nameCursor, ownCommand } from "../advice";
import { existenceOf, type Existence } from "../instance/existence";
import { displayRecordedName, isPending } from "../ledger/record";
import { originKey, type Place } from "../origin";
import { propertyMap } from "../propertyValue";
import { timeouts } from "../session/session";
import {
  fieldsOf,
  findCreator,
  findOfOtherAccount,
  look,
  type Listed,
  type Look,
  type Managed,
  type NotComparable,
  type Resource,
} from "./compare";
import { forgetAdvice, readCreates, type RecordedCreate } from "./discard";
import type { StackInstance } from "./pulumi";
import { createSession, explainError, listService, type ServiceListing } from "./service";
import { addSettingOptions, readSettings, type SettingOptions, stackHelp } from "./settings";
import { count, printData, type Terminal } from "./terminal";

type Options = SettingOptions & { json?: true; stack?: string[] };

/** An instance, a stack or a service (`what`) for which the audit has no verdict, and the reason (`why`). */
interface Undecided {
  what: string;
  why: string;
}

/**
 * A create that is pending according to the ledger, in which the provider records its creates on this machine, or only
 * according to a state.
 */
interface PendingCreate extends Partial<Resource> {
  urn: string;
  name?: string | undefined;
  /** When the create was started (ISO 8601). Undefined if only a state has the create. */
  at?: string;
  id?: string | undefined;
}

/** An instance in no stack. */
interface InNoStack extends Listed, Place {
  ipv4: string | undefined;
  /** Which create or which stack the instance may belong to. Undefined if nothing is known. */
  note: string | undefined;
  /** The URN of the pending create that has made the instance, or may have made it. */
  pendingCreate: string | undefined;
}

/** The output of `--json`, which also has the `result` of `outcomes`. */
interface Report {
  /** The listed services. `settings` is where the settings came from: a stack, or the environment. */
  services: (Place & {
    account: string | undefined;
    settings: string;
    listed: number;
    complete: boolean;
  })[];
  stacks: { read: number; withInstances: number };
  managed: Managed[];
  inNoStack: InNoStack[];
  inSeveral: Managed[];
  gone: (Resource & { id: string })[];
  openCreates: PendingCreate[];
  undecided: Undecided[];
  notComparable: NotComparable[];
}

/** For each exit code, the `result` of `--json` and the last line of the printed report. */
const outcomes = {
  0: {
    result: "ok",
    verdict:
      "Every listed instance is managed, and every managed instance that could be compared exists.",
  },
  1: { result: "found", verdict: "Something was found: see above." },
  3: {
    result: "undecided",
    verdict: "Nothing was found, but not everything could be decided.",
  },
} as const;

const exitCodeHelp = `
Exit codes:
  0  every listed instance is managed, and every managed instance that could be compared exists
  1  something was found: an instance in no stack or in several, an instance that is gone, or a
     pending create
  2  the command line is wrong
  3  nothing was found, but not everything could be decided: for example because a listing
     was incomplete, or because settings, a stack or a service could not be read`;

/** The settings that have no effect on the audit. */
const unusedSettings = ["deletePolicy", "destroyPath", "leftovers"] as const;

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
      (name: string, others: string[] = []) => [...others, name],
    )
    .addHelpText("after", exitCodeHelp);
  addSettingOptions(command, ...unusedSettings).action(async (options: Options) => {
    const report = await audit(options, io);
    const exitCode = "managed" in report ? exitCodeOf(report) : 3;
    if (options.json) printData({ result: outcomes[exitCode].result, ...report }, io);
    else if ("managed" in report) printReport(report, options, exitCode, io);
    io.exitCode = exitCode;
  });
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
      const { settings, stack: settingsStack, source } = await readSettings(stack, options, io);
      const service = await listService(createSession(settings, io)).catch((error: unknown) => {
        io.warn(`The settings come from ${source}.`);
        throw error;
      });
      const { baseUrl, tokenHash } = service.origin;
      const isSame = ({ origin }: ServiceListing) =>
        origin.baseUrl === baseUrl && origin.tokenHash === tokenHash;
      if (!services.some(isSame)) services.push({ ...service, source, settingsStack });
    } catch (error) {
      addFailure(stack ? `the service of stack ${stack}` : "the service", error);
    }
  }
  if (services.length === 0) return { undecided };
  try {
    const bothLooks = await lookTwice(services, io.env);
    const creates = readCreates(io.env, (message) => io.warn(`warning: ${message}`)).filter(
      ({ record }) => isPending(record),
    );
    return createReport(bothLooks, creates, undecided);
  } catch (error) {
    addFailure("the stacks", error);
    return { undecided };
  }
}

/** A listing, and where its settings came from. */
interface AuditedService extends ServiceListing {
  /** The stack or the environment, as a phrase for messages. */
  source: string;
  /** The stack that the settings came from. Undefined if they came from the environment. */
  settingsStack: string | undefined;
}

/** An instance that no listing of the first look showed, and whether the instance exists. */
interface CheckedInstance {
  instance: StackInstance;
  existence: Existence;
}

/**
 * Reads the states, and compares them with the listings (`look`). If something differs, lists and looks a second time,
 * since a run may have created or deleted an instance in the meantime. Otherwise, `second` is the same object as `first`.
 */
async function lookTwice(
  services: readonly AuditedService[],
  env: NodeJS.ProcessEnv,
): Promise<{
  services: readonly AuditedService[];
  first: Look;
  second: Look;
  checked: CheckedInstance[];
}> {
  const first = await look(services, env);
  const { unmanaged, missing, instances, stacks } = first;
  const hasPending = stacks.states.some(({ pendingOperations }) => pendingOperations.length > 0);
  if (unmanaged.length + missing.length === 0 && !hasPending) {
    return { services, first, second: first, checked: [] };
  }
  for (const { session } of services) {
    // A listing that began before the states were read proves nothing about the instances in the states.
    session.listings.markWrite();
    // Only a listing of its own tenant proves that an instance is gone (G3). The session recognizes such a listing by other
    // instances that were recorded with the same token. So `observe` is called with all instances.
    for (const { id, origin } of instances) {
      if (origin) session.state.observe(id, propertyMap({ [originKey]: origin }));
    }
  }
  const checked = await Promise.all(
    missing.map(async ({ service: { session }, instance }) => {
      using operation = session.operation(timeouts.look);
      const known = { recordedOrigin: instance.origin, acceptedAt: instance.acceptedAt };
      const { existence } = await existenceOf(session, instance.id, known, operation.signal);
      return { instance, existence };
    }),
  );
  const relisted = await Promise.all(services.map(({ session }) => listService(session)));
  return { services, first, second: await look(relisted, env), checked };
}

/**
 * Makes the report. Only what both looks show counts as an instance in no stack, as a gone instance or as a create
 * that is pending in a state.
 */
function createReport(
  { services, first, second, checked }: Awaited<ReturnType<typeof lookTwice>>,
  creates: readonly RecordedCreate[],
  failures: readonly Undecided[],
): Report {
  const undecided = [...failures];
  const unreadable = [...first.stacks.unreadable, ...second.stacks.unreadable];
  // The Map keeps one entry for a stack that both looks could not read.
  for (const [stack, why] of new Map(unreadable.map(({ stack, problem }) => [stack, problem]))) {
    undecided.push({ what: `stack ${stack}`, why });
  }
  for (const { origin, listing } of services.filter((it) => !it.listing.complete)) {
    const why =
      listing.unreadable > 0
        ? "its listing holds items that can't be read"
        : `its listing is not complete: there may be instances that it does not show. ${nameCursor}`;
    undecided.push({ what: origin.baseUrl, why });
  }

  const instances = [...first.instances, ...second.instances];
  const openCreates = findPendingCreates(first, second, creates);
  const onlyInStates = openCreates.filter(({ at }) => at === undefined);
  const inNoStack: InNoStack[] = [];
  for (const { service, item } of second.unmanaged) {
    const wasUnmanaged = first.unmanaged.some(
      (it) => it.item.id === item.id && it.service.session === service.session,
    );
    // The next audit reports an instance that was created between the looks.
    if (!wasUnmanaged) continue;
    const what = `instance ${item.id} "${item.name ?? ""}"`;
    const creator = findCreator(item, service.origin, { creates, onlyInStates, instances });
    const ofOtherAccount = findOfOtherAccount(item, service.origin, instances);
    if (item.status === "PROVISIONING" || creator?.isUnderWay) {
      const why = `in no stack, but ${creator?.isUnderWay ? creator.note : "PROVISIONING, so a run may be creating it right now"}`;
      undecided.push({ what, why });
    } else if (ofOtherAccount !== undefined) {
      undecided.push({ what, why: ofOtherAccount });
    } else if (unreadable.length > 0) {
      undecided.push({ what, why: "it is in no stack that could be read" });
    } else {
      const { baseUrl, tokenKind } = service.origin;
      const ipv4 = item.ipv4_public || undefined;
      const readInstance = instances.find((it) => it.id === item.id && it.external);
      const note =
        creator?.note ?? (readInstance && `${readInstance.stack} reads it, but does not manage it`);
      const pendingCreate = creator?.urn;
      inNoStack.push({ ...fieldsOf(item), baseUrl, tokenKind, ipv4, note, pendingCreate });
    }
  }

  const gone: Report["gone"] = [];
  for (const { instance, existence } of checked) {
    const { id, stack, urn } = instance;
    const isInStack = second.instances.some(
      (it) => it.stack === stack && it.urn === urn && it.id === id,
    );
    if (existence.kind === "found" || !isInStack) continue;
    if (existence.kind === "gone") gone.push({ id, stack, urn });
    else undecided.push({ what: `instance ${id} of ${stack}`, why: existence.why });
  }

  const { managed, notComparable } = second;
  // The settings of a stack should reach the stack's instances. Instances of other stacks may live elsewhere.
  for (const { id, stack, why } of notComparable) {
    if (!services.some(({ settingsStack }) => settingsStack === stack)) continue;
    undecided.push({ what: `instance ${id} of ${stack}`, why });
  }
  const inSeveral = managed.filter(({ resources }) => resources.length > 1);
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
    inSeveral,
    gone,
    openCreates,
    undecided,
    notComparable,
  };
}

/**
 * Returns the pending creates of this machine's ledger, and those that both looks found in a state and that the ledger
 * does not have. The creates of a run that is under way on this machine are left out.
 */
function findPendingCreates(
  first: Look,
  second: Look,
  creates: readonly RecordedCreate[],
): PendingCreate[] {
  const pendingInStates = ({ stacks }: Look) =>
    stacks.states.flatMap(({ stack, pendingOperations }) =>
      pendingOperations.map((it) => ({ stack, ...it })),
    );
  const secondPending = pendingInStates(second);
  const isUnderWay = (urn: string) =>
    creates.some(({ live, record }) => live && record.urn === urn);
  // Pulumi keeps a pending create that a later run has continued, until `pulumi refresh --clear-pending-creates`.
  const heldNames = second.managed.flatMap(({ name, resources }) =>
    resources.map(({ stack, urn }) => ({ name, stack, urn })),
  );
  const isHeld = (stack: string, urn: string, name: string | undefined) =>
    heldNames.some((it) => it.stack === stack && it.urn === urn && it.name === name);
  const stateCreates = pendingInStates(first).filter(
    ({ stack, urn, name }) =>
      secondPending.some((it) => it.stack === stack && it.urn === urn) &&
      !isUnderWay(urn) &&
      !isHeld(stack, urn, name),
  );
  const ledgerCreates = creates
    .filter(({ isHere, live }) => isHere && !live)
    .map(({ record: { urn, name, at, id } }) => ({ urn, name: displayRecordedName(name), at, id }))
    .filter(
      ({ urn, id }) =>
        ![...first.instances, ...second.instances].some((it) => it.id === id && it.urn === urn),
    );
  return [
    ...ledgerCreates.map((it) => ({ ...stateCreates.find(({ urn }) => urn === it.urn), ...it })),
    ...stateCreates.filter((it) => !ledgerCreates.some(({ urn }) => urn === it.urn)),
  ];
}

function printReport(
  report: Report,
  { stack: stackOptions = [] }: Options,
  exitCode: 0 | 1 | 3,
  { print }: Terminal,
): void {
  const printLine = (label: string, value: string) => print(label.padEnd(11) + value);
  for (const { baseUrl, tokenKind, settings, listed, complete } of report.services) {
    const ending = complete ? "" : ", and there may be more";
    const instances = count(listed, "instance");
    printLine(
      "service",
      `${baseUrl} (${tokenKind} token; settings from ${settings}): ${instances} listed${ending}`,
    );
  }
  printLine("stacks", `${report.stacks.read} read, ${report.stacks.withInstances} with instances`);
  printLine("managed", count(report.managed.length, "instance"));

  const printSection = (title: string, rows: (string | undefined)[][], next: string) => {
    if (rows.length === 0) return;
    print("");
    print(`${title} (${rows.length}):`);
    for (const row of rows) print(`  ${row.filter(Boolean).join("  ")}`);
    print(`  → ${next}`);
  };
  const describeInstance = ({ id, name, status }: Listed) => `${id}  "${name}"  ${status}`;
  const printInNoStack = (title: string, instances: readonly InNoStack[], next: string) => {
    const isBilled = instances.some(({ tokenKind }) => tokenKind === "live");
    printSection(
      `${title}${isBilled ? " (those of a live token are billed)" : ""}`,
      instances.map((it) => [describeInstance(it), it.ipv4, it.note]),
      next,
    );
  };
  const [onlyStack, ...otherStacks] = stackOptions;
  const stackArgs = onlyStack ? ["--stack", otherStacks.length > 0 ? "<name>" : onlyStack] : [];
  printInNoStack(
    "In no stack",
    report.inNoStack.filter((it) => it.pendingCreate === undefined),
    `Take them over (\`${ownCommand("import-plan", ...stackArgs)}\`), or remove them at the service (its portal).`,
  );
  printInNoStack(
    "In no stack, but explained by a pending create",
    report.inNoStack.filter((it) => it.pendingCreate !== undefined),
    "Do what the line of each says.",
  );
  printSection(
    "In a stack but gone",
    report.gone.map(({ id, stack, urn }) => [id, stack, urn]),
    "`pulumi refresh` drops them from the state, and the next `pulumi up` creates new ones.",
  );
  printSection(
    "Managed by more than one resource",
    report.inSeveral.map((it) => [
      describeInstance(it),
      ...it.resources.map(({ stack, urn }) => `${stack}: ${urn}`),
    ]),
    "Keep one resource of each instance. Run no `pulumi up` before all of this is done. Take the others out of their programs, and then out of their states: `pulumi state delete --force <urn> --stack <stack>` (--force, because an import protects the resource).",
  );
  const rowOf = ({ urn, name, at, id, stack }: PendingCreate) => [
    ...[urn, name && `"${name}"`, at && `started ${at}`, id],
    stack && `pending in ${stack}`,
  ];
  // The line of an instance above says what to do about its create.
  const hasInstanceAbove = ({ urn, id, name }: PendingCreate) =>
    report.inNoStack.some(
      (it) => it.pendingCreate === urn && (id === undefined ? it.name === name : it.id === id),
    );
  const inLedger = report.openCreates.filter((it) => it.at && !hasInstanceAbove(it));
  printSection(
    "Pending creates",
    inLedger.map(rowOf),
    `Run \`pulumi up\`, which resumes those of its stack or says what to do. ${forgetAdvice(inLedger.map(({ urn }) => urn))}`,
  );
  printSection(
    "Pending creates that the ledger of this machine does not have",
    report.openCreates.filter(({ at }) => at === undefined).map(rowOf),
    "The next `pulumi up` creates each of them once more, unless a stack has its instance by then. If its instance is listed above, import that first. `pulumi refresh --clear-pending-creates` removes the pending create.",
  );
  printSection(
    "Not decided",
    report.undecided.map(({ what, why }) => [`${what}: ${why}`]),
    "Run `audit` again later, or with settings that reach them.",
  );
  printSection(
    "Not compared",
    report.notComparable.map(({ id, stack, why }) => [id, stack, why]),
    "Run `audit` with their base URL and token. For a stack of this folder's project, --stack NAME reads both.",
  );
  print("");
  print(outcomes[exitCode].verdict);
}
