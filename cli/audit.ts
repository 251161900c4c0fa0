/**
 * `audit`: compares the instances that the service lists with all stacks of the backend. It changes nothing but the file
 * of `--plan`.
 */
import type { Command } from "commander";
import { inStack, stateDeleteCommand, withDependents } from "../provider/advice";
import { OperationFailed } from "../provider/errors";
import { whyIncomplete, whyOpen } from "../provider/evidence/why";
import { isOfTenant, isNamed, type Verdict } from "../provider/evidence/witness";
import { lookFor } from "../provider/instance/existence";
import { displayRecordedName } from "../provider/ledger/record";
import { redactionMark } from "../provider/redaction";
import { KnownState } from "../provider/session/knownState";
import { timeouts } from "../provider/session/session";
import {
  compare,
  explainUnmanaged,
  isListedAt,
  isSameResource,
  unreadableStates,
  withStacks,
  type Comparison,
  type CreateOfStack,
  type ListedInstance,
  type StackResource,
} from "./compare";
import { readCreates } from "./creates";
import {
  addDoubt,
  noFindings,
  outcomes,
  printReport,
  resultOf,
  type Findings,
  type CreateInDoubt,
  type Summary,
} from "./report";
import { planHelp, planOptions, readPlanOptions, writePlan, type PlanOptions } from "./plan";
import { installAdvice, readAllStates, type Resource, runPulumi } from "./pulumi";
import { explainError, listAgain, listService, type ServiceListing } from "./listings";
import {
  addOptions,
  commandLineError,
  givenOptions,
  type SettingOptions,
  stackHelp,
} from "./settings";
import { printData, Problem, type Terminal } from "./terminal";

interface Options extends SettingOptions, PlanOptions {
  json?: true;
  stack?: string[];
}

const exitCodeHelp = `
Exit codes:
  0  each listed instance is in one stack, and each instance of a stack exists
  1  something was found: in no stack, in several, gone, or a create in doubt
  2  the command line is wrong
  3  nothing was found, but not everything could be decided
${planHelp}`;

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
  addOptions(command, ownOptions).action(async (options: Options) => {
    const { json, plan, stack = [] } = options;
    if (plan === undefined && (options.name ?? options.input) !== undefined)
      commandLineError(command, "--name and --input need --plan.");
    if (plan !== undefined && stack.length > 1)
      commandLineError(command, "With --plan, give --stack once: the stack to import into.");
    const request = plan === undefined ? undefined : readPlanOptions(plan, options);
    const findings = noFindings();
    const audited = await audit(options, io, findings);
    const result = audited ? resultOf(findings) : "undecided";
    const { exitCode, verdict } = outcomes[result];
    if (json) {
      const { undecided } = findings;
      printData({ result, ...(audited ? { ...audited.summary, ...findings } : { undecided }) }, io);
    } else if (audited) {
      printReport(audited.summary, findings, { ...options, given: givenOptions(options) }, io);
      if (!request) io.print(verdict);
    }
    if (!request) io.exitCode = exitCode;
    else if (audited) writePlan(request, { ...audited, findings, stack: stack[0] }, io);
    else throw new OperationFailed("there is no plan: see above");
  });
}

/** What was compared, and what the comparison shows. */
interface Audited {
  services: readonly ServiceListing[];
  seen: Seen;
  summary: Summary;
}

/**
 * Adds what it finds to `findings`. Returns undefined if nothing could be compared. Each failure is printed to stderr, and is
 * undecided.
 */
async function audit(
  options: Options,
  io: Terminal,
  findings: Findings,
): Promise<Audited | undefined> {
  const addFailure = (what: string, error: unknown) => {
    const lines = explainError(error);
    if (!lines) throw error;
    lines.forEach((line) => io.warn(line));
    addDoubt(findings, what, lines.join("; ").replaceAll("; →", " →"));
  };
  try {
    // Without the CLI, the settings of the stack would seem to be missing.
    await runPulumi(["version"], io.env, installAdvice);
  } catch (error) {
    addFailure("the stacks", error);
    return undefined;
  }
  const services: ServiceListing[] = [];
  for (const stack of options.stack ?? [undefined]) {
    await listService(options, stack, io).then(
      (service) => services.push(service),
      (error) => addFailure(stack ? `the service of stack ${stack}` : "the service", error),
    );
  }
  if (services.length === 0) return undefined;
  try {
    const seen = await lookTwice(services, io.env);
    return { services, seen, summary: summarize(services, seen, findings, io) };
  } catch (error) {
    // Only the CLI, which reads the stacks, has a `Problem`.
    addFailure(error instanceof Problem ? "the stacks" : "the service", error);
    return undefined;
  }
}

/** What the listings prove about an instance that the first look missed. */
interface Searched {
  kind: Verdict["kind"];
  /** Why they prove nothing. */
  doubt?: string | undefined;
  /** Whether a refresh of the instance's stack keeps it, although it is gone. */
  isKept?: boolean;
}

/** What the second look shows, and what became of the instances that the first one missed. */
interface Seen extends Comparison {
  searched: ReadonlyMap<Resource, Searched>;
}

/**
 * Compares the listings with the states. If something differs, checks whether the missing instances exist, and lists and
 * compares a second time, since a run may have created or deleted an instance in the meantime. An instance that no stack
 * manages, and a create in doubt, count only if both looks show them.
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
      if (origin) session.noteShown({ id, origin });
    }
  }
  const checks = [...first.missing].map(async ([instance, { session }]) => {
    using operation = session.operation(timeouts.look);
    const { verdict, origin } = await lookFor(session, instance, operation.signal);
    const searched: Searched = { kind: verdict.kind };
    if (verdict.kind === "open") searched.doubt = whyOpen(verdict, session);
    if (verdict.kind === "absent") {
      const vouchers = stateInRefresh(instance, first.instances).vouchersOf(instance, origin);
      searched.isKept = !isOfTenant(verdict.proof, vouchers);
    }
    return [instance, searched] as const;
  });
  const searched = new Map<Resource, Searched>(await Promise.all(checks));
  const second = compare(await Promise.all(services.map(listAgain)), await readAllStates(env));
  const wasUnmanaged = ({ item, service }: ListedInstance) =>
    first.listed.some(
      (before) =>
        isUnmanaged(before) &&
        before.item.id === item.id &&
        before.service.session === service.session,
    );
  return {
    ...second,
    // A stack that the first look could not read is in the list once more, with its problem.
    states: [...second.states, ...first.states.filter(({ problem }) => problem !== undefined)],
    listed: second.listed.filter((listed) => !isUnmanaged(listed) || wasUnmanaged(listed)),
    pending: second.pending.filter((create) =>
      first.pending.some((before) => isSameResource(create, before)),
    ),
    searched,
  };
}

/** What a refresh of the instance's stack knows when it reads the instance: its provider sees none of the other stacks. */
function stateInRefresh({ stack, provider }: Resource, instances: readonly Resource[]): KnownState {
  const state = new KnownState();
  for (const held of instances) {
    if (held.stack === stack && held.provider === provider) state.noteShown(held);
  }
  return state;
}

/** Sorts what was seen into the findings. */
function summarize(
  services: readonly ServiceListing[],
  seen: Seen,
  findings: Findings,
  io: Terminal,
): Summary {
  const recorded = readCreates(io.env, (text) => io.messages.warning(text));
  const creates = withStacks(recorded, seen.states);
  const unreadable = unreadableStates(seen);
  for (const { stack, problem = "" } of unreadable) addDoubt(findings, `stack ${stack}`, problem);
  for (const { origin, listing, session } of services.filter(
    (service) => !service.listing.complete,
  )) {
    const why = `there may be instances that it does not show: ${whyIncomplete(listing, session)}`;
    addDoubt(findings, origin.baseUrl, why);
  }

  const managed = [];
  for (const listed of seen.listed) {
    const { id, status = "" } = listed.item;
    if (listed.managers.length > 0) {
      const resources = listed.managers.map(({ stack, urn }) => ({ stack, urn }));
      const isNameSecret = listed.managers.some((manager) => manager.isNameSecret);
      managed.push({ id, name: shownName(listed, isNameSecret), status, resources });
    } else addUnmanaged(listed, seen, creates, findings);
  }
  findings.inSeveral.push(...managed.filter(({ resources }) => resources.length > 1));

  for (const [instance, { kind, doubt, isKept }] of seen.searched) {
    const { id, stack, urn } = instance;
    const isHeld = seen.instances.some((held) => isSameResource(held, instance) && held.id === id);
    const note = isKept
      ? `a refresh of its stack keeps it, because only another stack shows that the token used now is of the same tenant as the recorded one: \`${inStack(stateDeleteCommand(urn), stack)}\` drops it (${withDependents})`
      : undefined;
    if (isHeld && kind === "absent") findings.gone.push({ id, stack, urn, note });
    if (isHeld && doubt !== undefined) addDoubt(findings, `instance ${id} of ${stack}`, doubt);
  }
  for (const [instance, why] of seen.notComparable) {
    const { id, stack, urn } = instance;
    // The settings of a stack should reach the stack's instances. Instances of other stacks may live elsewhere, and so may those
    // of a provider that the program makes.
    if (instance.provider === undefined && services.some((service) => service.stack === stack))
      addDoubt(findings, `instance ${id} of ${stack}`, why);
    else findings.notCompared.push({ id, stack, urn, why });
  }
  addCreatesInDoubt(seen, creates, findings);
  return {
    services: services.map(({ origin: { baseUrl, tokenKind, account }, source, listing }) => {
      const { items, complete } = listing;
      return { baseUrl, tokenKind, account, settings: source, listed: items.size, complete };
    }),
    stacks: {
      read: seen.states.length - unreadable.length,
      withInstances: new Set(seen.instances.map(({ stack }) => stack)).size,
    },
    managed,
  };
}

/** Returns the name for the report, which shows none that the program made a secret. */
function shownName({ item: { name = "" } }: ListedInstance, isSecret = false): string {
  return isSecret ? redactionMark : name;
}

function addUnmanaged(
  listed: ListedInstance,
  seen: Seen,
  creates: readonly CreateOfStack[],
  findings: Findings,
): void {
  const { id, status = "", ipv4_public: ipv4 } = listed.item;
  const explanation = explainUnmanaged(listed, seen, creates);
  const name = shownName(listed, explanation?.isNameSecret);
  const doubts = [
    explanation?.isOpen && explanation.note,
    status === "PROVISIONING" &&
      "in no stack, but PROVISIONING, so a run may be creating it right now",
    unreadableStates(seen).length > 0 && "it is in no stack that could be read",
  ];
  const doubt = doubts.find(Boolean);
  if (doubt) {
    addDoubt(findings, `instance ${id} "${name}"`, doubt);
    return;
  }
  const { origin } = listed.service;
  const reader = seen.instances.find(
    (held) => held.id === id && held.external && isListedAt(held, origin),
  );
  const note = explanation?.note ?? (reader && `${reader.stack} reads it, but does not manage it`);
  const createInDoubt = explanation?.urn;
  const list = createInDoubt === undefined ? findings.inNoStack : findings.explained;
  const { baseUrl, tokenKind } = origin;
  list.push({ id, name, status, baseUrl, tokenKind, ipv4, note, createInDoubt });
}

/**
 * Adds the creates in doubt in the ledger of this machine, and those that only a state has. Leaves out those of a run that is
 * under way on this machine, and those whose instance is listed: its line says what to do about the create.
 */
function addCreatesInDoubt(
  { pending, instances }: Seen,
  creates: readonly CreateOfStack[],
  { explained, createsInDoubt }: Findings,
): void {
  const isLive = (create: Resource) =>
    creates.some((other) => other.liveness === "alive" && isSameResource(other, create));
  const isHeld = ({ record, urn }: CreateOfStack) =>
    instances.some((held) => held.id === record.id && held.urn === urn && isListedAt(held, record));
  const inState = pending.filter((create) => !isLive(create));
  const heldIdOf = (create: StackResource) =>
    instances.find((held) => isSameResource(held, create))?.id;
  const inLedger = creates.filter(
    (create) => create.isHere && create.liveness !== "alive" && !isHeld(create),
  );
  const isInState = (create: StackResource) =>
    inState.some((other) => isSameResource(other, create));
  const found = inLedger.map((create): CreateInDoubt => {
    const { at = "", id } = create.record;
    const stack = isInState(create) ? create.stack : undefined;
    return {
      urn: create.urn,
      name: displayRecordedName(create.record),
      stack,
      at,
      id,
      heldId: heldIdOf(create),
    };
  });
  const isExplaining = ({ urn, id, name }: CreateInDoubt) =>
    explained.some(
      (instance) =>
        instance.createInDoubt === urn &&
        (id === undefined ? isNamed(instance.name, name ?? "") : instance.id === id),
    );
  const isInLedger = (create: Resource) => inLedger.some((other) => isSameResource(other, create));
  const ofStates = inState
    .filter((create) => !isInLedger(create))
    .map(({ urn, name, stack }): CreateInDoubt => {
      const heldId = heldIdOf({ urn, stack });
      return { urn, name, stack, at: undefined, id: undefined, heldId };
    });
  createsInDoubt.push(...[...found, ...ofStates].filter((create) => !isExplaining(create)));
}
