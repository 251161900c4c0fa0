/**
 * The Diff call of an Instance. No input can be changed in place, so each change replaces the instance, unless the state
 * does not have the input: an import could not read it, or it was too large (G5). A replacement whose Delete would fail is
 * refused (G4).
 */
import { isUtf8 } from "node:buffer";
import { isDeepStrictEqual } from "node:util";
import { explain, stateDeleteCommand } from "../advice";
import { RequestError } from "../api/errors";
import { OperationFailed } from "../errors";
import { originFromState, stampOf, type Origin } from "../origin";
import { hasUnknown, isList, reveal, type PropertyMap } from "../propertyValue";
import type { DiffKind } from "../pulumiNames";
import type { DiffRequest, DiffResponse } from "../requests";
import { timeouts, type Session } from "../session/session";
import { inputNames, scriptInputs, type InputName } from "./definition";
import { describeExistence, describeRetained } from "./delete";
import {
  differenceFrom,
  existenceOf,
  knownInstanceOf,
  refuseElsewhere,
  type Existence,
} from "./existence";
import { isUnread, listedName, wasRenamedFrom } from "./state";
import { readUserData } from "./userData";

/**
 * Compares old and new inputs.
 *
 * @throws OperationFailed for a replacement whose Delete would fail or may fail, for any change without a stack, for an
 *   input to record of an instance out of reach, and if the token is refused. Canceled or TimedOut if the operation ends
 *   first.
 */
export async function diffInstance(session: Session, request: DiffRequest): Promise<DiffResponse> {
  const { urn, id, oldOutputs, news } = request;
  const { deletePolicy } = session.settings;
  const changed = changedInputs(request);
  if (session.run.stateless) refuseChangeWithoutStack(id, changed);
  // The engine calls Diff at two more times. During a refresh, nothing is replaced. After the Read of an import (the outputs
  // then have this session's stamp), the engine itself refuses a replacement.
  const isUpdate = session.state.inUpdate.has(urn) && stampOf(oldOutputs) !== session.id;
  const replacing = replacedInputs(changed);
  if (isUpdate && replacing.length > 0) {
    const isCertain = replacing.some((name) => !mayBeUnchanged(name, news));
    const advice = renameAdvice(request, replacing);
    if (isCertain) await refuseStuckReplacement(session, request, advice);
    const warning = replacementWarning(session, request, isCertain);
    for (const message of [warning, deletePolicy === "fail" ? undefined : advice]) {
      if (message !== undefined) session.ctx.messages.warning(message, urn);
    }
  } else if (isUpdate) {
    // An Update that records inputs of an instance out of reach would fail.
    if (assertedInputs(changed).length > 0)
      refuseElsewhere(id, originFromState(oldOutputs), session.connection.place());
    else warnIfOutOfReach(session, request);
  }
  // If only outputs changed, the engine shows a change only if the refresh's Diff names them.
  const drift = session.state.inUpdate.has(urn) ? [] : session.state.takeDrift(id);
  // A Delete that may fail must come before the create, so that no second server is created (G4).
  return { detailed: changed, drift, deleteBeforeReplace: deletePolicy === "fail" };
}

/**
 * Refuses a change by `pulumi do` without a stack: the engine would call Update, which changes nothing.
 *
 * @throws OperationFailed if an input changed
 */
function refuseChangeWithoutStack(id: string, changed: ChangedInputs): void {
  const replaced = replacedInputs(changed).join(", ");
  const asserted = assertedInputs(changed).join(", ");
  const reasons = [
    replaced &&
      `${replaced} can't be changed, because the service has no call to change an instance`,
    asserted &&
      `whether ${asserted} would change can't be told, because the service does not show it`,
  ].filter(Boolean);
  if (reasons.length === 0) return;
  throw new OperationFailed(
    `instance ${id} exists and was not changed: ${reasons.join("; ")}. Create another instance, or manage the instance in a stack, which replaces it when an input changes`,
  );
}

/** @param isCertain whether the replacement depends on no value that is not known yet */
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
      // `refuseStuckReplacement` has let a certain replacement pass, so the instance is gone already.
      return isCertain
        ? undefined
        : `replacing instance ${id} will fail, before a second server is created, for as long as ${id} exists, because the service documents no call to destroy it. Whether ${id} is replaced depends on values that are not known yet. If it is replaced, remove it at the service first. See also compute:deletePolicy (the resource option retainOnDelete needs "retain" there) and compute:destroyPath`;
  }
}

/** Returns how to avoid a replacement whose only cause is a rename at the service. */
function renameAdvice(
  { id, oldOutputs, news }: DiffRequest,
  replacing: readonly InputName[],
): string | undefined {
  const isRename = replacing.join() === "name" && wasRenamedFrom(oldOutputs, news["name"]);
  return isRename
    ? `instance ${id} is replaced only because it was renamed at the service. To keep it, rename it back there and run \`pulumi refresh\`, put its new name into the program, or set the resource option \`ignoreChanges: ["name"]\``
    : undefined;
}

// ── Which inputs changed ─────────────────────────────────────────────────────────────────────────

type ChangedInputs = Partial<Record<InputName, DiffKind>>;
type Sides = Pick<DiffRequest, "oldInputs" | "oldOutputs" | "news">;

/** Returns the inputs that changed, and how. An "add" only changes the state. Every other change replaces the instance. */
export function changedInputs(sides: Sides): ChangedInputs {
  const { oldInputs, news } = sides;
  const isSameScript =
    !scriptInputs.some((name) => hasUnknown(news[name])) &&
    isDeepStrictEqual(scriptOf(oldInputs), scriptOf(news));
  const changed: ChangedInputs = {};
  for (const name of inputNames) {
    const kind = isSameScript && isScript(name) ? undefined : changeOf(name, sides);
    if (kind) changed[name] = kind;
  }
  return changed;
}

/** Returns the inputs whose change replaces the instance. */
export function replacedInputs(changed: ChangedInputs): InputName[] {
  return inputNames.filter((name) => changed[name]?.endsWith("-replace"));
}

/** Returns the inputs that the state does not have (`isUnread`) and that the program now asserts. The instance stays. */
export function assertedInputs(changed: ChangedInputs): InputName[] {
  return inputNames.filter((name) => changed[name] === "add");
}

function isScript(name: InputName): boolean {
  return (scriptInputs as readonly InputName[]).includes(name);
}

/** Whether the input may turn out to be unchanged. The script has two inputs, and is sure to have changed only if both are known. */
function mayBeUnchanged(name: InputName, news: PropertyMap): boolean {
  return (isScript(name) ? scriptInputs : [name]).some((input) => hasUnknown(news[input]));
}

/** Returns how one input changed, or undefined if it did not change. */
function changeOf(name: InputName, { oldInputs, oldOutputs, news }: Sides): DiffKind | undefined {
  const before = comparable(name, oldInputs);
  const after = comparable(name, news);
  if (before === undefined && after === undefined) return undefined;
  if (before === undefined) return isUnread(name, oldOutputs) ? "add" : "add-replace";
  if (after === undefined) return "delete-replace";
  // The service may list another name than was requested. A program that now gives the listed name changes nothing.
  if (name === "name" && after === listedName(oldOutputs)) return undefined;
  if (!isDeepStrictEqual(before, after)) return "update-replace";
  // The engine writes the inputs of an import file to the inputs in the state, but not to the outputs.
  return isUnread(name, oldOutputs) ? "add" : undefined;
}

/**
 * Returns the value for a comparison: without its secrecy, and a list as a set, since the order of SSH keys does not
 * matter. Undefined for null and an empty list, which are not sent to the service.
 */
function comparable(name: InputName, inputs: PropertyMap): unknown {
  const value = reveal(inputs[name] ?? null);
  if (!isList(value)) return value ?? undefined;
  return value.length > 0 ? new Set(value) : undefined;
}

/** Returns the bytes of the script. UTF-8 text gets Unix line endings. */
function scriptOf(inputs: PropertyMap): Buffer | undefined {
  const bytes = readUserData(inputs)?.bytes;
  return bytes && isUtf8(bytes)
    ? Buffer.from(bytes.toString("utf8").replaceAll("\r\n", "\n"), "utf8")
    : bytes;
}

// ── A replacement whose Delete would fail ────────────────────────────────────────────────────────

/**
 * Lets the preview fail before a second server is created, and before a dependent resource is removed.
 *
 * @throws OperationFailed if the Delete would fail or may fail
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
    // The first step of the replacement changes nothing, and fails if the account still can't be read.
    if (deletePolicy === "destroy") return;
    // The listing failed, so the instance may exist.
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

/** Warns of an instance out of reach, which an `up` without a change would not notice, since it sends no request. */
function warnIfOutOfReach(session: Session, { id, urn, oldOutputs }: DiffRequest): void {
  const difference = differenceFrom(originFromState(oldOutputs), session.connection.place());
  if (!difference) return;
  const message = `instance ${id} is out of reach of this configuration: ${difference}. It stays as it is in the state, but a refresh, a replacement or a delete with this configuration fails. Run again with the configuration that the instance was created with`;
  session.warnOnce("out of reach", message, urn);
}

/** @throws OperationFailed if the state names another service, token kind or account than the configuration. */
function refuseOutOfReach({ id, urn, oldOutputs }: DiffRequest, now: Origin): void {
  const difference = differenceFrom(originFromState(oldOutputs), now);
  if (!difference) return;
  throw new OperationFailed([
    `instance ${id} can't be replaced with this configuration: ${difference}. Nothing was changed. Ways out:`,
    "  - run again with the configuration that the instance was created with",
    `  - let it run, and drop it from the state: \`${stateDeleteCommand(urn)}\`; the next run then creates a new instance here`,
  ]);
}
