/**
 * `audit`: compares the instances that the service lists with all stacks of the backend. It changes nothing but the file
 * of `--plan`.
 */
import type { Command } from "commander";
import { inStack, pluginCommand } from "../provider/advice";
import type { ListItem } from "../provider/api/contract";
import { OperationFailed } from "../provider/errors";
import { whyIncomplete, whyOpen } from "../provider/evidence/why";
import type { Verdict } from "../provider/evidence/witness";
import { askAbout } from "../provider/instance/existence";
import { logicalName } from "../provider/pulumi/urn";
import { redactionMark } from "../provider/redaction";
import { timeouts } from "../provider/session/operations";
import {
  compare,
  unreadableStates,
  whyElsewhere,
  type ComparedInstance,
  type Comparison,
} from "./compare";
import {
  explainError,
  failedLines,
  listAgain,
  listService,
  summaryOf,
  type ServiceListing,
} from "./listings";
import { choosePlanned, parseInputs, planOptions, writePlan, type PlanOptions } from "./plan";
import { engineVersion, readAllStates } from "./pulumi";
import { readRecords } from "./records";
import {
  addUndecided,
  noFindings,
  auditOutcome,
  printReport,
  type Findings,
  type Summary,
} from "./report";
import {
  addOptions,
  checkSettings,
  commandLineError,
  givenOptions,
  type SettingOptions,
  stackHelp,
} from "./settings";
import { isInstance, type StateResource } from "./state";
import { printData, Problem, type Terminal } from "./terminal";
import { isListedAt, makerOf, viewOf, type CreateInDoubt, type View } from "./view";

interface AuditOptions extends SettingOptions, PlanOptions {
  json?: true;
  stack?: string[];
}

const exitCodeHelp = `
Exit codes:
  0  each listed instance is in one stack, and each comparable one exists
  1  something was found: in no stack, in several, gone, or a create in doubt
  2  the command line is wrong
  3  nothing was found, but not everything could be decided
With --plan: 0 if the plan is written (it may be empty), 1 if there is none`;

/** Adds the command `audit`. */
export function addAudit(program: Command, io: Terminal): void {
  const command = program
    .command("audit")
    .description("compare the service with all stacks; writes nothing but the file of --plan")
    .addHelpText("after", exitCodeHelp);
  const ownOptions = {
    "--json": "Print the result as JSON.",
    "--stack <name...>": `${stackHelp} Repeatable.`,
    ...planOptions,
  };
  addOptions(command, ownOptions).action(async (options: AuditOptions) => {
    const { json, plan, name = "*", input = [], stack = [] } = options;
    if (plan === undefined && (options.name ?? options.input) !== undefined)
      commandLineError(command, "--name and --input need --plan.");
    if (plan !== undefined && stack.length > 1)
      commandLineError(command, "With --plan, give --stack once: the stack to import into.");
    const inputs = parseInputs(input);
    const findings = noFindings();
    const seen = await audit(options, io, findings);
    const summary = seen && summarize(seen, findings);
    if (plan !== undefined && seen) choosePlanned(name, seen, findings, io);
    const { result, exitCode, verdict } = auditOutcome(seen && findings);
    if (json) {
      const { undecided } = findings;
      printData({ result, ...(summary ? { ...summary, ...findings } : { undecided }) }, io);
    } else if (summary) {
      const [target, ...others] = stack;
      const planning = pluginCommand("audit", "--plan", "FILE", ...givenOptions(options));
      const inOne = inStack(planning, others.length > 0 ? "<name>" : target);
      printReport(summary, findings, plan === undefined ? inOne : undefined, io);
      if (plan === undefined) io.print(verdict);
    }
    if (plan === undefined) io.exitCode = exitCode;
    // What can't be read may manage the listed instances.
    else if (seen && unreadableStates(seen).length === 0)
      writePlan({ file: plan, inputs, stack: stack[0] }, findings, json ? io.warn : io.print);
    else throw new OperationFailed("there is no plan: see above");
  });
}

/**
 * Returns what listings and states show. Undefined if nothing could be compared. Each failure is printed to stderr, and is
 * undecided.
 */
async function audit(
  options: AuditOptions,
  io: Terminal,
  findings: Findings,
): Promise<Audited | undefined> {
  const tried = async <T>(what: string, act: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await act();
    } catch (error) {
      const lines = explainError(error);
      if (!lines) throw error;
      lines.forEach((line) => io.warn(line));
      const why = lines.join("; ").replaceAll("; →", " →");
      // Only the CLI, which reads the stacks, has a `Problem`.
      addUndecided(findings, error instanceof Problem ? "the stacks" : what, why);
      return undefined;
    }
  };
  // Without the CLI, the settings of the stack would seem to be missing.
  if (!(await tried("", () => engineVersion(io.env)))) return undefined;
  const services: ServiceListing[] = [];
  for (const stack of options.stack ?? [undefined]) {
    const what = stack ? `the service of stack ${stack}` : "the service";
    const service = await tried(what, async () => {
      const { findings: checked, found } = await checkSettings(options, stack, io);
      if (!found) throw new OperationFailed(failedLines(checked));
      return listService(found, io);
    });
    if (service) services.push(service);
  }
  return services.length > 0 ? tried("the service", () => lookTwice(services, io)) : undefined;
}

/** What the last look shows, and what the listings prove about the instances that the first look missed. */
interface Audited extends Comparison {
  readonly searched: ReadonlyMap<StateResource, { kind: Verdict["kind"]; why: string | undefined }>;
}

/**
 * Compares the listings with the states. If something differs, checks whether the missing instances exist, and lists and
 * compares a second time, since a run may have created or deleted an instance in the meantime. An instance that no stack
 * manages, and a create in doubt, count only if both looks show them.
 */
async function lookTwice(services: readonly ServiceListing[], io: Terminal): Promise<Audited> {
  const records = readRecords(io.env, (text) => io.messages.warning(text));
  const see = async (seen: readonly ServiceListing[]) =>
    compare(viewOf(seen, await readAllStates(io.env), records, io.clock));
  const first = await see(services);
  const isUnmanaged = ({ managers }: ComparedInstance) => managers.length === 0;
  if (first.missing.size + first.doubts.length === 0 && !first.listed.some(isUnmanaged))
    return { ...first, searched: new Map() };
  const checks = [...first.missing].map(async ([instance, { session }]) => {
    using operation = session.operations.begin(timeouts.look);
    const { verdict } = await askAbout(session, instance, operation);
    const why = verdict.kind === "open" ? whyOpen(verdict, session) : undefined;
    return [instance, { kind: verdict.kind, why }] as const;
  });
  const searched = new Map(await Promise.all(checks));
  const second = await see(await Promise.all(services.map(listAgain)));
  const unmanaged = new Set(first.listed.filter(isUnmanaged).map(({ item }) => item.id));
  return {
    ...second,
    listed: second.listed.filter((one) => !isUnmanaged(one) || unmanaged.has(one.item.id)),
    doubts: second.doubts.filter((doubt) => first.doubts.some((one) => isSame(one, doubt))),
    searched,
  };
}

type PlaceOfCreate = Pick<CreateInDoubt, "stack" | "urn">;
const isSame = (one: PlaceOfCreate, other: PlaceOfCreate) =>
  one.stack === other.stack && one.urn === other.urn;

/** Sorts what was seen into the findings. */
function summarize(seen: Audited, findings: Findings): Summary {
  const { services, held } = seen;
  const unreadable = unreadableStates(seen);
  for (const { stack, problem } of unreadable)
    addUndecided(findings, `stack ${stack}`, problem?.found ?? "");
  for (const { origin, listing, session } of services) {
    if (listing.complete) continue;
    const why = `there may be instances that it does not show: ${whyIncomplete(listing, session)}`;
    addUndecided(findings, origin.baseUrl, why);
  }

  const managed = [];
  for (const listed of seen.listed) {
    const { item, managers } = listed;
    if (managers.length > 0) {
      const resources = managers.map(({ stack, urn }) => ({ stack, urn }));
      const name = nameToPrint(item, seen);
      managed.push({ id: item.id, name, status: item.status ?? "", resources });
    } else addUnmanaged(listed, seen, findings);
  }
  findings.inSeveral.push(...managed.filter(({ resources }) => resources.length > 1));

  for (const [{ id, stack, urn }, { kind, why }] of seen.searched) {
    if (!held.get(id)?.some((one) => isSame(one, { stack, urn }))) continue;
    if (kind === "absent") findings.gone.push({ id, stack, urn });
    if (why !== undefined) addUndecided(findings, `instance ${id} of ${stack}`, why);
  }
  for (const [{ id, stack, urn, explicitProvider }, why] of seen.notComparable) {
    // The settings of a stack should reach the stack's instances. Instances of other stacks may live elsewhere, and so may those
    // of a provider that the program makes.
    if (explicitProvider === undefined && services.some((service) => service.stack === stack))
      addUndecided(findings, `instance ${id} of ${stack}`, why);
    else findings.notCompared.push({ id, stack, urn, why });
  }
  const inDoubt = seen.doubts.filter(
    ({ pending, record }) => record?.liveness !== "alive" && (pending ?? record?.isHere),
  );
  for (const [stack, ofStack] of Map.groupBy(inDoubt, (doubt) => doubt.stack)) {
    const byUrn = [...Map.groupBy(ofStack, ({ urn }) => urn).values()];
    const kindOf = (some: CreateInDoubt[]) => some.flatMap(({ places }) => places)[0]?.tokenKind;
    for (const [tokenKind, { length }] of Map.groupBy(byUrn, kindOf))
      findings.createsInDoubt.push({ stack, tokenKind, creates: length });
  }
  return {
    services: services.map(summaryOf),
    stacks: {
      read: seen.states.length - unreadable.length,
      withInstances: seen.states.filter(({ resources }) => resources.some(isInstance)).length,
    },
    managed,
  };
}

/** Returns the name for the report. A name that a program made a secret is hidden. */
function nameToPrint({ id, name = "" }: ListItem, { held }: View, maker?: CreateInDoubt): string {
  const isSecret = held.get(id)?.some(({ isNameSecret }) => isNameSecret);
  return isSecret || (maker && maker.name === undefined) ? redactionMark : name;
}

/** Adds an instance that no stack manages, or why that is not sure. */
function addUnmanaged(
  { item, service }: ComparedInstance,
  seen: Audited,
  findings: Findings,
): void {
  const { id, status = "", ipv4_public: ipv4 } = item;
  const { origin } = service;
  const maker = makerOf(item, seen.doubts, origin);
  const namesake = seen.held.get(id)?.find((one) => one.origin?.tokenKind === origin.tokenKind);
  const name = nameToPrint(item, seen, maker);
  const why = [
    // It is the same instance if both addresses are of one service, or both accounts are users of one tenant.
    namesake &&
      `stack ${namesake.stack} has an instance with this id: ${whyElsewhere(namesake, service)}`,
    maker?.record?.liveness === "alive" && `a run may be creating it right now for ${maker.urn}`,
    status === "PROVISIONING" &&
      "in no stack, but PROVISIONING, so a run may be creating it right now",
    unreadableStates(seen).length > 0 && "it is in no stack that could be read",
  ].find(Boolean);
  if (why) {
    addUndecided(findings, `instance ${id} "${name}"`, why);
    return;
  }
  const { baseUrl, tokenKind } = origin;
  const resources = seen.states.flatMap((state) => state.resources);
  const reader = resources.find((one) => one.external && one.id === id);
  const knower = resources.find((one) => one.known.includes(id) && isListedAt(one, origin));
  const note = reader
    ? `${reader.stack} reads it, but does not manage it`
    : knower && `let run by ${logicalName(knower.urn)} of ${knower.stack}`;
  const list = maker ? findings.explained : findings.inNoStack;
  list.push({ id, name, status, baseUrl, tokenKind, ipv4, note, createInDoubt: maker?.urn });
}
