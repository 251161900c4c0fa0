/** The creates in doubt in the ledgers on this machine, as the commands see them. */
import { randomBytes } from "node:crypto";
import { settleCommand } from "../provider/advice";
import type { Accepted } from "../provider/api/contract";
import { systemClock } from "../provider/clock";
import { ledgerFolder, ledgerFolders } from "../provider/ledger/folder";
import { Ledger } from "../provider/ledger/ledger";
import type { Found, Liveness } from "../provider/ledger/record";
import type { Origin } from "../provider/origin";

/** A create in one of the ledgers on this machine, and that ledger, which has the creates of one state backend. */
export interface RecordedCreate extends Found {
  ledger: Ledger;
  /** Whether the create was started with the state backend that is in use now. */
  isHere: boolean;
}

type Warn = (message: string) => void;

/** Reads the creates of all state backends that are in doubt, also those of runs that are under way. */
export function readCreates(env: NodeJS.ProcessEnv, warn: Warn): RecordedCreate[] {
  const here = ledgerFolder(env);
  return ledgerFolders(env).flatMap((folder) => {
    const session = randomBytes(6).toString("hex");
    const ledger = new Ledger({ folder, session, warn, clock: systemClock });
    const sent = ledger.all().filter(({ record }) => record.at !== undefined);
    return sent.map((found) => ({ ...found, ledger, isHere: folder === here }));
  });
}

/** A resource whose file in this state backend's ledger can't be read. */
export interface UnreadableCreate {
  readonly urn: string;
  readonly path: string;
}

/** Returns those of the resources with these URNs. */
export function unreadableCreates(
  env: NodeJS.ProcessEnv,
  urns: Iterable<string>,
): UnreadableCreate[] {
  const options = { folder: ledgerFolder(env), session: "reader", clock: systemClock };
  const ledger = new Ledger({ ...options, warn: () => undefined });
  return [...new Set(urns)].flatMap((urn) => {
    const file = ledger.find(urn);
    return file?.kind === "unreadable" ? [{ urn, path: file.path }] : [];
  });
}

/** Says what to do about creates of this stack, or of any. A clause. */
export function settleAdvice(stack?: string): string {
  const options = stack === undefined ? [] : ["--stack", stack];
  return `\`${settleCommand(...options)}\` in the folder of its project puts it right`;
}

/** A create on this machine whose instance may be in no state. */
export interface CreateInDoubt {
  readonly urn: string;
  /** The id of the provider resource. */
  readonly scope: string | undefined;
  readonly place: Origin;
  /** Undefined if the program made it a secret. */
  readonly name: string | undefined;
  readonly isGenerated: boolean;
  /** The ids of the instances that had this name before the POST. */
  readonly before: ReadonlySet<string>;
  /** When the POST was about to be sent, or ended (ISO 8601). */
  readonly at: string;
  readonly id: string | undefined;
  /** The flavor that the POST asked for. */
  readonly flavor: string | undefined;
  /** What only the answer to the POST shows. */
  readonly accepted: Pick<Accepted, "createdAt" | "networks"> | undefined;
  /** The session that made it, whose stamp its instance gets. */
  readonly session: string;
  /** Whether that session is alive. */
  readonly liveness: Liveness;
  /** As in `RecordedCreate`. */
  readonly isHere: boolean;
  /** Ends the doubt: the file goes. Returns whether it has. */
  readonly settle: () => boolean;
}

/** Reads them from all ledgers on this machine. */
export function readCreatesInDoubt(env: NodeJS.ProcessEnv, warn: Warn): CreateInDoubt[] {
  return readCreates(env, warn).map(createInDoubt);
}

/** Returns what the commands need to know of a create. */
export function createInDoubt({ record, liveness, ledger, isHere }: RecordedCreate): CreateInDoubt {
  const { urn, scope, name, kind, before, flavor, at = "", id, accepted, session } = record;
  const { baseUrl, tokenKind, tokenHash, account } = record;
  return {
    urn,
    scope,
    place: { baseUrl, tokenKind, tokenHash, account },
    name,
    isGenerated: kind === "generated",
    before: new Set(before),
    at,
    id,
    flavor,
    accepted,
    session,
    liveness,
    isHere,
    settle: () => ledger.forget(record),
  };
}
