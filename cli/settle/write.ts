/**
 * Carries out what was decided: first in the state, then in the ledger. Killed in between, it can be run again. The state changes
 * as the engine would have changed it, had it got the answers that a killed run did not. What does not change stays as it is, also
 * the secrets, which stay encrypted.
 */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Instance } from "../../provider/instance/instance";
import type { Origin } from "../../provider/origin";
import {
  propertyMap,
  type PropertyMap,
  type PropertyValue,
} from "../../provider/pulumi/propertyValue";
import { pulumiHome } from "../../provider/pulumi/home";
import { signatureKey, signatures } from "../../provider/pulumi/names";
import { importState, readState } from "../pulumi";
import { placeFor, presentIn, urnsOf, type PendingCreate, type StackState } from "../state";
import { orProblem, Problem, type Terminal } from "../terminal";
import { isPending, type Row, type StackView } from "./decide";
import type { LetRun } from "./leftovers";

/**
 * Carries out these rows, and notes in the state what a person lets run, unless the state has changed since it was read. Returns
 * `backup`, the file with the state that was replaced (null if the state stays as it is), and `left`, the rows with a file of the ledger
 * that stays, because a run has changed the file meanwhile, or it can't be removed.
 *
 * @throws Problem if the state has changed, or can't be changed, as when the stack is locked
 */
export async function writeRows(
  { state, origin }: StackView,
  rows: readonly Row[],
  letRun: readonly LetRun[],
  io: Terminal,
): Promise<{ backup: string | null; left: readonly Row[] }> {
  const { stack, text } = state;
  const again = await readState(stack, io.env);
  if (again.problem) throw again.problem;
  if (again.text !== text)
    throw new Problem("the state has changed meanwhile", "Run `settle` again.");
  let backup: string | null = null;
  // Only an import gets rid of pending creates.
  if (rows.some(isPending) || letRun.length > 0) {
    const now = io.clock.date();
    backup = backUp(state, now, io);
    const puts = putsOf(rows, { state, origin }, now);
    await importState(stack, settleState(state, puts, now, letRun), io.env);
  }
  const isLeft = ({ creates }: Row) =>
    creates.map(({ record }) => record?.settle()).includes(false);
  return { backup, left: rows.filter(isLeft) };
}

/**
 * Keeps the state in a file that only this user can read: a state may have secrets of other providers in clear text.
 *
 * @throws Problem if the file can't be written
 */
function backUp({ stack, text }: StackState, now: Date, { env }: Terminal): string {
  const folder = join(pulumiHome(env), "compute", "settle");
  const base = `${stack}-${now.toISOString()}`.replace(/[^\w.-]+/g, "-");
  const file = join(folder, `${base}.json`);
  const write = () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { mode: 0o600, flag: "wx" });
    chmodSync(file, 0o600);
  };
  const next = `Nothing was changed. Check that ${folder} is writable and that its disk has room, and run the command again.`;
  orProblem(write, "the state that is to be replaced can't be kept", next);
  return file;
}

// ── The changed state ────────────────────────────────────────────────────────────────────────────

/**
 * Returns what these rows put into the state. `origin` is that of the listing. Each instance knows (`Instance.known`) those that the
 * state has for the resource, those that they know, those listed before the POST of the killed create, and the other candidates.
 */
export function putsOf(
  rows: readonly Row[],
  { state, origin }: Pick<StackView, "state" | "origin">,
  now: Date,
): StatePut[] {
  return rows.flatMap(({ doubt: { record, isGenerated }, does }) => {
    if (does.kind !== "put" || !origin) return [];
    const { item, items, pending, occupant } = does;
    const { id, name, status } = item;
    const recorded = record?.id === undefined || record.id === id ? record : undefined;
    const entries = state.resources.filter(({ urn }) => urnsOf(pending).includes(urn));
    const known = new Set([
      ...entries.flatMap((one) => [one.id, ...one.known]),
      // Several stacks may share a chosen name.
      ...(isGenerated ? (recorded?.before ?? []) : []),
      ...items.map((one) => one.id),
    ]);
    known.delete(id);
    const outputs = unfinishedOutputs(
      pending,
      { id, name, status, networks: [], ...recorded?.accepted },
      {
        origin,
        at: record?.at ?? now.toISOString(),
        session: record?.session ?? "settle",
        flavor: recorded?.flavor,
        known: [...known],
      },
    );
    return [{ pending, id, outputs, replaces: occupant }];
  });
}

/** An instance that comes into a state. */
export interface StatePut {
  readonly pending: PendingCreate;
  readonly id: string;
  readonly outputs: PropertyMap;
  /** The id of the instance of the URN that is replaced, which the next `up` deletes. */
  readonly replaces: string | undefined;
}

type RawResource = Record<string, unknown>;
interface RawExport {
  deployment: {
    resources?: RawResource[] | null;
    pending_operations?: { resource: RawResource }[] | null;
  };
}

/**
 * Returns the text of the state with these instances. Each resource in `letRun` gets the ids that a person lets run
 * (`Instance.known`). The text has no pending operation, since `pulumi stack import` drops them all.
 */
export function settleState(
  state: StackState,
  puts: readonly StatePut[],
  now: Date,
  letRun: readonly LetRun[] = [],
): string {
  const whole = JSON.parse(state.text) as RawExport;
  const { resources, pending_operations: operations, ...deployment } = whole.deployment;
  const settled = [...(resources ?? [])];
  for (const [urn, all] of Map.groupBy(letRun, (one) => one.urn)) {
    const entry = presentIn(state, urn);
    if (!entry) continue;
    const inputs = propertyMap({});
    const instance = new Instance({ ...entry, inputs, outputs: propertyMap(entry.outputs) });
    const { outputs } = instance.knowing(all.map(({ id }) => id));
    const at = state.resources.indexOf(entry);
    settled[at] = { ...settled[at], outputs };
  }
  for (const put of puts) {
    const raw = operations?.[put.pending.index]?.resource;
    if (raw) insert(settled, put, raw, now);
  }
  const result = { ...whole, deployment: { ...deployment, resources: settled } };
  return `${JSON.stringify(result, undefined, 4)}\n`;
}

function insert(
  resources: RawResource[],
  { pending, id, outputs, replaces }: StatePut,
  raw: RawResource,
  now: Date,
): void {
  const urns = new Set<unknown>(urnsOf(pending));
  const indexOf = (key: string, value: unknown) =>
    resources.findIndex((one) => urns.has(one["urn"]) && one[key] === value);
  const waiting = indexOf("pendingReplacement", true);
  // If it were only marked for deletion, each `up` would delete it again.
  if (waiting >= 0) resources.splice(waiting, 1);
  const replaced = replaces === undefined ? -1 : indexOf("id", replaces);
  if (replaced >= 0) resources[replaced] = { ...resources[replaced], delete: true };
  const at = now.toISOString();
  const initErrors = [
    `the run that created instance ${id} ended before it could record that; the next \`pulumi up\` goes on with it`,
  ];
  const made = { created: at, modified: at, initErrors, refreshBeforeUpdate: true };
  resources.splice(placeFor(pending, resources), 0, { ...raw, id, outputs, ...made });
}

/** Returns the outputs that the state gets for an instance: those of a create whose wait was interrupted. */
export function unfinishedOutputs(
  pending: PendingCreate,
  accepted: Parameters<typeof Instance.accepted>[1],
  made: { origin: Origin; at: string; session: string } & {
    flavor?: string | undefined;
    known?: readonly string[];
  },
): PropertyMap {
  const { urn, name, additionalSecretOutputs } = pending;
  const inputs = propertyMap(pending.inputs);
  // In an export a secret is an object, which stays as it is. The name as listed would be in clear text.
  const { name: listedName, ...rest } = accepted;
  const fields = name === undefined ? rest : { ...rest, name: listedName };
  const { origin, at, session, flavor: flavorIdUsed, known } = made;
  const unfinished = Instance.accepted({ urn, inputs, flavorIdUsed, known }, fields, origin, at);
  const { outputs } = unfinished.stampedBy(session).unfinished();
  const toHide = (additionalSecretOutputs ?? []).flatMap((key) => {
    const value = outputs[key];
    const text = JSON.stringify(value);
    // Ciphertext in plaintext would stay as it is.
    return value === undefined || text.includes(signatureKey)
      ? []
      : [[key, toEncrypt(text)] as const];
  });
  return propertyMap({ ...outputs, ...Object.fromEntries(toHide) });
}

/** Returns a secret as an export with --show-secrets has it. `pulumi stack import` encrypts it. */
function toEncrypt(plaintext: string): PropertyValue {
  return propertyMap({ [signatureKey]: signatures.secret, plaintext });
}
