/** The Check call of an Instance: reports all input errors at once (G9), fills in the name, and marks secrets (G8). */
import { closest } from "../closest";
import {
  hasUnknown,
  isList,
  propertyMap,
  reveal,
  Secret,
  Unknown,
  type PropertyMap,
  type PropertyValue,
} from "../propertyValue";
import type { CheckFailure, CheckRequest, CheckResponse } from "../calls";
import { numberAsText } from "../textTypes";
import {
  idInputs,
  inputNames,
  inputTypes,
  isRequired,
  isScript,
  scriptInputs,
  type InputName,
} from "./definition";
import { generatedKey, generatedName, proposedKey } from "./naming";
import { isSameUserData, isUserDataHash, readUserData } from "./userData";

/** The response, and what is wrong with inputs that the existing instance has: it is said, and stops no run. */
export interface Checked extends CheckResponse {
  findings: string[];
}

/**
 * Checks the inputs that the program gives. `scope`, the id of the provider resource, goes into a generated name. It is
 * empty before Configure, and undefined if it is not known yet.
 */
export function checkInstance(given: CheckRequest, scope: string | undefined): Checked {
  const request = { ...given, news: withIdsAsText(given.news) };
  const { news } = request;
  const errors = inputNames.flatMap((name) => validationErrors(name, request));
  const findings = errors.filter(({ isKept }) => isKept).map(({ reason }) => reason);
  const failures = [...unknownProperties(news), ...errors.filter(({ isKept }) => !isKept)];
  // A script that is not known yet may turn out to be null (G10).
  if (scriptInputs.every((name) => isGiven(news, name) && !hasUnknown(news[name]))) {
    const reason =
      "userData and userDataBase64 are both given, but an instance has only one script. Leave one of them out";
    failures.push({ property: "", reason });
  }
  const inputs: Record<string, PropertyValue | undefined> = {};
  for (const name of inputNames.filter((name) => isGiven(news, name))) {
    const value = news[name] ?? null;
    inputs[name] = isScript(name) && !(value instanceof Secret) ? new Secret(value) : value;
  }
  if (isGiven(news, "name")) return { inputs: propertyMap(inputs), failures, findings };
  if (request.autonaming?.mode === "disable") {
    const reason = "is required, because pulumi:autonaming is disabled for this resource";
    failures.push({ property: "name", reason });
  } else Object.assign(inputs, chooseName(request, scope));
  // The engine makes the name that it proposes from what the program and `pulumi:autonaming` say.
  const isKept = inputs["name"] === request.olds["name"];
  for (const { problem } of isKept ? [] : problemsOf("name", inputs[proposedKey])) {
    const reason = `the name that pulumi:autonaming chooses ${problem}; give a name in the program, or change pulumi:autonaming`;
    failures.push({ property: "name", reason });
  }
  return { inputs: propertyMap(inputs), failures, findings };
}

/** Returns the inputs with their ids as text, each as secret as before. */
function withIdsAsText(news: PropertyMap): PropertyMap {
  const asText = (value: PropertyValue): PropertyValue => {
    if (value instanceof Secret) return new Secret(asText(value.value));
    return isList(value) ? value.map(asText) : numberAsText(value);
  };
  const changed: Record<string, PropertyValue | undefined> = { ...news };
  for (const name of idInputs) {
    const value = news[name];
    if (value !== undefined) changed[name] = asText(value);
  }
  return propertyMap(changed);
}

/**
 * Returns the input `name` for a program that gives none, and the input that says who chose it (`generatedKey` or
 * `proposedKey`). An existing instance keeps its name, unless the engine enforces one.
 */
function chooseName(
  { urn, olds, randomSeed, autonaming }: CheckRequest,
  scope: string | undefined,
): Record<string, PropertyValue | undefined> {
  const isNew = !isGiven(olds, "name");
  if (autonaming && (isNew || autonaming.mode === "enforce")) {
    return { name: autonaming.proposedName, [proposedKey]: autonaming.proposedName };
  }
  if (!isNew) {
    const { name, [generatedKey]: generated, [proposedKey]: proposed } = olds;
    return { name, [generatedKey]: generated, [proposedKey]: proposed };
  }
  // The tag in the name is computed from the scope. `pulumi up --plan` accepts an input only if the preview had it, too.
  if (scope === undefined) return { name: Unknown.value, [generatedKey]: Unknown.value };
  const name = generatedName(urn, scope, randomSeed);
  return { name, [generatedKey]: name };
}

/**
 * Returns a failure for each property that is not an input of an Instance, except internal ones, such as the engine's
 * `__defaults`.
 */
function unknownProperties(news: PropertyMap): CheckFailure[] {
  return Object.keys(news)
    .filter((key) => !Object.hasOwn(inputTypes, key) && !key.startsWith("__"))
    .map((key) => {
      const suggestion = closest(key, inputNames);
      const hint = suggestion
        ? `; did you mean ${suggestion}?`
        : ` (it has ${inputNames.join(", ")})`;
      // The engine would print the value, and what was misspelled may be a secret (G8).
      return { property: "", reason: `an Instance has no input "${key}"${hint}` };
    });
}

/** A failure, or a finding if the existing instance keeps the value. */
type InputFailure = CheckFailure & { isKept?: true };

/**
 * Returns what is wrong with an input. The engine prints the value of the property that a failure names, and any value may
 * hold a secret by mistake, such as a private key among the SSH keys (G8). So a failure names only a property that is
 * missing or blank, and else the reason names it.
 */
function validationErrors(name: InputName, { olds, news }: CheckRequest): InputFailure[] {
  const value = news[name] ?? null;
  // An import has only the inputs that the service lists. `pulumi import` writes the others as "" into its code.
  const isUnread = Object.keys(olds).length > 0 && (reveal(olds[name] ?? null) ?? "") === "";
  if (!isGiven(news, name)) {
    return isRequired(name) && !isUnread ? [{ property: name, reason: "is required" }] : [];
  }
  // An instance that has this name already keeps it.
  if (name === "name" && reveal(value) === reveal(olds["name"] ?? null)) return [];
  if (isScript(name) && isUserDataHash(reveal(value))) {
    // With the resource option ignoreChanges, the engine gives the old hash in place of the program's text.
    const isOld = reveal(value) === reveal(olds[name] ?? null);
    return isOld ? [] : [{ property: "", reason: `${name} ${isOnlyHash}` }];
  }
  const isBlank = typeof value === "string" && value.trim() === "";
  if (isBlank && isUnread && isRequired(name)) return [{ property: name, reason: fillIn(name) }];
  return problemsOf(name, value).map(({ index, problem }) => {
    if (isHeld(name, { olds, news }, index)) {
      return {
        property: "",
        reason: `${name} in the state ${problem}; it stays`,
        isKept: true,
      };
    }
    const item = index === undefined ? "" : `[${index}]`;
    return isBlank
      ? { property: name, reason: problem }
      : { property: "", reason: `${name}${item} ${problem}` };
  });
}

/** Whether the existing instance has the value of the input, or the item at the index. */
function isHeld(
  name: InputName,
  { olds, news }: Pick<CheckRequest, "olds" | "news">,
  index: number | undefined,
): boolean {
  if (isScript(name)) return readUserData(olds) !== undefined && isSameUserData(olds, news);
  const [before, now] = [olds, news].map((inputs) => reveal(inputs[name] ?? null));
  if (index === undefined) return before === now;
  return isList(before) && isList(now) && before.includes(now[index] ?? null);
}

const isOnlyHash =
  'is not a script, but a hash that a state holds in its place (compute:userDataInState is "hash"), for example the output of another instance. Give the script itself';

/** Returns what to do about an input that an import could not read, and that the program leaves blank. */
function fillIn(name: InputName): string {
  return `is empty, because an import can't read it from the service. In the program, set ${name} to the value that the instance was created with (the service's portal, or whoever created it, knows it), and run again: the state then records it, and nothing is replaced`;
}

/** What is wrong with a value, or with the item of a list at this index. */
interface InputProblem {
  index: number | undefined;
  problem: string;
}

function problemsOf(name: InputName, given: PropertyValue | undefined): InputProblem[] {
  const value = reveal(given ?? null);
  if (value === null || value instanceof Unknown) return [];
  // Any valid string stands for an item that is not known yet, so that only the known items are checked.
  const known = isList(value) ? value.map((item) => (hasUnknown(item) ? "?" : item)) : value;
  return (inputTypes[name].safeParse(known).error?.issues ?? []).map(
    ({ path: [index], message }) => ({
      index: typeof index === "number" ? index : undefined,
      problem: message,
    }),
  );
}

/** Whether the input has a value. Null counts as left out. */
function isGiven(inputs: PropertyMap, name: InputName): boolean {
  return reveal(inputs[name] ?? null) !== null;
}
