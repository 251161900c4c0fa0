/**
 * The Check call of an Instance. It reports all input errors at once ("errors help", G9), fills in the
 * name, and marks secret inputs as secrets ("secrets stay secret", G8).
 */
import { closest } from "../closest";
import {
  hasSecret,
  hasUnknown,
  isList,
  propertyMap,
  reveal,
  Secret,
  Unknown,
  type PropertyMap,
  type PropertyValue,
} from "../propertyValue";
import type { CheckFailure, CheckRequest, CheckResponse, Scope } from "../requests";
import { inputNames, inputTypes, isRequired, traitsOf, type InputName } from "./definition";
import { generatedKey, generatedName, proposedKey } from "./naming";

/** Checks the inputs that the program gives. `scope` is the id of the provider resource, if it is known. */
export function checkInstance(request: CheckRequest, scope: Scope): CheckResponse {
  const failures = [
    ...unknownProperties(request.news),
    ...inputNames.flatMap((name) => validationErrors(name, request)),
    ...scriptErrors(request.news),
  ];
  const inputs: Record<string, PropertyValue | undefined> = {};
  for (const name of inputNames) {
    const value = readInput(request.news, name);
    inputs[name] =
      value !== undefined && traitsOf(name).secret && !(value instanceof Secret)
        ? new Secret(value)
        : value;
  }
  if (inputs["name"] === undefined) {
    const nameInputs = chooseName(request, scope);
    if (nameInputs === undefined) {
      failures.push({
        property: "name",
        reason: "is required, because pulumi:autonaming is disabled for this resource",
      });
    } else Object.assign(inputs, nameInputs);
  }
  return { inputs: propertyMap(inputs), failures };
}

/**
 * Chooses the name if the program gives none. Returns the input `name` and the input that says who chose it (`generatedKey`
 * or `proposedKey`). An existing instance keeps its name, unless the engine enforces one. A new instance gets the name that
 * the engine proposes, or a generated name. Returns undefined if autonaming is disabled.
 */
function chooseName(
  { urn, olds, randomSeed, autonaming }: CheckRequest,
  scope: Scope,
): PropertyMap | undefined {
  const { mode, proposedName } = autonaming ?? {};
  if (mode === "disable") return undefined;
  const oldName = readInput(olds, "name");
  if (mode === "enforce" || (proposedName !== undefined && oldName === undefined)) {
    return propertyMap({ name: proposedName, [proposedKey]: proposedName });
  }
  if (oldName !== undefined) {
    const markerKeys = [generatedKey, proposedKey].filter((key) => olds[key] !== undefined);
    const markers = Object.fromEntries(markerKeys.map((key) => [key, olds[key]]));
    return propertyMap({ name: oldName, ...markers });
  }
  // The name contains a tag of this resource and stack, which is computed from the scope.
  if (scope.kind === "unknown") return propertyMap({ name: Unknown.value });
  // Before Configure (`none`), no provider resource is known, so the tag is computed without its id.
  const name = generatedName(urn, scope.kind === "known" ? scope.id : "", randomSeed);
  return propertyMap({ name, [generatedKey]: name });
}

/** Returns a failure for each property that is not an input of an Instance. */
function unknownProperties(news: PropertyMap): CheckFailure[] {
  return Object.keys(news)
    .filter((key) => !(inputNames as string[]).includes(key) && !key.startsWith("__"))
    .map((key) => {
      const suggestion = closest(key, inputNames) as InputName | undefined;
      // The engine prints the value of the property that a failure names. The engine does not know that
      // a misspelled property may be a secret (G8), so the failure of such a property names none.
      const isSecret =
        hasSecret(news[key]) || (suggestion !== undefined && traitsOf(suggestion).secret === true);
      return {
        property: isSecret ? "" : key,
        reason: `an Instance has no input "${key}"${suggestion ? `; did you mean ${suggestion}?` : ` (it has ${inputNames.join(", ")})`}`,
      };
    });
}

/** Returns the failures of one input, which is required and missing, or has an invalid value. */
function validationErrors(name: InputName, { olds, news }: CheckRequest): CheckFailure[] {
  const value = readInput(news, name);
  if (value === undefined) {
    // In an import, the inputs come from the service's list, which does not show all of them. So an input that both
    // the old and the new inputs lack is no error.
    const isImport = Object.keys(olds).length > 0 && readInput(olds, name) === undefined;
    return isRequired(name) && !isImport ? [{ property: name, reason: "is required" }] : [];
  }
  const revealed = reveal(value);
  if (revealed instanceof Unknown) return [];
  // An item that is not known yet is replaced by a valid string, so that only the known items are checked.
  const knownValue = isList(revealed)
    ? revealed.map((item) => (hasUnknown(item) ? "not known yet" : item))
    : revealed;
  const parsed = inputTypes[name].safeParse(knownValue);
  if (parsed.success) return [];
  const isSecret = traitsOf(name).secret === true || hasSecret(value);
  return parsed.error.issues.map((issue) => {
    const item = issue.path.map((part) => `[${String(part)}]`).join("");
    const reason = issue.message.replace(/^Invalid input: /, "");
    if (isSecret) return { property: "", reason: `${name}${item} ${reason}` };
    // The engine looks up the value of the property, and can't look up a list item. So only the reason names the item.
    return { property: name, reason: item ? `${item} ${reason}` : reason };
  });
}

/**
 * Returns a failure if both forms of the script are given. A script that is not known yet does not count as given, since
 * it may turn out to be left out ("preview is a preview", G10).
 */
function scriptErrors(news: PropertyMap): CheckFailure[] {
  const scripts = [readInput(news, "userData"), readInput(news, "userDataBase64")];
  return scripts.every((script) => script !== undefined && !hasUnknown(script))
    ? [
        {
          property: "",
          reason:
            "userData and userDataBase64 are both given, but an instance has only one script. Leave one of them out",
        },
      ]
    : [];
}

/** Returns the value of an input, or undefined if the input is null or left out. */
function readInput(inputs: PropertyMap, name: InputName): PropertyValue | undefined {
  const value = inputs[name];
  return value === undefined || reveal(value) === null ? undefined : value;
}
