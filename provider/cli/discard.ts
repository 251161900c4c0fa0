/**
 * `pulumi-resource-compute discard [KEY|URN]`: forgets a pending create (G1), once a person knows that nothing
 * of it runs; by its key, also one whose result a state held. Without an argument, lists the pending ones.
 */
import type { Command } from "commander";
import { discardCommand, importCommand } from "../advice";
import { displayRecordedName, isAllowedChange, isPending } from "../ledger/record";
import { allCreates, openCreates, type OpenCreate } from "./openCreates";
import type { Terminal } from "./terminal";

export function addDiscard(program: Command, io: Terminal): void {
  program
    .command("discard")
    .description("list the creates that a run left open, or forget one")
    .argument("[KEY|URN]")
    .usage("[KEY|URN]")
    .action((keyOrUrn: string | undefined) => {
      io.exitCode = discard(keyOrUrn, io);
    });
}

function discard(keyOrUrn: string | undefined, { env, print, warn }: Terminal): number {
  if (keyOrUrn === undefined) {
    const open = openCreates(env, warn);
    if (open.length === 0) print("No create is left open.");
    for (const it of open) describe(it).forEach((line) => print(line));
    return 0;
  }
  // Where its delete would fail, also a create whose result a state held stands in the way of the next.
  const found = allCreates(env, warn).filter(
    ({ record }) =>
      (record.key === keyOrUrn && isAllowedChange(record, discarded)) ||
      (record.urn === keyOrUrn && isPending(record)),
  );
  if (found.length === 0) {
    print(`No create is left open for ${keyOrUrn}.`);
    return 1;
  }
  const meant = meantBy(found);
  if (!meant) {
    warn(
      `Several state backends have a pending create for ${keyOrUrn}, and none of them is the one that is used here. Set PULUMI_BACKEND_URL, or log in with \`pulumi login\`, and run it again.`,
    );
    return 1;
  }
  const forgotten = meant.map((it) => forget(it, print, warn));
  return forgotten.every(Boolean) ? 0 : 1;
}

/**
 * Stacks of two backends may have the same URN: the records of the backend that is used here, or of the only
 * one that has any; undefined where several others do.
 */
function meantBy(found: readonly OpenCreate[]): readonly OpenCreate[] | undefined {
  const here = found.filter(({ isHere }) => isHere);
  if (here.length > 0) return here;
  return new Set(found.map(({ ledger }) => ledger)).size === 1 ? found : undefined;
}

const discarded = { stage: "settled", settled: "discarded" } as const;

type Say = (line: string) => void;

/** Prints what came of it; false where it is not forgotten. */
function forget({ ledger, record, inFlight }: OpenCreate, print: Say, warn: Say): boolean {
  const { key, name, baseUrl, at, id } = record;
  const create = `the create of "${displayRecordedName(name)}" at ${baseUrl} (${at})`;
  if (inFlight) {
    warn(
      `Not forgotten: a run is at ${create} just now. Wait until it has ended, and run this again.`,
    );
    return false;
  }
  if (!ledger.settle(key, "discarded")) {
    warn(`Not forgotten: ${create} could not be changed in the ledger. Run this again.`);
    return false;
  }
  print(`Forgotten: ${create}, record ${key}${id ? `, instance ${id}` : ""}.`);
  return true;
}

function describe({ record, isHere, unlockable }: OpenCreate): string[] {
  const { key, urn, name, baseUrl, tokenKind, at, id } = record;
  return [
    urn,
    `  record ${key}: "${displayRecordedName(name)}" at ${baseUrl} (${tokenKind} token), begun ${at}${id ? `, instance ${id}` : ""}`,
    ...(isHere ? [] : ["  by a run with another state backend than the one that is used here"]),
    ...(unlockable ? ["  a run may be at it just now: files can't be locked here to tell"] : []),
    `  take it over: ${importCommand(record, id ?? "<id>")}`,
    `  forget it: ${discardCommand(key)}`,
  ];
}
