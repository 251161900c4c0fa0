/**
 * The Diff call of an Instance. It reports which inputs changed, before anything is done ("a change is
 * shown before it happens", G5). No input can be changed in place, so each change replaces the instance,
 * unless the input is one that an import could not read. Diff also warns of what a replacement would leave
 * behind, and refuses a replacement whose Delete would fail ("Delete tells the truth", G4).
 */
import { isUtf8 } from "node:buffer";
import { isDeepStrictEqual } from "node:util";
import { explain, stateDeleteCommand } from "../advice";
import { RequestError } from "../api/errors";
import { OperationFailed } from "../errors";
import { originDifference, originFromState, type Origin, stampOf } from "../origin";
import { hasUnknown, isList, reveal, type PropertyMap, type PropertyValue } from "../propertyValue";
import type { DiffKind, DiffRequest, DiffResponse } from "../requests";
import { timeouts, type Session } from "../session/session";
import { inputNames, traitsOf, userDataBytes, type InputName } from "./definition";
import { describeExistence, describeRetained } from "./delete";
import { existenceOf, knownInstanceOf, refuseElsewhere, type Existence } from "./existence";
import { isUnread, listedName, wasRenamedFrom } from "./state";

/**
 * Compares old and new inputs.
 *
 * @throws OperationFailed for a replacement whose Delete would fail or may fail, for any change without a stack (the
 *   message names the ways out), and if the token is refused. Canceled or TimedOut if the operation ends first.
 */
export async function diffInstance(session: Session, request: DiffRequest): Promise<DiffResponse> {
  const changed = changedInputs(request);
  const { deletePolicy } = session.settings;
  const replacingInputs = replacedInputs(changed);
  if (session.run.stateless) refuseChangeWithoutStack(request.id, changed);
  if (isOfUpdate(session, request) && replacingInputs.length > 0) {
    const isCertain = replacingInputs.some((name) => !mayBeUnchanged(name, request.news));
    const advice = renameAdvice(request, replacingInputs);
    if (isCertain) await refuseStuckReplacement(session, request, advice);
    const warning = replacementWarning(session, request, isCertain);
    for (const message of [warning, deletePolicy === "fail" ? undefined : advice]) {
      if (message !== undefined) session.ctx.messages.warning(message, request.urn);
    }
  } else if (isOfUpdate(session, request)) {
    const { id, oldOutputs } = request;
    const origin = session.connection.place();
    // An Update that records inputs would fail.
    if (assertedInputs(changed).length > 0)
      refuseElsewhere(id, originFromState(oldOutputs), origin);
    else warnIfOutOfReach(session, request);
  }
  // The engine counts a change of an output alone as a change only if the Diff of the refresh names the output.
  const drift = session.state.inUpdate.has(request.urn) ? [] : session.state.takeDrift(request.id);
  // A Delete that may fail must come before the create, so that no second server is created (G4).
  return { detailed: changed, drift, deleteBeforeReplace: deletePolicy === "fail" };
}

/**
 * Whether the engine calls Diff to update the instance. The engine also calls Diff during a refresh, which
 * replaces nothing, and after the Read of an import, where the engine itself refuses a replacement.
 */
function isOfUpdate(session: Session, { urn, oldOutputs }: DiffRequest): boolean {
  return session.state.inUpdate.has(urn) && stampOf(oldOutputs) !== session.id;
}

/**
 * Refuses the change of `pulumi do … patch` and `upsert` without a stack. The engine then neither replaces the
 * instance nor keeps a state, but calls Update, which could change nothing.
 *
 * @throws OperationFailed if there is a change
 */
function refuseChangeWithoutStack(id: string, changed: ChangedInputs): void {
  const replaced = replacedInputs(changed).join(", ");
  const asserted = assertedInputs(changed).join(", ");
  const reasons = [
    replaced &&
      `${replaced} can't be changed, because the service has no call to change an instance`,
    asserted &&
      `whether ${asserted} would change can't be told, because the service does not show it`,
  ].filter((reason) => reason !== "");
  if (reasons.length === 0) return;
  throw new OperationFailed(
    `instance ${id} exists and was not changed: ${reasons.join("; ")}. Create another instance, or manage the instance in a stack, which replaces it when an input changes`,
  );
}

/**
 * Returns the warning for a replacement, or undefined if none is needed. `isCertain` says that the replacement does not
 * depend on values that are not known yet.
 */
function replacementWarning(
  { settings: { deletePolicy, tokenKind } }: Session,
  { id, oldOutputs }: DiffRequest,
  isCertain: boolean,
): string | undefined {
  switch (deletePolicy) {
    case "destroy":
      return undefined;
    case "retain":
      return `replacing instance ${id} leaves it behind (compute:deletePolicy is "retain"): ${describeRetained(oldOutputs, tokenKind)}`;
    case "fail":
      // A certain replacement was not refused, so the instance is gone already.
      return isCertain
        ? undefined
        : `replacing instance ${id} will fail, before a second server is created, for as long as ${id} exists, because the service documents no call to destroy it. Whether ${id} is replaced depends on values that are not known yet. If it is replaced, remove it at the service first. See also compute:deletePolicy (the resource option retainOnDelete needs "retain" there) and compute:destroyPath`;
  }
}

/** Returns how to avoid a replacement whose only cause is a rename at the service, or undefined for any other cause. */
function renameAdvice(
  { id, oldOutputs, news }: DiffRequest,
  replacingInputs: readonly InputName[],
): string | undefined {
  const isRename = replacingInputs.join() === "name" && wasRenamedFrom(oldOutputs, news["name"]);
  return isRename
    ? `instance ${id} is replaced only because it was renamed at the service. To keep it, rename it back there and run \`pulumi refresh\`, put its new name into the program, or set the resource option \`ignoreChanges: ["name"]\``
    : undefined;
}

// ── Which inputs changed ─────────────────────────────────────────────────────────────────────────

type ChangedInputs = Partial<Record<InputName, DiffKind>>;
type Sides = Pick<DiffRequest, "oldInputs" | "oldOutputs" | "news">;

/** Returns the inputs that changed, and how. An "add" only changes the state. Every other change replaces the instance. */
export function changedInputs(sides: Sides): ChangedInputs {
  const isSameScript = hasSameUserData(sides.oldInputs, sides.news);
  const changed: ChangedInputs = {};
  for (const name of inputNames) {
    if (traitsOf(name).comparison === "bytes" && isSameScript) continue;
    const kind = changeOf(name, sides);
    if (kind) changed[name] = kind;
  }
  return changed;
}

/** Returns the inputs whose change replaces the instance. */
export function replacedInputs(changed: ChangedInputs): InputName[] {
  return inputNames.filter((name) => changed[name]?.endsWith("-replace"));
}

/**
 * Returns the inputs that an import could not read and that the program now asserts. They are recorded in
 * the outputs, and the instance stays.
 */
export function assertedInputs(changed: ChangedInputs): InputName[] {
  return inputNames.filter((name) => changed[name] === "add");
}

/** Whether the input may turn out to be unchanged. The script has two inputs, and both must be known to be sure. */
function mayBeUnchanged(name: InputName, news: PropertyMap): boolean {
  const isScript = traitsOf(name).comparison === "bytes";
  const inputsToKnow = isScript ? (["userData", "userDataBase64"] as const) : [name];
  return inputsToKnow.some((input) => hasUnknown(news[input]));
}

/** Returns how one input changed, or undefined if it did not change. */
function changeOf(name: InputName, { oldInputs, oldOutputs, news }: Sides): DiffKind | undefined {
  const before = valueOrUndefined(oldInputs[name]);
  const after = valueOrUndefined(news[name]);
  if (before === undefined && after === undefined) return undefined;
  if (before === undefined) return isUnread(name, oldOutputs) ? "add" : "add-replace";
  if (after === undefined) return "delete-replace";
  if (hasUnknown(after)) return "update-replace";
  // The service may list another name than was requested. A program that now gives the listed name changes nothing.
  if (name === "name" && after === listedName(oldOutputs)) return undefined;
  const isSame =
    traitsOf(name).comparison === "set"
      ? isDeepStrictEqual(asSet(before), asSet(after))
      : isDeepStrictEqual(before, after);
  if (!isSame) return "update-replace";
  // The engine writes the inputs of an import file to the inputs in the state, but not to the outputs.
  return isUnread(name, oldOutputs) ? "add" : undefined;
}

/** Returns the value without its secrecy, or undefined for null and an empty list, since neither is sent to the service. */
function valueOrUndefined(value: PropertyValue | undefined): PropertyValue | undefined {
  if (value === undefined) return undefined;
  const revealed = reveal(value);
  const isEmpty = revealed === null || (isList(revealed) && revealed.length === 0);
  return isEmpty ? undefined : revealed;
}

/** Returns a list as a set, so that its order does not matter. */
function asSet(value: PropertyValue): unknown {
  return isList(value) ? new Set(value) : value;
}

/** Whether the old and the new script are known and equal, or neither side has a script. */
function hasSameUserData(olds: PropertyMap, news: PropertyMap): boolean {
  if (hasUnknown(news["userData"]) || hasUnknown(news["userDataBase64"])) return false;
  const before = scriptOf(olds);
  const after = scriptOf(news);
  if (before === undefined || after === undefined) return before === after;
  return before.equals(after);
}

/** Returns the bytes of the script, or undefined if there is none. UTF-8 text gets Unix line endings. */
function scriptOf(inputs: PropertyMap): Buffer | undefined {
  const stringOrUndefined = (value: PropertyValue | undefined) =>
    typeof value === "string" ? value : undefined;
  const bytes = userDataBytes({
    userData: stringOrUndefined(valueOrUndefined(inputs["userData"])),
    userDataBase64: stringOrUndefined(valueOrUndefined(inputs["userDataBase64"])),
  });
  if (!bytes?.length) return undefined;
  return isUtf8(bytes)
    ? Buffer.from(bytes.toString("utf8").replaceAll("\r\n", "\n"), "utf8")
    : bytes;
}

// ── A replacement whose Delete would fail ────────────────────────────────────────────────────────

/**
 * Refuses a replacement whose Delete would fail. The preview fails then, before a second server is created
 * and before a dependent resource is removed (G4).
 *
 * @throws OperationFailed if the Delete would fail or may fail, if the state names another service, token kind or account
 *   than the configuration, or if the token is refused.
 */
async function refuseStuckReplacement(
  session: Session,
  request: DiffRequest,
  advice = "undo the change in the program, or name the property in the resource option ignoreChanges",
): Promise<void> {
  const { id, oldOutputs } = request;
  const { deletePolicy } = session.settings;
  refuseOutOfReach(request, session.connection.place());
  if (deletePolicy === "retain") return;
  // With "destroy", the service is asked only for the account, to compare it with the one in the state.
  if (deletePolicy === "destroy" && originFromState(oldOutputs)?.account === undefined) return;
  using operation = session.operation(timeouts.look);
  let existence: Existence;
  try {
    const { origin } = await session.connection.open(operation.signal);
    refuseOutOfReach(request, origin);
    if (deletePolicy === "destroy") return;
    const known = knownInstanceOf(oldOutputs);
    ({ existence } = await existenceOf(session, id, known, operation.signal));
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    // The Create of the new instance comes first, and fails before its POST if the account still can't be read.
    if (deletePolicy === "destroy") return;
    existence = { kind: "unproven", doubt: "listing", why: explain(error) };
  }
  if (existence.kind === "gone") return;
  throw new OperationFailed([
    `replacing instance ${id} will fail, before a second server is created: ${describeExistence(session, request, existence)}, and the service documents no call to destroy it. Nothing was changed. Ways out:`,
    "  - remove it at the service (its portal), then run this again: the new instance is created once the old one is gone",
    "  - let it run, and have the new instance created beside it: `pulumi config set compute:deletePolicy retain` (the resource option retainOnDelete needs that setting, too, because the engine does not pass the option to the provider)",
    "  - if the service has a destroy call: `pulumi config set compute:destroyPath '/v2/instances/{id}'`",
    `  - ${advice}`,
  ]);
}

/** Says which other service, token kind or account than the configuration the state names. Undefined if it names none. */
function differenceFrom({ oldOutputs }: DiffRequest, now: Origin): string | undefined {
  const recordedOrigin = originFromState(oldOutputs);
  return recordedOrigin && originDifference(recordedOrigin, now);
}

/** Warns of an instance out of reach, which an `up` without a change would not notice, since it sends no request. */
function warnIfOutOfReach(session: Session, request: DiffRequest): void {
  const { id, urn } = request;
  const difference = differenceFrom(request, session.connection.place());
  if (!difference) return;
  const message = `instance ${id} is out of reach of this configuration: ${difference}. It stays as it is in the state, but a refresh, a replacement or a delete with this configuration fails. Run again with the configuration that the instance was created with`;
  session.warnOnce("out of reach", message, urn);
}

/** @throws OperationFailed if the state names another service, token kind or account than the configuration. */
function refuseOutOfReach(request: DiffRequest, now: Origin): void {
  const { id, urn } = request;
  const difference = differenceFrom(request, now);
  if (!difference) return;
  throw new OperationFailed([
    `instance ${id} can't be replaced with this configuration: ${difference}. Nothing was changed. Ways out:`,
    "  - run again with the configuration that the instance was created with",
    `  - let it run, and drop it from the state: \`${stateDeleteCommand(urn)}\`; the next run then creates a new instance here`,
  ]);
}
