/**
 * Plays the command `settle` on a simulated state, with the code of the command (`cli/settle/`): it decides by an exported state,
 * by the files on a machine and by what the service lists, and changes the export. Only the listing is simpler: it is complete,
 * and later than the settling time.
 */
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { logicalName } from "../../provider/urn";
import { createInDoubt } from "../../cli/creates";
import { decideAll, doableOf, type Evidence, type Row } from "../../cli/settle/decide";
import { doubtsOf, type Doubt } from "../../cli/settle/doubts";
import { parseExport, settleState, type ExportedState } from "../../cli/settle/exported";
import { leftoversIn } from "../../cli/settle/leftovers";
import { changesOf } from "../../cli/settle/write";
import type { ListItem } from "../../provider/api/contract";
import { isNamed } from "../../provider/evidence/witness";
import type { Origin } from "../../provider/origin";
import type { PropertyMap, PropertyValue } from "../../provider/propertyValue";
import { instanceToken } from "../../provider/pulumiNames";
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
  /** The ids of the instances that are given up in a sandbox, and of those that are only named. */
  givenUp: string[];
  named: string[];
}

/** Types `settle --yes`. */
export function settle(view: View): Settled {
  const { stack, stacks, machine, listed, origin, forgets } = view;
  const state = exportOf(stack);
  const ledger = machine.ledger();
  const creates = ledger
    .all()
    .filter(({ record }) => record.at !== undefined)
    .map((found) => createInDoubt({ ...found, ledger, isHere: true }));
  const doubts = doubtsOf(stack.name, state, creates, forgets);
  const all = stacks.flatMap(({ name, resources }) =>
    resources.map(({ id, urn }) => [id, { stack: name, urn }] as const),
  );
  const held = new Map(all);
  const evidence = new Map(doubts.map((doubt) => [doubt, evidenceOf(doubt, view)]));
  const items = new Map(listed.map((item) => [item.id, item]));
  const { tokenKind } = origin;
  const choices = { take: new Map<string, string>(), forget: forgets };
  const seen = { stack: stack.name, state, held, evidence, items, tokenKind, choices };
  const rows = decideAll(doubts, seen);
  if (rows.some(({ does }) => does.kind === "running"))
    return { exitCode: 3, questions: [], givenUp: [], named: [] };
  const decided = doableOf(rows);
  carryOut(state, decided, view);
  const named = new Set(rows.flatMap(({ doubt }) => idsIn(evidence.get(doubt))));
  const leftovers = leftoversIn(listed, state).filter(
    ({ item: { id } }) => !held.has(id) && !named.has(id),
  );
  return endOf(rows, decided, leftovers, tokenKind);
}

function endOf(
  rows: readonly Row[],
  decided: readonly Row[],
  leftovers: readonly { urn: string; item: ListItem }[],
  tokenKind: string,
): Settled {
  const isSandbox = tokenKind === "test";
  const open = rows.filter((row) => !decided.includes(row));
  const asked = open.flatMap(({ doubt: { urn }, does }) =>
    "why" in does ? [{ urn, why: does.why ?? "" }] : [{ urn, why: "another create blocks it" }],
  );
  const ofLeftovers = leftovers.map(({ urn, item }) => ({ urn, why: `${item.id} is in no state` }));
  const ofRows = rows.flatMap(({ does }) =>
    does.kind === "forget" && does.isSandbox ? ((does.why ?? "").match(/i-\w+/g) ?? []) : [],
  );
  const givenUp = isSandbox ? [...ofRows, ...leftovers.map(({ item }) => item.id)] : [];
  const questions = [...asked, ...(isSandbox ? [] : ofLeftovers)];
  const beside = rows.flatMap(({ does }) => (does.kind === "put" ? does.namesakes : []));
  return { exitCode: questions.length > 0 ? 1 : 0, questions, givenUp, named: beside };
}

function evidenceOf({ record, name, isGenerated }: Doubt, { listed }: View): Evidence {
  const isSearched = name !== undefined && (isGenerated || record?.id === undefined);
  const items = listed.filter(
    (item) =>
      item.id === record?.id ||
      (isSearched && isNamed(item.name, name) && record?.before.has(item.id) !== true),
  );
  return items.length > 0 ? { kind: "listed", items } : { kind: "absent" };
}

function idsIn(evidence: Evidence | undefined): string[] {
  return evidence?.kind === "listed" ? evidence.items.map(({ id }) => id) : [];
}

/** First the state is written, then the files go. */
function carryOut(state: ExportedState, rows: readonly Row[], view: View): void {
  const { stack, machine, origin } = view;
  const by = { origin, session: "settle" };
  const changes = rows.flatMap((row) => changesOf(row, by, machine.date()));
  if (changes.length > 0) {
    const changed = parseExport(settleState(state, changes, machine.date()));
    stack.save(resourcesOf(changed, stack), stack.scope, { pending: [] });
  }
  for (const { doubt } of rows) doubt.record?.settle();
}

// ── The export, and the state in it ──────────────────────────────────────────────────────────────

function exportOf({ name, resources, pending, scope }: Stack): ExportedState {
  const providerUrn = `urn:pulumi:${name}::project::pulumi:providers:compute::default_0_1_0`;
  const provider = { urn: providerUrn, type: "pulumi:providers:compute", id: scope };
  const common = { type: instanceToken, provider: `${providerUrn}::${scope}` };
  const held = resources.map((one) => ({
    ...common,
    urn: one.urn,
    id: one.id,
    inputs: encoded(one.inputs),
    outputs: encoded(one.outputs),
    created: one.created?.toISOString(),
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
  return parseExport(JSON.stringify({ version: 3, deployment }));
}

/** What the engine reads from the changed export. */
function resourcesOf({ resources }: ExportedState, stack: Stack): Held[] {
  return resources
    .filter(({ type }) => type === instanceToken)
    .map((one): Held => {
      const raw = one as typeof one & Pick<Held, "initErrors" | "refreshBeforeUpdate">;
      const { urn, id, delete: old, created, initErrors, refreshBeforeUpdate } = raw;
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
        created: created === undefined ? undefined : new Date(created),
      };
    });
}

function encoded(map: PropertyMap): object {
  return encodeProperties(map, "final").toJavaScript();
}

function decoded(map: Readonly<Record<string, PropertyValue>>): PropertyMap {
  return decodeProperties(Struct.fromJavaScript(map));
}
