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
  type Row,
  type Sighting,
} from "../../cli/settle/decide";
import { putsOf, settleState } from "../../cli/settle/write";
import { leftoversIn } from "../../cli/settle/leftovers";
import { isVouched } from "../../cli/settle/sightings";
import { isInstance, parseState, type StackState } from "../../cli/state";
import { doubtsOf, makerOf, mayBe, type CreateInDoubt, type Listed } from "../../cli/view";
import type { ListItem } from "../../provider/api/contract";
import type { Origin } from "../../provider/origin";
import type { PropertyMap, PropertyValue } from "../../provider/pulumi/propertyValue";
import { instanceToken } from "../../provider/pulumi/names";
import { decodeProperties, encodeProperties } from "../../provider/rpc/properties";
import type { Held, Stack } from "./engine";
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
  /** The URNs of what a person has to decide, and why. */
  questions: { urn: string; why: string }[];
  /** The URNs of what is left to `up`. */
  left: string[];
  /** The ids of the instances that are given up in a sandbox, and of those that are only named. */
  givenUp: string[];
  named: string[];
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
    return { exitCode: 3, questions: [], left: [], givenUp: [], named: [] };
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
  const rows = decideAll({ state, ...place, held, sightings }, { take: [], forget: [...forgets] });
  const decided = doableOf(rows);
  carryOut(state, decided, view);
  const leftovers = found.filter(
    ({ item }) => !held.has(item.id) && !makerOf(item, doubts, origin),
  );
  return endOf(rows, decided, leftovers, origin.tokenKind);
}

function endOf(
  rows: readonly Row[],
  decided: readonly Row[],
  leftovers: readonly { urn: string; item: ListItem }[],
  tokenKind: string,
): Settled {
  const isSandbox = tokenKind === "test";
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
  const givenUp = isSandbox ? [...ofRows, ...leftovers.map(({ item }) => item.id)] : [];
  const questions = [...asked, ...(isSandbox ? [] : ofLeftovers)];
  const left = rows.filter(isLeft).map(({ doubt }) => doubt.urn);
  const named = idsOf((does) => !isForPerson(does));
  return { exitCode: questions.length > 0 ? 1 : 0, questions, left, givenUp, named };
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
function carryOut(state: StackState, rows: readonly Row[], view: View): void {
  const { stack, machine, origin } = view;
  const now = machine.date();
  if (rows.some(isPending)) {
    const text = settleState(state, putsOf(rows, { state, origin }, now), now);
    const changed = parseState(stack.name, text);
    stack.save(resourcesOf(changed, stack), stack.scope, { pending: [] });
  }
  for (const { creates } of rows) for (const { record } of creates) record?.settle();
}

// ── The export, and the state in it ──────────────────────────────────────────────────────────────

function exportOf({ name, resources, pending, scope }: Stack): StackState {
  const providerUrn = `urn:pulumi:${name}::project::pulumi:providers:compute::default_0_1_0`;
  const provider = { urn: providerUrn, type: "pulumi:providers:compute", id: scope };
  const common = { type: instanceToken, provider: `${providerUrn}::${scope}` };
  const held = resources.map((one) => ({
    ...common,
    urn: one.urn,
    id: one.id,
    inputs: encoded(one.inputs),
    outputs: encoded(one.outputs),
    delete: one.old,
    initErrors: one.initErrors,
    refreshBeforeUpdate: one.refreshBeforeUpdate,
  }));
  const operations = pending.map(({ urn, inputs }) => ({
    resource: { ...common, urn, inputs: encoded(inputs) },
    type: "creating",
  }));
  const deployment = {
    resources: [...(scope === undefined ? [] : [provider]), ...held],
    // The latest first.
    pending_operations: operations.reverse(),
  };
  return parseState(name, JSON.stringify({ version: 3, deployment }));
}

/** What the engine reads from the changed export. */
function resourcesOf({ resources }: StackState, stack: Stack): Held[] {
  return resources
    .filter(({ type }) => type === instanceToken)
    .map((one): Held => {
      const raw = one as typeof one & Pick<Held, "initErrors" | "refreshBeforeUpdate">;
      const { urn, id, delete: old, initErrors, refreshBeforeUpdate } = raw;
      const before = stack.resources.find((held) => held.urn === urn && held.id === id);
      return {
        name: logicalName(urn),
        urn,
        id,
        inputs: before?.inputs ?? decoded(one.inputs),
        outputs: before?.outputs ?? decoded(one.outputs),
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
