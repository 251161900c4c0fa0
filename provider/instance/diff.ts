/**
 * The Diff call of an Instance. The service has no update call, so a change of what it got replaces the instance, unless the
 * state does not have the input: an import could not read it, or it was too large (G5). A replacement whose Delete would
 * fail is refused (G4), and so is one for which there is no user data.
 */
import { isDeepStrictEqual } from "node:util";
import { pageAt, withWaysOut } from "../advice";
import { logicalName } from "../urn";
import { RequestError } from "../api/errors";
import { OperationFailed } from "../errors";
import { isNamed, isSameName } from "../evidence/witness";
import { originDifference } from "../origin";
import { hasSecret, hasUnknown, isList, reveal, type PropertyMap } from "../propertyValue";
import type { DiffKind } from "../pulumiNames";
import type { DiffRequest, DiffResponse } from "../calls";
import type { DiffOccasion } from "../engineRun";
import { timeouts, type Session } from "../session/session";
import { idInputs, inputNames, isScript, isSent, scriptInputs, type InputName } from "./definition";
import { isBilled, lookFor, refuseElsewhere } from "./existence";
import { heldBy, type Instance } from "./instance";
import { findingOf, noCall, refusal, wayIntoReach, waysToReplace } from "./refusals";
import { forgetText, isSameUserData, lacksText, readUserData } from "./userData";

/**
 * Compares old and new inputs.
 *
 * @throws OperationFailed for a replacement whose Delete would fail or may fail, or for which there is no user data, for any
 *   change without a stack, for an input to record of an instance out of reach, and if the token is refused. Canceled or
 *   TimedOut if the operation ends first.
 */
export async function diffInstance(
  session: Session,
  request: DiffRequest,
  occasion: DiffOccasion,
): Promise<DiffResponse> {
  const { urn, id, news } = request;
  const { connection, engine, settings } = session;
  const instance = heldBy(request);
  const changed = changedInputs(instance, news);
  const { detailed, replaced, asserted } = changed;
  const isTextMissing = lacksText(session, news);
  // Before the create of a replacement, the engine calls Check once more.
  forgetText(session, news);
  const isChanged = replaced.length + asserted.length + changed.recorded.length > 0;
  if (engine.kind === "stateless" && isChanged)
    throw new OperationFailed(
      `instance ${id} exists and was not changed: the service has no call to change an instance, and no stack records what only the program knows. Create another one, or manage it in a stack, which replaces it`,
    );
  if (replaced.length > 0) engine.giveUp(urn);
  // In a refresh nothing is replaced, and the engine itself refuses an import that would replace.
  if (occasion === "program" || occasion === "dependent") {
    const difference = originDifference(instance.origin, connection.origin(), session.addressName);
    if (replaced.length > 0) {
      const isSure = isCertain(replaced, news);
      if (isTextMissing && isSure) refuseWithoutText(id, replaced);
      const why = occasion === "dependent" ? "dependent" : isSure ? "changed" : "unknown";
      await judgeReplacement(session, request, why);
    } else if (asserted.length > 0) {
      // An Update that records inputs of an instance out of reach would fail.
      refuseElsewhere(session, instance, connection.origin());
    } else if (instance.origin && difference) {
      // An `up` without a change sends no request, so it would not notice.
      const { way } = wayIntoReach(session.run, instance.origin, connection.origin());
      const message = `instance ${id} is out of reach: ${difference}. It stays in the state, but can't be refreshed, replaced or deleted like this; ${way}`;
      session.notices.warnOnce("out of reach", message, urn);
    }
  }
  // If only outputs changed, the engine shows a change only if the refresh's Diff names them.
  const drift = occasion === "refresh" ? engine.resource(urn).drift : [];
  // A Delete that may fail must come before the create, so that no second server is created (G4).
  const deleteBeforeReplace = settings.deletePolicy === "fail";
  return { detailed, drift, needsUpdate: changed.recorded.length > 0, deleteBeforeReplace };
}

// ── Which inputs changed ─────────────────────────────────────────────────────────────────────────

/** The inputs that changed. */
interface ChangedInputs {
  /**
   * How each of them changed, without those of a script of which only the form changes. If a property is named, the option
   * `replaceOnChanges` makes the engine replace the instance.
   */
  detailed: Partial<Record<InputName, DiffKind>>;
  /** Those whose change replaces the instance. */
  replaced: InputName[];
  /** Those that the state does not have (`isUnread`) and that the program now asserts. The instance stays. */
  asserted: InputName[];
  /**
   * Those of which only the state changes: inputs that the service does not get, a flavor that the instance has already, inputs
   * that have become secret, and those for the script, if the state has the same script, but in the other input, or as text
   * instead of a hash, or the other way round (`compute:userDataInState`).
   */
  recorded: InputName[];
}

/** Compares the old and the new inputs. */
export function changedInputs(before: Instance, news: PropertyMap): ChangedInputs {
  const isSameScript =
    !scriptInputs.some((name) => hasUnknown(news[name])) && isSameUserData(before.inputs, news);
  const becomesSecret = (name: InputName) =>
    hasSecret(news[name]) && !hasSecret(before.outputs[name]);
  const changed: ChangedInputs = { detailed: {}, replaced: [], asserted: [], recorded: [] };
  for (const name of inputNames) {
    const kind = isSameScript && isScript(name) ? undefined : changeOf(name, before, news);
    if (!kind) {
      if (!isScript(name) && becomesSecret(name)) changed.recorded.push(name);
      continue;
    }
    changed.detailed[name] = kind;
    const group = kind === "add" ? "asserted" : "replaced";
    changed[isInPlace(name, before, news) ? "recorded" : group].push(name);
  }
  const script = readUserData(news);
  const isInOtherForm = [before.inputs, before.outputs]
    .map(readUserData)
    .some((held) => held && (held.form !== script?.form || held.input !== script.input));
  const isRecorded = isInOtherForm || scriptInputs.some(becomesSecret);
  if (isSameScript && script && isRecorded && changed.replaced.length === 0)
    changed.recorded.push(...scriptInputs);
  return changed;
}

/** Returns how one input changed, or undefined if it did not change. */
function changeOf(name: InputName, held: Instance, news: PropertyMap): DiffKind | undefined {
  // If an Update fails, the engine keeps the inputs of the run before, and the outputs of this one.
  const before = comparable(name, isSent(name) ? held.inputs : held.outputs);
  const after = comparable(name, news);
  const suffix = isInPlace(name, held, news) ? "" : "-replace";
  if (before === undefined && after === undefined) return undefined;
  if (before === undefined) return held.isUnread(name) ? "add" : `add${suffix}`;
  if (after === undefined) return `delete${suffix}`;
  // A program that takes over the listed name, for example after a rename at the service, changes nothing. A service may write
  // a name in another case. After an import, the state has its spelling, also with a domain that it has added.
  if (name === "name" && typeof after === "string") {
    const isSame = held.isUnread("flavorId") ? isNamed : isSameName;
    const known = [held.name, typeof before === "string" ? before : undefined];
    if (known.some((spelling) => isSame(spelling, after))) return undefined;
  }
  if (!isDeepStrictEqual(before, after)) return `update${suffix}`;
  // The engine writes the inputs of an import file to the inputs in the state, but not to the outputs.
  return held.isUnread(name) ? "add" : undefined;
}

/** Whether a change of the input only changes the state: the service does not get it, or the instance has the flavor already. */
function isInPlace(name: InputName, held: Instance, news: PropertyMap): boolean {
  return name === "flavorId" ? held.hasFlavorFor(news) : !isSent(name);
}

/**
 * Returns the value for a comparison: without its secrecy, ids without white space around them, and SSH keys as a set, since their
 * order does not matter. Undefined for null and an empty list, which are not sent to the service.
 */
function comparable(name: InputName, inputs: PropertyMap): unknown {
  const value = reveal(inputs[name] ?? null);
  const plain = (part: unknown) =>
    idInputs.includes(name) && typeof part === "string" ? part.trim() : part;
  if (!isList(value)) return plain(value) ?? undefined;
  if (value.length === 0) return undefined;
  const items = value.map(plain);
  return name === "sshKeys" ? new Set(items) : items;
}

// ── Replacements ─────────────────────────────────────────────────────────────────────────────────

/**
 * Why the engine replaces an instance: an input has changed, or perhaps has, as it is not known yet, or the engine replaces
 * what the instance uses an output of.
 */
type ReplacementReason = "changed" | "unknown" | "dependent";

/**
 * Judges whether a replacement may go on.
 *
 * @throws OperationFailed if the replacement is certain, and its Delete would fail or may fail
 */
async function judgeReplacement(
  session: Session,
  request: DiffRequest,
  why: ReplacementReason,
): Promise<void> {
  const { id, urn } = request;
  if (why !== "unknown") await refuseStuckReplacement(session, request, why);
  const { deletePolicy } = session.settings;
  // A certain replacement was not refused, so the instance is gone already.
  if (deletePolicy === "fail" && why === "unknown")
    session.notices.warnOnce(
      "perhaps replaced",
      `whether instance ${id} is replaced depends on values that are not known yet. If it is, \`pulumi up\` refuses that for as long as it exists${noCall} (${pageAt("delete.md#a-replacement")})`,
      urn,
    );
}

/** Whether one of the inputs is sure to have changed: all inputs that decide that are known. */
function isCertain(replaced: readonly InputName[], news: PropertyMap): boolean {
  const decidingOn = (name: InputName): readonly InputName[] => {
    if (name === "flavorId") return ["flavorId", "fallbackFlavorIds"];
    return isScript(name) ? scriptInputs : [name];
  };
  return replaced.some((name) => !decidingOn(name).some((input) => hasUnknown(news[input])));
}

/**
 * Refuses a replacement for which the resource option ignoreChanges has put the old hash in place of the user data.
 *
 * @throws OperationFailed always
 */
function refuseWithoutText(id: string, replaced: readonly InputName[]): never {
  const names = replaced.join(", ");
  const ways = [
    "take userData and userDataBase64 out of ignoreChanges: the new instance then gets the script that the program gives",
    `undo the change of ${names} in the program, or name ${names} in ignoreChanges, too`,
  ];
  const refused = `instance ${id} can't be replaced with the script that it has, which ignoreChanges asks for: the state holds only a hash of it (compute:userDataInState "hash")`;
  throw new OperationFailed(withWaysOut(`${refused}. Nothing was changed`, ways));
}

/**
 * Lets the preview fail before a second server is created, and before a dependent resource is removed.
 *
 * @throws OperationFailed if the Delete would fail or may fail, RequestError if the listing fails
 */
async function refuseStuckReplacement(
  session: Session,
  request: DiffRequest,
  reason: Exclude<ReplacementReason, "unknown">,
): Promise<void> {
  const { deletePolicy } = session.settings;
  const { id, urn } = request;
  const instance = heldBy(request);
  refuseElsewhere(session, instance, session.connection.origin());
  if (deletePolicy === "destroy") await refuseOtherAccount(session, request);
  if (deletePolicy !== "fail") return;
  using operation = session.operation(timeouts.look, request);
  const { verdict } = await lookFor(session, instance, operation.signal);
  if (verdict.kind === "absent") return;
  // The engine shows this error at the other resource.
  const which =
    reason === "dependent"
      ? ` (${logicalName(urn)}, which uses an output of a resource that is replaced)`
      : "";
  throw refusal({
    id,
    what: `instance ${id}${which} can't be replaced`,
    ...findingOf(verdict, isBilled(session, instance), session),
    ways: waysToReplace(verdict),
    page: "delete.md#a-replacement",
  });
}

/**
 * Asks the service for the account, and compares it with the one in the state, if that has one.
 *
 * @throws OperationFailed if the instance is another account's
 */
async function refuseOtherAccount(session: Session, request: DiffRequest): Promise<void> {
  if (heldBy(request).origin?.account === undefined) return;
  using operation = session.operation(timeouts.look, request);
  try {
    const { origin } = await session.connection.open(operation.signal);
    refuseElsewhere(session, heldBy(request), origin);
  } catch (error) {
    // The first step of the replacement changes nothing, and fails if the account still can't be read.
    if (!(error instanceof RequestError)) throw error;
  }
}
