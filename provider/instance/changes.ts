/** Which inputs changed, and how. No input can be changed in place, so a change replaces. */
import { isUtf8 } from "node:buffer";
import { isDeepStrictEqual } from "node:util";
import { hasUnknown, isList, reveal, type PropertyMap, type PropertyValue } from "../propertyValue";
import type { DiffKind, DiffRequest } from "../requests";
import { inputNames, traitsOf, userDataBytes, type InputName } from "./definition";
import { listedName } from "./state";

type Sides = Pick<DiffRequest, "oldInputs" | "oldOutputs" | "news">;

export function changedInputs(sides: Sides): Partial<Record<InputName, DiffKind>> {
  const sameScript = sameUserData(sides.oldInputs, sides.news);
  const detailed: Partial<Record<InputName, DiffKind>> = {};
  for (const name of inputNames) {
    if (traitsOf(name).comparison === "bytes" && sameScript) continue;
    const kind = changeOf(name, sides);
    if (kind) detailed[name] = kind;
  }
  return detailed;
}

export function replaces(detailed: Partial<Record<InputName, DiffKind>>): boolean {
  return Object.values(detailed).some((kind) => kind.endsWith("-replace"));
}

/** Whether it replaces whatever the values turn out to be that are not known yet. */
export function surelyReplaces(
  detailed: Partial<Record<InputName, DiffKind>>,
  news: PropertyMap,
): boolean {
  return inputNames.some(
    (name) => detailed[name]?.endsWith("-replace") === true && !isUnsure(name, news),
  );
}

/** There is one script, in one of two forms: neither is known before both are. */
function isUnsure(name: InputName, news: PropertyMap): boolean {
  const sources =
    traitsOf(name).comparison === "bytes" ? (["userData", "userDataBase64"] as const) : [name];
  return sources.some((source) => hasUnknown(news[source]));
}

/**
 * The inputs that an import could not know and the program now claims: recorded in place. A created
 * instance has every input in its outputs, null where unset; an imported one lacks the key.
 */
export function assertedInputs(detailed: Partial<Record<InputName, DiffKind>>): InputName[] {
  return inputNames.filter((name) => detailed[name] === "add");
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
  const same =
    traitsOf(name).comparison === "set"
      ? isDeepStrictEqual(asSet(before), asSet(after))
      : isDeepStrictEqual(before, after);
  return same ? undefined : "update-replace";
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

function sameUserData(olds: PropertyMap, news: PropertyMap): boolean {
  if (hasUnknown(news["userData"]) || hasUnknown(news["userDataBase64"])) return false;
  const before = scriptOf(olds);
  const after = scriptOf(news);
  if (before === undefined || after === undefined) return before === after;
  return before.equals(after);
}

/** The script's bytes; if they are text, with the line endings of Unix. Undefined: none is sent. */
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
