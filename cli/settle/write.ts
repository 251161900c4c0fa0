/** Carries out what was decided: first in the state, then in the ledger. Killed in between, it can be run again. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Origin } from "../../provider/origin";
import { pulumiHome } from "../../provider/pulumiHome";
import { importState, readState } from "../pulumi";
import type { StackState } from "../state";
import { Problem, type Terminal } from "../terminal";
import { settleState, unfinishedOutputs, type StatePut } from "./change";
import type { Row, StackView } from "./decide";

/** What `carryOut` has changed. */
export interface Written {
  /** The file with the state that was replaced. Undefined if the state was not changed. */
  readonly kept: string | undefined;
  /** The URNs of the creates whose records could not be changed. */
  readonly stuck: readonly string[];
}

/**
 * Carries out these rows, unless the state has changed since it was read.
 *
 * @throws Problem if the state has changed, or can't be changed, as when the stack is locked
 */
export async function carryOut(
  { state, origin }: StackView,
  rows: readonly Row[],
  io: Terminal,
): Promise<Written> {
  const { stack, text } = state;
  const again = await readState(stack, io.env);
  if (again.problem) throw again.problem;
  if (again.text !== text)
    throw new Problem("the state has changed meanwhile", "Run `settle` again.");
  let kept: string | undefined;
  // A state that is imported has no pending creates.
  if (rows.some(({ doubt }) => doubt.pending)) {
    const now = io.clock.date();
    kept = keep(state, now, io);
    await importState(stack, settleState(state, putsOf(rows, origin, now), now), io.env);
  }
  const stuck = rows.filter(({ doubt: { record } }) => record && !record.settle());
  return { kept, stuck: stuck.map(({ doubt }) => doubt.urn) };
}

/** Returns what these rows put into the state. `origin` is that of the listing. */
export function putsOf(rows: readonly Row[], origin: Origin | undefined, now: Date): StatePut[] {
  return rows.flatMap(({ doubt: { record }, does }) => {
    if (does.kind !== "put" || !origin) return [];
    const { item, pending, occupant } = does;
    const { id, name, status } = item;
    const recorded = record?.id === undefined || record.id === id ? record : undefined;
    const outputs = unfinishedOutputs(
      pending,
      { id, name, status, networks: [], ...recorded?.accepted },
      {
        origin,
        at: record?.at ?? now.toISOString(),
        session: record?.session ?? "settle",
        flavor: recorded?.flavor,
      },
    );
    return [{ pending, id, outputs, replaces: occupant }];
  });
}

/**
 * Keeps the state in a file that only this user can read: a state may have secrets of other providers in clear text.
 *
 * @throws Problem if the file can't be written
 */
function keep({ stack, text }: StackState, now: Date, { env }: Terminal): string {
  const folder = join(pulumiHome(env), "compute", "settle");
  const base = `${stack}-${now.toISOString()}`.replace(/[^\w.-]+/g, "-");
  const kept = join(folder, `${base}.json`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(kept, text, { mode: 0o600, flag: "wx" });
    chmodSync(kept, 0o600);
  } catch (error) {
    throw new Problem(
      `the state that is to be replaced can't be kept: ${(error as Error).message}`,
      `Nothing was changed. Make ${folder} writable, and run the command again.`,
    );
  }
  return kept;
}
