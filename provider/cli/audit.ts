/**
 * `pulumi-resource-compute audit`: compares the instances that the service lists with those of all stacks of the
 * backend. The command changes nothing, and reads the states with their secrets encrypted.
 */
import type { Command } from "commander";
import { importCommand, nameCursor, ownCommand } from "../advice";
import type { ListItem } from "../api/contract";
import { existenceOf, type Existence } from "../instance/existence";
import { displayRecordedName, isPending } from "../ledger/record";
import type { Listing } from "../listing/listing";
import { isSamePlace, originDifference, originKey, type Origin, type Place } from "../origin";
import { propertyMap } from "../propertyValue";
import { timeouts } from "../session/session";
import { describeCreator, readCreates, type RecordedCreate } from "./discard";
import { type BackendStacks, readAllStates, type StackInstance } from "./pulumi";
import { createSession, explainError, listService, type ServiceListing } from "./service";
import { addSettingOptions, readSettings, type SettingOptions, stackHelp } from "./settings";
import { count, printData, type Terminal } from "./terminal";

type Options = SettingOptions & { json?: true; stack?: string[] };

type Listed = Pick<ListItem, "id" | "name" | "status">;
type Resource = Pick<StackInstance, "stack" | "urn">;
type Managed = Listed & { resources: readonly Resource[] };
type NotComparable = Resource & { id: string; why: string };

/** An instance, a stack or a service (`what`) for which the audit has no verdict, and the reason (`why`). */
interface Undecided {
  what: string;
  why: string;
}

/**
 * A create that is pending according to the ledger of this machine, or only according to a state. `at` is set only
 * for a create of the ledger.
 */
interface PendingCreate extends Partial<Resource> {
  urn: string;
  name?: string | undefined;
  at?: string;
  id?: string | undefined;
}

/** The output of `--json`, which also has the `result` of `outcomes`. */
interface Report {
  services: (Place & { account: string | undefined; listed: number; complete: boolean })[];
  stacks: { read: number; withInstances: number };
  managed: Managed[];
  inNoStack: (Listed & Place & { ipv4: string | undefined; note: string | undefined })[];
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
     was incomplete, or a stack or a service could not be read`;

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
  addSettingOptions(command, { onlyLists: true }).action(async (options: Options) => {
    const report = await audit(options, io);
    const exitCode = "managed" in report ? exitCodeOf(report) : 3;
    if (options.json) printData({ result: outcomes[exitCode].result, ...report }, io);
    else if ("managed" in report) printReport(report, exitCode, io);
    io.exitCode = exitCode;
  });
}

function exitCodeOf({ inNoStack, inSeveral, gone, openCreates, undecided }: Report): 0 | 1 | 3 {
  if ([inNoStack, inSeveral, gone, openCreates].some((it) => it.length > 0)) return 1;
  return undecided.length > 0 ? 3 : 0;
}

/** Returns only `undecided` if nothing could be compared. Each failure is also printed to stderr. */
async function audit(options: Options, io: Terminal): Promise<Report | Pick<Report, "undecided">> {
  const undecided: Undecided[] = [];
  const addFailure = (what: string, error: unknown) => {
    const lines = explainError(error);
    lines.forEach((line) => io.warn(line));
    undecided.push({ what, why: lines.join(" ") });
  };
  const services: ServiceListing[] = [];
  for (const stack of options.stack ?? [undefined]) {
    try {
      const settings = await readSettings(stack, options, io);
      const service = await listService(createSession(settings, io));
      const { baseUrl, tokenHash } = service.origin;
      const isSame = ({ origin }: ServiceListing) =>
        origin.baseUrl === baseUrl && origin.tokenHash === tokenHash;
      if (!services.some(isSame)) services.push(service);
    } catch (error) {
      addFailure("a service", error);
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

/** What the services listed and the states held at about the same time, and how the two differ. */
interface Look extends Comparison<ServiceListing> {
  services: readonly ServiceListing[];
  stacks: BackendStacks;
  instances: readonly StackInstance[];
}

/** An instance that no listing of the first look showed, and whether the instance exists. */
interface CheckedInstance {
  instance: StackInstance;
  existence: Existence;
}

/**
 * Looks a second time if something differs, since a run may have created or deleted an instance in the meantime.
 * If nothing differs, `second` is the same object as `first`.
 */
async function lookTwice(
  services: readonly ServiceListing[],
  env: NodeJS.ProcessEnv,
): Promise<{ first: Look; second: Look; checked: CheckedInstance[] }> {
  const first = await look(services, env);
  const { unmanaged, missing, instances, stacks } = first;
  const hasPending = stacks.states.some(({ pending }) => pending.length > 0);
  if (unmanaged.length + missing.length === 0 && !hasPending) {
    return { first, second: first, checked: [] };
  }
  for (const { session } of services) {
    // A listing that began before the states were read proves nothing about the instances in the states.
    session.listings.markWrite();
    // Only a listing of its own tenant proves that an instance is gone (G3). The session recognizes such a listing by other
    // instances that were recorded with the same token, so it is told of all instances.
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
  return { first, second: await look(relisted, env), checked };
}

/** Reads the states after the listing, so that the states hold each instance whose create was saved by then. */
async function look(services: readonly ServiceListing[], env: NodeJS.ProcessEnv): Promise<Look> {
  const stacks = await readAllStates(env);
  const instances = stacks.states.flatMap((state) => state.instances);
  return { services, stacks, instances, ...compare(services, instances) };
}

interface Comparison<S> {
  /** The listed instances that a stack manages, with the resources that manage them. */
  managed: Managed[];
  /** The listed instances that no stack manages. */
  unmanaged: { service: S; item: ListItem }[];
  /** The instances in stacks that are missing from the listing of their service. */
  missing: { service: S; instance: StackInstance }[];
  /** The instances of stacks for which it is unknown where they live, or that live where nothing was listed. */
  notComparable: NotComparable[];
}

/** Compares the listings of services with the instances of stacks. Used by `audit`, and tested on its own. */
export function compare<S extends { origin: Origin; listing: Pick<Listing, "items"> }>(
  services: readonly S[],
  instances: readonly StackInstance[],
): Comparison<S> {
  const managingResources = new Map<ListItem, Resource[]>();
  const result: Comparison<S> = { managed: [], unmanaged: [], missing: [], notComparable: [] };
  for (const instance of instances.filter(({ external }) => !external)) {
    const { stack, urn, id, origin } = instance;
    const possibleServices = services.filter(
      (it) => !origin || originDifference(origin, it.origin) === undefined,
    );
    const item = possibleServices.map(({ listing }) => listing.items.get(id)).find(Boolean);
    // The service with the recorded token comes first, since another token may be of another tenant.
    const service =
      possibleServices.find((it) => it.origin.tokenHash === origin?.tokenHash) ??
      possibleServices[0];
    if (item) managingResources.set(item, [...(managingResources.get(item) ?? []), { stack, urn }]);
    else if (service && origin) result.missing.push({ service, instance });
    else {
      const difference = origin && services[0] && originDifference(origin, services[0].origin);
      const why = difference ?? "its state does not say where it lives";
      result.notComparable.push({ id, stack, urn, why });
    }
  }
  for (const [index, service] of services.entries()) {
    // Two tokens of one tenant list the same instances.
    const earlier = services
      .slice(0, index)
      .filter(({ origin }) => originDifference(origin, service.origin) === undefined);
    // Two accounts may be users of one tenant, so an instance may be listed with both and recorded with one.
    const samePlace = services.filter(({ origin }) => isSamePlace(origin, service.origin));
    const isManaged = (id: string) =>
      samePlace.some(({ listing }) => {
        const item = listing.items.get(id);
        return item !== undefined && managingResources.has(item);
      });
    for (const item of service.listing.items.values()) {
      const resources = managingResources.get(item);
      if (resources) result.managed.push({ ...fieldsOf(item), resources });
      else if (!isManaged(item.id) && !earlier.some(({ listing }) => listing.items.has(item.id))) {
        result.unmanaged.push({ service, item });
      }
    }
  }
  return result;
}

/**
 * Makes the report. Only what both looks show counts as an instance in no stack, as a gone instance or as a create
 * that is pending in a state.
 */
function createReport(
  { first, second, checked }: Awaited<ReturnType<typeof lookTwice>>,
  creates: readonly RecordedCreate[],
  failures: readonly Undecided[],
): Report {
  const undecided = [...failures];
  const unreadable = [...first.stacks.unreadable, ...second.stacks.unreadable];
  for (const [stack, why] of new Map(unreadable.map(({ stack, problem }) => [stack, problem]))) {
    undecided.push({ what: `stack ${stack}`, why });
  }
  for (const { origin, listing } of first.services.filter((it) => !it.listing.complete)) {
    const why =
      listing.unreadable > 0
        ? "its listing holds items that can't be read"
        : `its listing is not complete: there may be instances that it does not show. ${nameCursor}`;
    undecided.push({ what: origin.baseUrl, why });
  }

  const instances = [...first.instances, ...second.instances];
  const openCreates = findPendingCreates(first, second, creates);
  const inNoStack: Report["inNoStack"] = [];
  for (const { service, item } of second.unmanaged) {
    const wasUnmanaged = first.unmanaged.some(
      (it) => it.item.id === item.id && it.service.session === service.session,
    );
    // The next audit reports an instance that was created between the looks.
    if (!wasUnmanaged) continue;
    const what = `instance ${item.id} "${item.name ?? ""}"`;
    if (item.status === "PROVISIONING") {
      const why = "in no stack, but PROVISIONING, so a run may be creating it right now";
      undecided.push({ what, why });
    } else if (unreadable.length > 0) {
      undecided.push({ what, why: "it is in no stack that could be read" });
    } else {
      const { baseUrl, tokenKind } = service.origin;
      const ipv4 = item.ipv4_public || undefined;
      const note = noteOf(item, service.origin, { creates, openCreates, instances });
      inNoStack.push({ ...fieldsOf(item), baseUrl, tokenKind, ipv4, note });
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
  const inSeveral = managed.filter(({ resources }) => resources.length > 1);
  const { states } = first.stacks;
  const withInstances = states.filter((state) => state.instances.length > 0).length;
  return {
    services: first.services.map(({ origin: { baseUrl, tokenKind, account }, listing }) => {
      const { items, complete } = listing;
      return { baseUrl, tokenKind, account, listed: items.size, complete };
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
 * Returns the pending creates of this machine's ledger, and those of the states that the ledger does not have. A create
 * of a run that is under way on this machine is left out.
 */
function findPendingCreates(
  first: Look,
  second: Look,
  creates: readonly RecordedCreate[],
): PendingCreate[] {
  const pendingIn = ({ stacks }: Look) =>
    stacks.states.flatMap(({ stack, pending }) => pending.map((it) => ({ stack, ...it })));
  const secondPending = pendingIn(second);
  const isUnderWay = (urn: string) =>
    creates.some(({ live, record }) => live && record.urn === urn);
  const stateCreates = pendingIn(first).filter(
    ({ stack, urn }) =>
      secondPending.some((it) => it.stack === stack && it.urn === urn) && !isUnderWay(urn),
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

/** Says which create or which stack an instance in no stack may belong to. Undefined if nothing is known. */
function noteOf(
  { id, name }: ListItem,
  origin: Origin,
  known: {
    creates: readonly RecordedCreate[];
    openCreates: readonly PendingCreate[];
    instances: readonly StackInstance[];
  },
): string | undefined {
  const create = known.creates.find(
    ({ record, live }) => !live && record.id === id && isSamePlace(record, origin),
  );
  if (create) return describeCreator(create, id);
  const [only, ...others] = known.openCreates.filter((it) => it.name === name && !it.at);
  if (name !== undefined && only && others.length === 0) {
    return `it has the name of a pending create; if that create made it, \`${importCommand(only, id)}\` takes it over`;
  }
  const reader = known.instances.find((it) => it.id === id && it.external);
  return reader && `${reader.stack} reads it, but does not manage it`;
}

function fieldsOf({ id, name = "", status = "" }: ListItem): Listed {
  return { id, name, status };
}

function printReport(report: Report, exitCode: 0 | 1 | 3, { print }: Terminal): void {
  const printLine = (label: string, value: string) => print(label.padEnd(11) + value);
  for (const { baseUrl, tokenKind, listed, complete } of report.services) {
    const ending = complete ? "" : ", and there may be more";
    const instances = count(listed, "instance");
    printLine("service", `${baseUrl} (${tokenKind} token): ${instances} listed${ending}`);
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
  const isBilled = report.inNoStack.some(({ tokenKind }) => tokenKind === "live");
  printSection(
    `In no stack${isBilled ? " (those of a live token are billed)" : ""}`,
    report.inNoStack.map((it) => [describeInstance(it), it.ipv4, it.note]),
    `Take them over (\`${ownCommand("import-plan")}\`), or remove them at the service (its portal).`,
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
    "Keep one, and remove the others from their state with `pulumi state delete`.",
  );
  const rowOf = ({ urn, name, at, id, stack }: PendingCreate) => [
    ...[urn, name && `"${name}"`, at && `started ${at}`, id],
    stack && `pending in ${stack}`,
  ];
  printSection(
    "Pending creates",
    report.openCreates.filter(({ at }) => at !== undefined).map(rowOf),
    `Run \`pulumi up\`, which resumes those of its stack or says what to do; \`${ownCommand("discard")}\` lists them, with what to do about each.`,
  );
  printSection(
    "Pending creates that the ledger of this machine does not have",
    report.openCreates.filter(({ at }) => at === undefined).map(rowOf),
    "The next `pulumi up` creates each of them once more, unless a stack has its instance by then. If its instance is listed above, import that first. `pulumi refresh --clear-pending-creates` removes the pending create.",
  );
  printSection(
    "Not decided",
    report.undecided.map(({ what, why }) => [`${what}: ${why}`]),
    "Run `audit` again later, or after the cause is fixed.",
  );
  printSection(
    "Not compared",
    report.notComparable.map(({ id, stack, why }) => [id, stack, why]),
    "Run `audit` with their base URL and token, too. --stack NAME reads both from a stack.",
  );
  print("");
  print(outcomes[exitCode].verdict);
}
