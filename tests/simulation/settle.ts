/**
 * Plays the command `settle` on a simulated state, with the code of the command (`cli/settle/`): it decides by an exported state,
 * by the files on a machine and by what the service lists, and changes the export. Only the listing is simpler: it is complete,
 * and later than the settling time.
 */
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { logicalName } from "../../provider/pulumi/urn";
import { recordsIn } from "../../cli/records";
import {
  decideAll,
  doableOf,
  isForPerson,
  isPending,
  mayChange,
  type Row,
  type Sighting,
} from "../../cli/settle/decide";
import { putsOf, settleState } from "../../cli/settle/write";
import { leftoversIn, letRunBy, namedOf, type LetRun } from "../../cli/settle/leftovers";
import { openOf, outcomes } from "../../cli/settle/settle";
import type { ServiceListing } from "../../cli/listings";
import { isVouched } from "../../cli/settle/sightings";
import { isInstance, parseState, type StackState } from "../../cli/state";
import { doubtsOf, makerOf, mayBe, type CreateInDoubt, type Listed } from "../../cli/view";
import type { ListItem } from "../../provider/api/contract";
import type { Origin } from "../../provider/origin";
import type { PropertyMap, PropertyValue } from "../../provider/pulumi/propertyValue";
import { instanceToken } from "../../provider/pulumi/names";
import { decodeProperties, encodeProperties } from "../../provider/rpc/properties";
import { defaultProvider, type Held, type Stack } from "./engine";
import type { Machine } from "./machine";

/** Where `settle` runs, and what it sees. */
export interface View {
  stack: Stack;
  stacks: readonly Stack[];
  machine: Machine;
  listed: readonly ListItem[];
  origin: Origin;
  /** The URNs that a person has decided to `--forget`. */
  forgets: ReadonlySet<string>;
}

/** How `settle` ends. */
export interface Settled {
  exitCode: 0 | 1 | 3;
  /** The URNs of what a person has to decide or, with the exit code 0, may leave until an `up` stops for it, and why. */
  questions: { urn: string; why: string }[];
  /** The URNs of what is left to `up`. */
  left: string[];
  /** The ids of the instances that are given up in a sandbox, and of those that are only named. */
  givenUp: string[];
  named: string[];
  /** What the state now notes as let run. */
  letRun: readonly LetRun[];
}

/** Types `settle --yes`. */
export function settle(view: View): Settled {
  const { stack, stacks, machine, listed, origin, forgets } = view;
  const states = stacks.map(exportOf);
  const state = states.find((one) => one.stack === stack.name) ?? exportOf(stack);
  const all = doubtsOf(states, recordsIn(machine.ledger(), true));
  const doubts = all.filter(
    (doubt) => doubt.stack === stack.name || (forgets.has(doubt.urn) && !doubt.pending),
  );
  if (doubts.some(({ record }) => record?.liveness === "alive"))
    return { exitCode: 3, questions: [], left: [], givenUp: [], named: [], letRun: [] };
  const instances = states.flatMap(({ resources }) => resources.filter(isInstance));
  const held = Map.groupBy(
    instances.map((one) => ({ ...one, origin })),
    ({ id }) => id,
  );
  const items = new Map(listed.map((item) => [item.id, item]));
  const found = leftoversIn(listed, state);
  const scopes = new Set(found.map(({ scope }) => scope));
  const place = { items, origin };
  const sightings = new Map(
    doubts.map((doubt) => [doubt, sightingOf(doubt, state, place, scopes)]),
  );
  const seen = { state, ...place, held, sightings };
  const rows = decideAll(seen, { take: [], forget: [...forgets] });
  const unexplained = namedOf(found, state, held, { settings, origin } as ServiceListing).filter(
    ({ item, explainer }) => !explainer && !makerOf(item, doubts, origin),
  );
  const toNote = letRunBy([...forgets], state, rows, unexplained);
  const decided = doableOf(rows, toNote);
  const letRun = mayChange(rows) ? toNote : [];
  carryOut(state, decided, letRun, view);
  const leftovers = unexplained.filter(({ item }) => !letRun.some(({ id }) => id === item.id));
  const isSandbox = origin.tokenKind === "test";
  const billed = isSandbox ? [] : leftovers;
  const end = openOf({ view: seen, rows, letRun, leftovers: billed, isBlocked: false });
  const { exitCode } = outcomes[end ?? "settled"];
  return { exitCode, ...endOf(rows, decided, leftovers, isSandbox), letRun };
}

/** With these, each leftover that nothing explains is named. */
const settings = { tokenKind: "live", deletePolicy: "fail" };

function endOf(
  rows: readonly Row[],
  decided: readonly Row[],
  leftovers: readonly { urn: string; item: ListItem }[],
  isSandbox: boolean,
): Omit<Settled, "exitCode" | "letRun"> {
  const isLeft = ({ does }: Row) => does.kind === "ask" && !isForPerson(does);
  const open = rows.filter((row) => !decided.includes(row) && !isLeft(row));
  const asked = open.map(({ doubt: { urn }, does }) => ({
    urn,
    why: "why" in does ? (does.why ?? "") : "another create blocks it",
  }));
  const ofLeftovers = leftovers.map(({ urn, item }) => ({ urn, why: `${item.id} is in no state` }));
  const idsOf = (isWanted: (does: Row["does"]) => boolean) =>
    rows
      .flatMap(({ does }) => ("items" in does && isWanted(does) ? does.items : []))
      .map(({ id }) => id);
  const ofRows = idsOf((does) => does.kind === "gone" && does.because === "sandbox");
  const ids = leftovers.map(({ item }) => item.id);
  const givenUp = isSandbox ? [...ofRows, ...ids] : [];
  const questions = [...asked, ...(isSandbox ? [] : ofLeftovers)];
  const left = rows.filter(isLeft).map(({ doubt }) => doubt.urn);
  const named = [...idsOf((does) => !isForPerson(does)), ...ids];
  return { questions, left, givenUp, named };
}

/** What complete listings show that begin after the settling time. */
function sightingOf(
  doubt: CreateInDoubt,
  state: StackState,
  place: Listed,
  scopes: ReadonlySet<string>,
): Sighting {
  if (!isVouched(doubt, state, place, scopes)) return { kind: "unvouched", why: "unvouched" };
  const items = [...place.items.values()].filter((item) => mayBe(doubt, item, place.origin));
  return items.length > 0 ? { kind: "listed", items } : { kind: "absent" };
}

/** First the state is written, then the files go. */
function carryOut(
  state: StackState,
  rows: readonly Row[],
  letRun: readonly LetRun[],
  view: View,
): void {
  const { stack, machine, origin } = view;
  const now = machine.date();
  if (rows.some(isPending) || letRun.length > 0) {
    const text = settleState(state, putsOf(rows, { state, origin }, now), now, letRun);
    const changed = parseState(stack.name, text);
    const changedUrns = new Set(letRun.map(({ urn }) => urn));
    stack.save(resourcesOf(changed, stack, changedUrns), { pending: [] });
  }
  for (const { creates } of rows) for (const { record } of creates) record?.settle();
}

// ── The export, and the state in it ──────────────────────────────────────────────────────────────

function exportOf(stack: Stack): StackState {
  const { name, resources, pending } = stack;
  const providers = [...stack.providers].map(([provider, { scope }]) => ({
    urn: stack.urnOfProvider(provider),
    type: "pulumi:providers:compute",
    id: scope,
  }));
  const common = ({ provider = defaultProvider }: Pick<Held, "provider">) => ({
    type: instanceToken,
    provider: `${stack.urnOfProvider(provider)}::${stack.providers.get(provider)?.scope}`,
  });
  const held = resources.map((one) => ({
    ...common(one),
    urn: one.urn,
    id: one.id,
    inputs: encoded(one.inputs),
    outputs: encoded(one.outputs),
    delete: one.old,
    initErrors: one.initErrors,
    refreshBeforeUpdate: one.refreshBeforeUpdate,
  }));
  const operations = pending.map((one) => ({
    resource: { ...common(one), urn: one.urn, inputs: encoded(one.inputs) },
    type: "creating",
  }));
  const deployment = {
    resources: [...providers, ...held],
    // The latest first.
    pending_operations: operations.reverse(),
  };
  return parseState(name, JSON.stringify({ version: 3, deployment }));
}

/** What the engine reads from the changed export. `changed`: the URNs of what has other outputs now. */
function resourcesOf(
  { resources }: StackState,
  stack: Stack,
  changed: ReadonlySet<string>,
): Held[] {
  return resources
    .filter(({ type }) => type === instanceToken)
    .map((one): Held => {
      const raw = one as typeof one & Pick<Held, "initErrors" | "refreshBeforeUpdate">;
      const { urn, id, delete: old, initErrors, refreshBeforeUpdate } = raw;
      const before = stack.resources.find(
        (held) => held.urn === urn && held.id === id && held.old === old,
      );
      return {
        name: logicalName(urn),
        provider: logicalName(one.providerUrn),
        urn,
        id,
        inputs: before?.inputs ?? decoded(one.inputs),
        outputs: (!changed.has(urn) && before?.outputs) || decoded(one.outputs),
        initErrors,
        refreshBeforeUpdate,
        old,
      };
    });
}

function encoded(map: PropertyMap): object {
  return encodeProperties(map, "final").toJavaScript();
}

function decoded(map: Readonly<Record<string, PropertyValue>>): PropertyMap {
  return decodeProperties(Struct.fromJavaScript(map));
}
