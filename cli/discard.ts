/**
 * `discard [KEY|URN]`: lists the pending creates, or forgets one. A create may only be forgotten if it left no running
 * instance, since no created instance may be lost (G1).
 */
import { randomBytes } from "node:crypto";
import type { Command } from "commander";
import {
  discardCommand,
  importCommand,
  ownCommand,
  stateDeleteCommand,
  withDependents,
} from "../provider/advice";
import { systemClock } from "../provider/clock";
import { ledgerFolder, ledgerFolders } from "../provider/ledger/folder";
import { Ledger } from "../provider/ledger/ledger";
import {
  displayRecordedName,
  isAllowedChange,
  isContested,
  isInFlight,
  isPending,
  type LedgerEntry,
} from "../provider/ledger/record";
import { projectOf, stackNameOf } from "../provider/pulumiNames";
import type { Terminal } from "./terminal";

/** A create in one of the ledgers on this machine, and that ledger, which records the creates of one state backend. */
export interface RecordedCreate extends LedgerEntry {
  ledger: Ledger;
  /** Whether the create was started with the state backend that is in use now. */
  isHere: boolean;
}

type Warn = (message: string) => void;

function readCreates(env: NodeJS.ProcessEnv, warn: Warn): RecordedCreate[] {
  const here = ledgerFolder(env);
  return ledgerFolders(env).flatMap((folder) => {
    const ledger = new Ledger(folder, randomBytes(6).toString("hex"), warn, systemClock);
    return ledger.read().map((entry) => ({ ...entry, ledger, isHere: folder === here }));
  });
}

/**
 * Reads the creates of all state backends that are pending or whose instance a state may lack (`isContested`), also those of
 * runs that are under way.
 */
export function readPendingCreates(env: NodeJS.ProcessEnv, warn: Warn): RecordedCreate[] {
  return readCreates(env, warn).filter(isOpen);
}

function isOpen({ record }: LedgerEntry): boolean {
  return isPending(record) || isContested(record);
}

/** Says what to do about pending creates of these resources. */
export function resumeAdvice(urns: readonly string[]): string {
  const [only, ...others] = new Set(urns);
  const command = ownCommand("discard", only && others.length === 0 ? only : "<urn>");
  return `Run \`pulumi up\`, which resumes those of its stack or says what to do. If a killed run has left the stack locked: first \`pulumi cancel\`. To forget a create that left no running instance: \`${command}\`. \`${ownCommand("discard")}\` lists the pending creates.`;
}

/** Adds the command `discard`. */
export function addDiscard(program: Command, io: Terminal): void {
  program
    .command("discard")
    .description("list the pending creates, each with the command that forgets it, or forget one")
    .argument("[KEY|URN]", "The record key or the URN of the pending create to forget.")
    .usage("[KEY|URN]")
    .action((keyOrUrn: string | undefined) => {
      if (keyOrUrn === undefined) listPending(io);
      else io.exitCode = discard(keyOrUrn, io) ? 0 : 1;
    });
}

function listPending({ env, print, warn }: Terminal): void {
  const pending = readPendingCreates(env, warn).filter(({ liveness }) => liveness !== "alive");
  if (pending.length === 0) print("There is no pending create.");
  for (const { record, isHere, liveness } of pending) {
    const { key, urn, name, kind, baseUrl, tokenKind, at, id, stage, stateless } = record;
    const instance = id ? `, instance ${id}` : "";
    // An engine was sent the instance's id, so the state may have the instance.
    const isGiven = stage === "replied" || stage === "delivered";
    // An instance of a name that the program chose may be another's, so no run takes it over by the name.
    const isTakenOver = id !== undefined || kind !== "explicit";
    const where = stateless
      ? ""
      : `, with stack ${stackNameOf(urn)} of project ${projectOf(urn)} selected, and with the inputs of that create in the program`;
    const lines = [
      urn,
      `  record ${key}: "${displayRecordedName(name)}" at ${baseUrl} (${tokenKind} token), started ${at}${instance}`,
      !isHere && "  it was started with another state backend than the one that is in use now",
      stage === "delivered" &&
        "  delivered, but another run of the stack was under way, whose engine may have saved an older state over it",
      stage !== "delivered" &&
        liveness === "unknown" &&
        "  its run may not have ended: files can't be locked here, so this is not known",
      !stateless &&
        !isGiven &&
        (isTakenOver
          ? "  take it over: pulumi up, unless the state has another instance for this resource, or the program has other inputs by now"
          : "  first: pulumi up, which names an instance of this name, if there is one, but does not take it over, because the program chose the name"),
      !stateless &&
        isGiven &&
        "  first: pulumi up, which continues with the instance if the state has it",
      `  take it over by hand${where}: ${importCommand(record, id ?? "<id>")}`,
      id === undefined &&
        "  <id> is the id of the instance with this name in the service's listing",
      // An import may have taken the wrong instance.
      !stateless &&
        `  before that import, if the state has another instance for this resource: ${stateDeleteCommand(urn)}`,
      `  forget it, once you know that it left no running instance: ${discardCommand(key)}`,
    ];
    for (const line of lines) if (line) print(line);
  }
  if (pending.some(({ record }) => !record.stateless))
    print(`With \`pulumi state delete\`: ${withDependents}.`);
}

/** Forgets the creates with this key or URN. Returns whether all are forgotten. */
function discard(keyOrUrn: string, io: Terminal): boolean {
  // A key also selects a create that is not pending because its result was in a state. Its record stops the next create
  // if the delete of its instance would fail.
  const discarded = { stage: "settled", settled: "discarded" } as const;
  const matching = readCreates(io.env, io.warn).filter(
    (create) =>
      (create.record.key === keyOrUrn && isAllowedChange(create.record, discarded)) ||
      (create.record.urn === keyOrUrn && isOpen(create)),
  );
  if (matching.length === 0) {
    // What was typed may be a secret (G8).
    io.print(
      `There is no pending create with this key or URN. \`${ownCommand("discard")}\` lists the pending creates.`,
    );
    return false;
  }
  // Stacks of two backends may have a resource with the same URN.
  const here = matching.filter(({ isHere }) => isHere);
  if (here.length === 0 && new Set(matching.map(({ ledger }) => ledger)).size > 1) {
    io.warn(
      `Several state backends have a pending create for ${keyOrUrn}, and none of them is in use here. Set PULUMI_BACKEND_URL, or log in with \`pulumi login\`, and run \`discard\` again.`,
    );
    return false;
  }
  return (here.length > 0 ? here : matching).map((create) => forget(create, io)).every(Boolean);
}

function forget(recorded: RecordedCreate, { print, warn }: Terminal): boolean {
  const { ledger, record } = recorded;
  const { key, name, baseUrl, at, id } = record;
  const create = `the create of "${displayRecordedName(name)}" at ${baseUrl} (${at})`;
  if (isInFlight(recorded)) {
    warn(
      `Not forgotten: a run is busy with ${create}. Wait until the run has ended, and run \`discard\` again.`,
    );
    return false;
  }
  if (!ledger.settle(key, "discarded")) {
    warn(`Not forgotten: the record of ${create} could not be changed. Run \`discard\` again.`);
    return false;
  }
  const rest = id
    ? `, instance ${id}. If it still runs and is in no state, \`${ownCommand("audit")}\` lists it`
    : "";
  print(`Forgotten: ${create}, record ${key}${rest}.`);
  return true;
}
