/** Carries out what was decided: first in the state, then in the ledger. Killed in between, it can be run again. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Origin } from "../../provider/origin";
import { pulumiHome } from "../../provider/pulumiHome";
import { importState } from "../pulumi";
import { Problem, type Terminal } from "../terminal";
import type { Row } from "./decide";
import { occupantOf } from "./doubts";
import { settleState, unfinishedOutputs, type ExportedState, type StateChange } from "./exported";
import type { Look } from "./look";

/** What `carryOut` has changed. */
export interface Written {
  /** The file with the state that was replaced. Undefined if the state was not changed. */
  kept: string | undefined;
  /** The URNs of the creates whose records could not be changed. */
  stuck: string[];
}

/** @throws Problem if the state can't be changed, as when the stack is locked */
export async function carryOut(look: Look, rows: readonly Row[], io: Terminal): Promise<Written> {
  const by = look.service && { origin: look.service.origin, session: look.service.session.id };
  const now = io.clock.date();
  const changes = rows.flatMap((row) => changesOf(row, look.view.state, by, now));
  const kept = changes.length > 0 ? await write(look, changes, io) : undefined;
  const stuck = rows.filter(({ doubt: { record } }) => record && !record.settle());
  return { kept, stuck: stuck.map(({ doubt }) => doubt.urn) };
}

/**
 * Returns what a row changes in the state. `by`: the session that puts an instance into it, and where that lives. Undefined if the
 * service was not asked.
 */
export function changesOf(
  { doubt, does }: Row,
  state: ExportedState,
  by: { origin: Origin; session: string } | undefined,
  now: Date,
): StateChange[] {
  const [, ...older] = doubt.pending;
  const drop = (pending: StateChange["pending"]): StateChange => ({ do: "drop", pending });
  if (does.kind !== "put" || !by) return doubt.pending.map(drop);
  const { item, pending } = does;
  const { id, name, status } = item;
  const { record } = doubt;
  const isRecords = record?.id === undefined || record.id === id;
  const shown = isRecords ? record?.accepted : undefined;
  const accepted = { id, name, status, networks: [], ...shown };
  const at = record?.at ?? now.toISOString();
  const session = record?.session ?? by.session;
  const made = { origin: by.origin, at, session, flavor: isRecords ? record?.flavor : undefined };
  const outputs = unfinishedOutputs(pending, accepted, made);
  return [
    { do: "put", pending, id, outputs, replaces: occupantOf(doubt.urn, state)?.id },
    ...older.map(drop),
  ];
}

async function write(
  { view: { stack, state } }: Look,
  changes: readonly StateChange[],
  { env, clock }: Terminal,
): Promise<string> {
  const folder = join(pulumiHome(env), "compute", "settle");
  const now = clock.date();
  const base = `${stack}-${now.toISOString()}`.replace(/[^\w.-]+/g, "-");
  const kept = join(folder, `${base}.json`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Only this user can read it: a state may have secrets of other providers in clear text.
    writeFileSync(kept, state.text, { mode: 0o600, flag: "wx" });
    chmodSync(kept, 0o600);
  } catch (error) {
    throw new Problem(
      `the state that is to be replaced can't be kept: ${(error as Error).message}`,
      `Nothing was changed. Make ${folder} writable, and run the command again.`,
    );
  }
  await importState(stack, settleState(state, changes, now), env);
  return kept;
}
