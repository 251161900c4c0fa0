/** `audit`: compares the instances that the service lists with all stacks of the backend. It changes nothing. */
import type { Command } from "commander";
import { ownCommand } from "../advice";
import { whyIncomplete, whyOpen } from "../evidence/why";
import type { Verdict } from "../evidence/witness";
import { lookFor } from "../instance/existence";
import { displayRecordedName } from "../ledger/record";
import { timeouts } from "../session/session";
import {
  compare,
  explainUnmanaged,
  isSameResource,
  type Comparison,
  type ListedInstance,
} from "./compare";
import { readPendingCreates, resumeAdvice, type RecordedCreate } from "./discard";
import { readAllStates, type Resource } from "./pulumi";
import {
  addOptions,
  explainError,
  listAgain,
  listService,
  type ServiceListing,
  type SettingOptions,
  stackHelp,
} from "./service";
import { count, printData, type Terminal } from "./terminal";

type Options = Omit<SettingOptions, "stack"> & { json?: true; stack?: string[] };

/** The output of `--json`, which also has the `result` of `outcomes`. */
interface Report {
  services: {
    baseUrl: string;
    tokenKind: string;
    account: string | undefined;
    /** Where the settings come from. */
    settings: string;
    /** How many instances the service lists. */
    listed: number;
    complete: boolean;
  }[];
  stacks: { read: number; withInstances: number };
  managed: Managed[];
  inNoStack: {
    id: string;
    name: string;
    status: string;
    baseUrl: string;
    tokenKind: string;
    ipv4: string | undefined;
    /** What may have made the instance, and how it gets into a stack. */
    note: string | undefined;
    /** The URN of the pending create that may have made the instance. */
    pendingCreate: string | undefined;
  }[];
  inSeveral: Managed[];
  gone: { id: string; stack: string; urn: string }[];
  openCreates: PendingCreate[];
  undecided: { what: string; why: string }[];
  notComparable: { id: string; stack: string; urn: string; why: string }[];
}

/** An instance, and the resources that manage it. */
interface Managed {
  id: string;
  name: string;
  status: string;
  resources: { stack: string; urn: string }[];
}

interface PendingCreate {
  stack: string | undefined;
  urn: string;
  name: string | undefined;
  /** When it began (ISO 8601). Undefined if only a state has it. */
  at: string | undefined;
  id: string | undefined;
}

/** The instances, stacks and services without a verdict, by the line that says so. Several settings may have one service. */
type Undecided = Map<string, { what: string; why: string }>;

function addUndecided(undecided: Undecided, what: string, why: string): void {
  undecided.set(`${what}: ${why}`, { what, why });
}

/** For each exit code, the `result` of `--json` and the last line of the printed report. */
const outcomes = {
  0: [
    "ok",
    "Every listed instance is managed, and every managed instance that could be compared exists.",
  ],
  1: ["found", "Something was found: see above."],
  3: ["undecided", "Nothing was found, but not everything could be decided."],
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
    .addHelpText("after", exitCodeHelp);
  const ownOptions = {
    "--json": "Print the result as JSON.",
    "--stack <name...>": `${stackHelp} Give the option several times to list the instances with the settings of each of these stacks. All stacks of the backend are compared in any case.`,
  };
  const unused = ["deletePolicy", "destroyPath", "leftovers"] as const;
  addOptions(command, ownOptions, unused).action(async (options: Options) => {
    const undecided: Undecided = new Map();
    const report = await audit(options, io, undecided);
    const exitCode = report ? exitCodeOf(report) : 3;
    const [result, verdict] = outcomes[exitCode];
    if (options.json)
      printData({ result, ...(report ?? { undecided: [...undecided.values()] }) }, io);
    else if (report) {
      printReport(report, options, io);
      io.print(verdict);
    }
    io.exitCode = exitCode;
  });
}

function exitCodeOf({ inNoStack, inSeveral, gone, openCreates, undecided }: Report): 0 | 1 | 3 {
  if ([inNoStack, inSeveral, gone, openCreates].some((it) => it.length > 0)) return 1;
  return undecided.length > 0 ? 3 : 0;
}

/** Returns undefined if nothing could be compared. Each failure is printed to stderr, and is undecided. */
async function audit(
  options: Options,
  io: Terminal,
  undecided: Undecided,
): Promise<Report | undefined> {
  const addFailure = (what: string, error: unknown) => {
    const lines = explainError(error);
    if (!lines) throw error;
    lines.forEach((line) => io.warn(line));
    addUndecided(undecided, what, lines.join("; ").replaceAll("; →", " →"));
  };
  const services: ServiceListing[] = [];
  for (const stack of options.stack ?? [undefined]) {
    await listService({ ...options, stack }, io).then(
      (service) => services.push(service),
      (error) => addFailure(stack ? `the service of stack ${stack}` : "the service", error),
    );
  }
  if (services.length === 0) return undefined;
  try {
    return await createReport(services, io, undecided);
  } catch (error) {
    addFailure("the stacks", error);
    return undefined;
  }
}

/** What the listings prove about an instance that the first look missed, and why, if it is nothing. */
interface Searched {
  kind: Verdict["kind"];
  doubt: string | undefined;
}

/** What the second look shows, and what became of the instances that the first one missed. */
interface Seen extends Comparison {
  searched: ReadonlyMap<Resource, Searched>;
}

/**
 * Compares the listings with the states. If something differs, checks whether the missing instances exist, and lists and
 * compares a second time, since a run may have created or deleted an instance in the meantime. An instance that no stack
 * manages, and a pending create, count only if both looks show them.
 */
async function lookTwice(
  services: readonly ServiceListing[],
  env: NodeJS.ProcessEnv,
): Promise<Seen> {
  const first = compare(services, await readAllStates(env));
  const isUnmanaged = ({ managers }: ListedInstance) => managers.length === 0;
  if (first.missing.size + first.pending.length === 0 && !first.listed.some(isUnmanaged))
    return { ...first, searched: new Map<Resource, Searched>() };
  for (const { session } of services) {
    // Only a listing of its own tenant proves that an instance is gone (G3). The session recognizes such a listing by other
    // instances that were recorded with the same token.
    for (const { id, origin } of first.instances) {
      if (origin) session.observe({ id, origin });
    }
  }
  const checks = [...first.missing].map(async ([instance, { session }]) => {
    using operation = session.operation(timeouts.look);
    const { verdict } = await lookFor(session, instance, operation.signal);
    const doubt = verdict.kind === "open" ? whyOpen(verdict, session) : undefined;
    return [instance, { kind: verdict.kind, doubt }] as const;
  });
  const searched = new Map<Resource, Searched>(await Promise.all(checks));
  const second = compare(await Promise.all(services.map(listAgain)), await readAllStates(env));
  const wasUnmanaged = ({ item, service }: ListedInstance) =>
    first.listed.some(
      (it) => isUnmanaged(it) && it.item.id === item.id && it.service.session === service.session,
    );
  return {
    ...second,
    // A stack that the first look could not read is in the list once more, with its problem.
    states: [...second.states, ...first.states.filter(({ problem }) => problem !== undefined)],
    listed: second.listed.filter((it) => !isUnmanaged(it) || wasUnmanaged(it)),
    pending: second.pending.filter((it) =>
      first.pending.some((other) => isSameResource(it, other)),
    ),
    searched,
  };
}

async function createReport(
  services: ServiceListing[],
  io: Terminal,
  undecided: Undecided,
): Promise<Report> {
  const seen = await lookTwice(services, io.env);
  const creates = readPendingCreates(io.env, (text) => io.messages.warning(text));
  const unreadable = seen.states.filter(({ problem }) => problem !== undefined);
  for (const { stack, problem = "" } of unreadable)
    addUndecided(undecided, `stack ${stack}`, problem);
  for (const { origin, listing, session } of services.filter((it) => !it.listing.complete)) {
    const why = `there may be instances that it does not show: ${whyIncomplete(listing, session)}`;
    addUndecided(undecided, origin.baseUrl, why);
  }

  const managed = [];
  const inNoStack = [];
  for (const listed of seen.listed) {
    const { id, name = "", status = "", ipv4_public: ipv4 } = listed.item;
    if (listed.managers.length > 0) {
      const resources = listed.managers.map(({ stack, urn }) => ({ stack, urn }));
      managed.push({ id, name, status, resources });
      continue;
    }
    const explanation = explainUnmanaged(listed, seen, creates);
    const doubts = [
      explanation?.isOpen && explanation.note,
      status === "PROVISIONING" &&
        "in no stack, but PROVISIONING, so a run may be creating it right now",
      unreadable.length > 0 && "it is in no stack that could be read",
    ];
    const doubt = doubts.find(Boolean);
    if (doubt) addUndecided(undecided, `instance ${id} "${name}"`, doubt);
    else {
      const { baseUrl, tokenKind } = listed.service.origin;
      const reader = seen.instances.find((it) => it.id === id && it.external);
      const note =
        explanation?.note ?? (reader && `${reader.stack} reads it, but does not manage it`);
      const pendingCreate = explanation?.urn;
      inNoStack.push({ id, name, status, baseUrl, tokenKind, ipv4, note, pendingCreate });
    }
  }

  const gone = [];
  for (const [instance, { kind, doubt }] of seen.searched) {
    const { id, stack, urn } = instance;
    const isHeld = seen.instances.some((it) => isSameResource(it, instance) && it.id === id);
    if (isHeld && kind === "absent") gone.push({ id, stack, urn });
    if (isHeld && doubt !== undefined) addUndecided(undecided, `instance ${id} of ${stack}`, doubt);
  }
  const notComparable = [];
  for (const [{ id, stack, urn }, why] of seen.notComparable) {
    notComparable.push({ id, stack, urn, why });
    // The settings of a stack should reach the stack's instances. Instances of other stacks may live elsewhere.
    if (services.some((it) => it.stack === stack))
      addUndecided(undecided, `instance ${id} of ${stack}`, why);
  }
  const withInstances = new Set(seen.instances.map(({ stack }) => stack)).size;
  return {
    services: services.map(({ origin: { baseUrl, tokenKind, account }, source, listing }) => {
      const { items, complete } = listing;
      return { baseUrl, tokenKind, account, settings: source, listed: items.size, complete };
    }),
    stacks: { read: seen.states.length - unreadable.length, withInstances },
    managed,
    inNoStack,
    inSeveral: managed.filter(({ resources }) => resources.length > 1),
    gone,
    openCreates: findPendingCreates(seen, creates),
    undecided: [...undecided.values()],
    notComparable,
  };
}

/**
 * Returns the pending creates in the ledger of this machine, with the time of their start (`at`), and those that only a
 * state has. Leaves out those of a run that is under way on this machine.
 */
function findPendingCreates(
  { pending, instances }: Seen,
  creates: readonly RecordedCreate[],
): PendingCreate[] {
  const isLive = (urn: string) =>
    creates.some(({ liveness, record }) => liveness === "alive" && record.urn === urn);
  const isHeld = ({ id, urn }: RecordedCreate["record"]) =>
    instances.some((it) => it.id === id && it.urn === urn);
  const inState = pending.filter(({ urn }) => !isLive(urn));
  const inLedger = creates
    .filter(({ isHere, liveness, record }) => isHere && liveness !== "alive" && !isHeld(record))
    .map(({ record: { urn, name, at, id } }) => {
      const stack = inState.find((it) => it.urn === urn)?.stack;
      return { stack, urn, name: displayRecordedName(name), at, id };
    });
  const others = inState
    .filter(({ urn }) => !inLedger.some((it) => it.urn === urn))
    .map(({ stack, urn, name }) => ({ stack, urn, name, at: undefined, id: undefined }));
  return [...inLedger, ...others];
}

function printReport(report: Report, { stack = [] }: Options, { print }: Terminal): void {
  const { services, stacks, managed, inNoStack, openCreates } = report;
  const printLine = (label: string, value: string) => print(label.padEnd(11) + value);
  for (const { baseUrl, tokenKind, settings, listed, complete } of services) {
    const place = `${baseUrl} (${tokenKind} token; settings from ${settings})`;
    const instances = `${count(listed, "instance")} listed${complete ? "" : ", and there may be more"}`;
    printLine("service", `${place}: ${instances}`);
  }
  printLine("stacks", `${stacks.read} read, ${stacks.withInstances} with instances`);
  printLine("managed", count(managed.length, "instance"));

  const printSection = (title: string, rows: (string | undefined)[][], next: string) => {
    if (rows.length === 0) return;
    print("");
    print(`${title} (${rows.length}):`);
    for (const row of rows) print(`  ${row.filter(Boolean).join("  ")}`);
    print(`  → ${next}`);
  };
  const describe = ({ id, name, status }: { id: string; name: string; status: string }) =>
    `${id}  "${name}"  ${status}`;
  const printInNoStack = (title: string, instances: Report["inNoStack"], next: string) => {
    const isBilled = instances.some(({ tokenKind }) => tokenKind === "live");
    const billed = isBilled ? " (those of a live token are billed)" : "";
    const rows = instances.map((it) => [describe(it), it.ipv4, it.note]);
    printSection(title + billed, rows, next);
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
    "`pulumi refresh --stack <stack>` drops them from the state, and the next `pulumi up --stack <stack>` creates new ones.",
  );
  printSection(
    "Managed by more than one resource",
    report.inSeveral.map((it) => [
      describe(it),
      ...it.resources.map((resource) => `${resource.stack}: ${resource.urn}`),
    ]),
    "Keep one resource of each instance. Run no `pulumi up` before all of this is done. Take the others out of their programs, and then out of their states: `pulumi state delete <urn> --force --stack <stack>` (--force, because an import protects the resource).",
  );
  const describeCreate = ({ urn, name, at, id, stack: holder }: Report["openCreates"][number]) => [
    urn,
    name && `"${name}"`,
    at && `started ${at}`,
    id,
    holder && `pending in ${holder}`,
  ];
  // The line of an instance above says what to do about its create.
  const hasInstanceAbove = ({ urn, id, name }: Report["openCreates"][number]) =>
    inNoStack.some(
      (it) => it.pendingCreate === urn && (id === undefined ? it.name === name : it.id === id),
    );
  const inLedger = openCreates.filter((it) => it.at && !hasInstanceAbove(it));
  printSection(
    "Pending creates",
    inLedger.map(describeCreate),
    resumeAdvice(inLedger.map(({ urn }) => urn)),
  );
  printSection(
    "Pending creates that the ledger of this machine does not have",
    openCreates.filter(({ at }) => at === undefined).map(describeCreate),
    "The next `pulumi up` creates each of them once more, unless its resource has an instance by then. If its instance is listed above, import that first. `pulumi refresh --clear-pending-creates --stack <stack>` removes the pending create.",
  );
  printSection(
    "Not decided",
    report.undecided.map(({ what, why }) => [`${what}: ${why}`]),
    "Run `audit` again later, or with settings that reach them.",
  );
  printSection(
    "Not compared",
    report.notComparable.map((it) => [it.id, it.stack, it.why]),
    "Run `audit` with their base URL and token. For a stack of this folder's project, --stack NAME reads both: give it for each stack.",
  );
  print("");
}
