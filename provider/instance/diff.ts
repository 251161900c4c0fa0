/**
 * Diff: which inputs changed (G5). No input can be changed in place, so each change replaces the instance.
 * What a replacement would leave behind is said, and a replacement whose Delete would fail is refused,
 * before it happens (G4).
 */
import { isUtf8 } from "node:buffer";
import { isDeepStrictEqual } from "node:util";
import { explain, stateDeleteCommand } from "../advice";
import { RequestError } from "../api/errors";
import { OperationFailed } from "../errors";
import { originDifference, originFromState, type Origin } from "../origin";
import { hasUnknown, isList, reveal, type PropertyMap, type PropertyValue } from "../propertyValue";
import type { DiffKind, DiffRequest, DiffResponse } from "../requests";
import { timeouts, type Session } from "../session/session";
import { stampOf } from "../origin";
import { inputNames, traitsOf, userDataBytes, type InputName } from "./definition";
import { describeExistence, describeRetained } from "./delete";
import { existenceOf, knownInstanceOf, type Existence } from "./existence";
import { listedName } from "./state";

/** @throws OperationFailed for a replacement whose Delete would fail, with the ways out. */
export async function diffInstance(session: Session, request: DiffRequest): Promise<DiffResponse> {
  const detailed = changedInputs(request);
  const { deletePolicy } = session.settings;
  const replacing = replacedInputs(detailed);
  if (isOfUpdate(session, request) && replacing.length > 0) {
    const isSure = replacing.some((name) => !isUnsure(name, request.news));
    if (isSure) await refuseStuckReplacement(session, request);
    const warning = replacementWarning(session, request, isSure);
    if (warning) session.ctx.messages.warning(warning, request.urn);
  }
  // G4: a Delete that may fail comes first, so that no second server is made.
  return { detailed, deleteBeforeReplace: deletePolicy === "fail" };
}

/**
 * The engine also asks during a refresh, which replaces nothing, and after the Read of an import, where it
 * refuses a replacement itself.
 */
function isOfUpdate(session: Session, { urn, oldOutputs }: DiffRequest): boolean {
  return session.state.isInUpdate(urn) && stampOf(oldOutputs) !== session.id;
}

function replacementWarning(
  { settings: { deletePolicy, tokenKind } }: Session,
  { id, oldOutputs }: DiffRequest,
  isSure: boolean,
): string | undefined {
  switch (deletePolicy) {
    case "destroy":
      return undefined;
    case "retain":
      return `replacing instance ${id} leaves it behind (compute:deletePolicy is "retain"): ${describeRetained(oldOutputs, tokenKind)}`;
    case "fail":
      // A sure replacement that was not refused: the instance is gone already.
      return isSure
        ? undefined
        : `replacing instance ${id} will fail, before a second server is made, for as long as ${id} exists: the service documents no call to destroy it. Whether it is replaced depends on values that are not known yet. If it is: remove it at the service first; see also compute:deletePolicy (the resource option retainOnDelete wants it to be "retain") and compute:destroyPath`;
  }
}

// ── Which inputs changed ─────────────────────────────────────────────────────────────────────────

type ChangedInputs = Partial<Record<InputName, DiffKind>>;
type Sides = Pick<DiffRequest, "oldInputs" | "oldOutputs" | "news">;

/** The inputs that changed, and how: an "add" is recorded in place, all others replace the instance. */
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

/** The inputs whose change replaces the instance. */
export function replacedInputs(changed: ChangedInputs): InputName[] {
  return inputNames.filter((name) => changed[name]?.endsWith("-replace"));
}

/**
 * The inputs that an import could not know and the program now claims: recorded in place. A created
 * instance has every input in its outputs, null if unset; an imported one lacks the key.
 */
export function assertedInputs(changed: ChangedInputs): InputName[] {
  return inputNames.filter((name) => changed[name] === "add");
}

/** Whether the change may turn out to be none. The script has two forms: both must be known. */
function isUnsure(name: InputName, news: PropertyMap): boolean {
  const isScript = traitsOf(name).comparison === "bytes";
  const sources = isScript ? (["userData", "userDataBase64"] as const) : [name];
  return sources.some((source) => hasUnknown(news[source]));
}

function changeOf(name: InputName, { oldInputs, oldOutputs, news }: Sides): DiffKind | undefined {
  const before = plain(oldInputs[name]);
  const after = plain(news[name]);
  if (before === undefined && after === undefined) return undefined;
  if (before === undefined) return name in oldOutputs ? "add-replace" : "add";
  if (after === undefined) return "delete-replace";
  if (hasUnknown(after)) return "update-replace";
  // An instance that was taken over has the name that the list shows, not the one asked for before.
  if (name === "name" && after === listedName(oldOutputs)) return undefined;
  const isSame =
    traitsOf(name).comparison === "set"
      ? isDeepStrictEqual(asSet(before), asSet(after))
      : isDeepStrictEqual(before, after);
  return isSame ? undefined : "update-replace";
}

/** A null is an input left out, and so is an empty list: the service is told of neither. */
function plain(value: PropertyValue | undefined): PropertyValue | undefined {
  if (value === undefined) return undefined;
  const revealed = reveal(value);
  const empty = revealed === null || (isList(revealed) && revealed.length === 0);
  return empty ? undefined : revealed;
}

function asSet(value: PropertyValue): unknown {
  return isList(value) ? new Set(value) : value;
}

/** Whether the scripts are known and equal. */
function hasSameUserData(olds: PropertyMap, news: PropertyMap): boolean {
  if (hasUnknown(news["userData"]) || hasUnknown(news["userDataBase64"])) return false;
  const before = scriptOf(olds);
  const after = scriptOf(news);
  if (before === undefined || after === undefined) return before === after;
  return before.equals(after);
}

/** The bytes of the script, for text with the line endings of Unix; undefined if there is none. */
function scriptOf(inputs: PropertyMap): Buffer | undefined {
  const text = (value: PropertyValue | undefined) =>
    typeof value === "string" ? value : undefined;
  const bytes = userDataBytes({
    userData: text(plain(inputs["userData"])),
    userDataBase64: text(plain(inputs["userDataBase64"])),
  });
  if (!bytes?.length) return undefined;
  return isUtf8(bytes)
    ? Buffer.from(bytes.toString("utf8").replaceAll("\r\n", "\n"), "utf8")
    : bytes;
}

// ── A replacement whose Delete would fail ────────────────────────────────────────────────────────

/** Then the preview fails, and neither is a second server made nor a dependent removed first (G4). */
async function refuseStuckReplacement(session: Session, request: DiffRequest): Promise<void> {
  const { id, oldOutputs } = request;
  const { deletePolicy } = session.settings;
  refuseOutOfReach(request, session.connection.place());
  if (deletePolicy === "retain") return;
  // With "destroy" the service is asked only for an account to compare with.
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
    // Create asks for the account as well, before it sends anything.
    if (deletePolicy === "destroy") return;
    existence = { kind: "unproven", doubt: "listing", why: explain(error) };
  }
  if (existence.kind === "gone") return;
  throw new OperationFailed([
    `replacing instance ${id} will fail, before a second server is made: ${describeExistence(session, request, existence)}, and the service documents no call to destroy it. Nothing was changed. Ways out:`,
    "  - remove it at the service (its portal), then run this again: the new one is created once it is gone",
    "  - let it run, and have the new one created beside it: `pulumi config set compute:deletePolicy retain` (the resource option retainOnDelete wants that setting, too: the provider is not told of the option)",
    "  - if the service has a destroy call: `pulumi config set compute:destroyPath '/v2/instances/{id}'`",
    "  - take the change back in the program, or name the property in the resource option ignoreChanges",
  ]);
}

function refuseOutOfReach({ id, urn, oldOutputs }: DiffRequest, now: Origin): void {
  const recordedOrigin = originFromState(oldOutputs);
  const difference = recordedOrigin && originDifference(recordedOrigin, now);
  if (!difference) return;
  throw new OperationFailed([
    `instance ${id} can't be replaced with this configuration: ${difference}. Nothing was changed. Ways out:`,
    "  - run again with the configuration it was made with",
    `  - let it run, and drop it from the state: \`${stateDeleteCommand(urn)}\`; the next run then creates one here`,
  ]);
}
