/** What the create protocol gets: the spec of a create, and what the session knows when a listing or a record arrives. */
import type { Engine } from "../engine";
import { keyedFingerprint } from "../fingerprint";
import type { Evidence } from "../evidence/listing";
import type { InFile } from "../ledger/ledger";
import type { LedgerRecord } from "../ledger/record";
import type { Origin } from "../origin";
import { canonicalJson, hasSecret, reveal, type PropertyMap } from "../pulumi/propertyValue";
import type { Session } from "../session/session";
import { unpackedScript } from "../userData/cloudInit";
import { createBodyOf, parseInstanceArgs, type InstanceArgs } from "../instance/definition";
import { nameKind } from "../instance/naming";
import type { Claim, CreateSpec, Look, NameKind } from "./protocol";
import { inputsForService } from "../instance/userData";

/** How long a POST may continue after Ctrl-C or a time-out, so that its response can still bring the id (G1). */
export const graceMs = 10_000;

/** What a create asks for. */
export interface Asked {
  urn: string;
  inputs: PropertyMap;
  origin: Origin;
}

/** Returns the inputs as the service gets them, without their `Secret` wrappers. @throws OperationFailed if a text is missing */
export function argsOf(engine: Engine, inputs: PropertyMap): InstanceArgs {
  return parseInstanceArgs(reveal(inputsForService(engine, inputs)));
}

/** Returns the spec of a create. In a preview, `args` is undefined if some input is not known yet. */
export function specOf(
  session: Session,
  { urn, inputs, origin }: Asked,
  args: InstanceArgs | undefined,
): CreateSpec {
  const { settings, options, engine, addressName } = session;
  const kind = nameKind(inputs);
  const { before } = engine.resource(urn);
  const revealed = reveal(inputs["name"] ?? null);
  const name = typeof revealed === "string" ? revealed : "";
  return {
    identity: {
      ...origin,
      session: session.id,
      scope: engine.kind === "stateless" ? undefined : options.scope,
      urn,
      provider: options.providerUrn,
      name: hasSecret(inputs["name"]) ? undefined : name,
      kind,
      digest: args ? digestOf(settings.apiToken, args, kind) : "",
    },
    name,
    flavor: args?.flavorId ?? "",
    addressName,
    leftovers: settings.leftovers,
    guardsLeftovers: settings.guardsLeftovers,
    replaces: before?.id,
    known: new Set(before?.known),
    letsRun: settings.leftovers === "warn" && options.variables.leftovers !== undefined,
    deleteFails: settings.deletePolicy === "fail",
    settlingMs: settings.settlingMs,
    pollIntervalMs: settings.pollIntervalMs,
    patienceMs: graceMs + settings.settlingMs,
  };
}

/**
 * Returns a digest of the request, by which later runs see whether the program still asks for the same instance. It is
 * keyed with the token, since the user data may be secret. A name that the program did not choose is left out, because
 * it differs from run to run.
 */
function digestOf(apiToken: string, args: InstanceArgs, kind: NameKind): string {
  const { name, ssh_keys, user_data = "", ...rest } = createBodyOf(args);
  const request = {
    ...rest,
    user_data: unpackedScript(Buffer.from(user_data, "base64")).toString("base64"),
    ssh_keys: [...(ssh_keys ?? [])].sort(),
    name: kind === "explicit" ? name : null,
  };
  return keyedFingerprint(apiToken, canonicalJson(request), 32);
}

/** Returns what the file of a resource says, with the clock time from which on each listing shows the instance of its POST. */
export function claimOf(session: Session, found: InFile): Exclude<Claim, { kind: "made" }> {
  if (found.kind === "unreadable") return found;
  const { at } = found.record;
  // The file may have the time before the POST, which may have taken as long as the time-out of a request.
  const postMs = session.settings.requestTimeoutMs;
  return { ...found, listedBy: at === undefined ? 0 : session.settledBy(at) + postMs };
}

/** Returns a listing together with what the session knows now, and in a search for `record`, what the ledger knows, too. */
export function lookOf(session: Session, listing: Evidence, record?: LedgerRecord): Look {
  const { engine, state, ledger, listings, connection } = session;
  const look = { listing, ours: engine.ours, shown: state.shown };
  if (record === undefined) return look;
  const { id = "", urn } = record;
  const vouchers = state.vouchersOf({ id, origin: record }, connection.origin());
  const { withoutOurs } = listings;
  return { ...look, recorded: ledger.idsOfOthers(urn), vouchers, withoutOurs };
}
