/** Check: finds every input error at once (G9), fills in the name, and marks secrets as such (G8). */
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

/** Checks the inputs of the program. `scope` is unknown in the first preview of a new stack. */
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
    const chosen = chooseName(request, scope);
    if (chosen === undefined) {
      failures.push({
        property: "name",
        reason: "is required here, since pulumi:autonaming is disabled for it",
      });
    } else Object.assign(inputs, chosen);
  }
  return { inputs: propertyMap(inputs), failures };
}

/**
 * The name for a program that gives none, with the input that says who chose it. The engine may enforce or
 * propose a name. Otherwise an instance keeps its name, and a new one gets a generated name. Undefined if
 * the engine forbids all of that.
 */
function chooseName(
  { urn, olds, randomSeed, autonaming }: CheckRequest,
  scope: Scope,
): PropertyMap | undefined {
  const { mode, proposedName } = autonaming ?? {};
  if (mode === "disable") return undefined;
  const former = readInput(olds, "name");
  if (mode === "enforce" || (proposedName !== undefined && former === undefined)) {
    return propertyMap({ name: proposedName, [proposedKey]: proposedName });
  }
  if (former !== undefined) {
    const markers = [generatedKey, proposedKey].filter((key) => olds[key] !== undefined);
    const kept = Object.fromEntries(markers.map((key) => [key, olds[key]]));
    return propertyMap({ name: former, ...kept });
  }
  // The tag in the name needs the scope.
  if (scope.kind === "unknown") return propertyMap({ name: Unknown.value });
  const name = generatedName(urn, scope.kind === "known" ? scope.id : "", randomSeed);
  return propertyMap({ name, [generatedKey]: name });
}

function unknownProperties(news: PropertyMap): CheckFailure[] {
  return Object.keys(news)
    .filter((key) => !(inputNames as string[]).includes(key) && !key.startsWith("__"))
    .map((key) => {
      const near = closest(key, inputNames) as InputName | undefined;
      // The engine prints the value of the property that a failure names. It does not know that a
      // misspelled property is a secret (G8).
      const secret = hasSecret(news[key]) || (near !== undefined && traitsOf(near).secret === true);
      return {
        property: secret ? "" : key,
        reason: `an Instance has no input "${key}"${near ? `; did you mean ${near}?` : ` (it has ${inputNames.join(", ")})`}`,
      };
    });
}

function validationErrors(name: InputName, { olds, news }: CheckRequest): CheckFailure[] {
  const value = readInput(news, name);
  if (value === undefined) {
    // During an import, neither side has what the list does not show: that is no mistake.
    const imported = Object.keys(olds).length > 0 && readInput(olds, name) === undefined;
    return isRequired(name) && !imported ? [{ property: name, reason: "is required" }] : [];
  }
  const plain = reveal(value);
  if (plain instanceof Unknown) return [];
  const known = isList(plain)
    ? plain.map((item) => (hasUnknown(item) ? "not known yet" : item))
    : plain;
  const parsed = inputTypes[name].safeParse(known);
  if (parsed.success) return [];
  const secret = traitsOf(name).secret === true || hasSecret(value);
  return parsed.error.issues.map((issue) => {
    const item = issue.path.map((part) => `[${String(part)}]`).join("");
    const reason = issue.message.replace(/^Invalid input: /, "");
    if (secret) return { property: "", reason: `${name}${item} ${reason}` };
    // The engine finds no value for the name of an item, so the reason names the item.
    return { property: name, reason: item ? `${item} ${reason}` : reason };
  });
}

/** An unknown script may turn out to be left out (G10). */
function scriptErrors(news: PropertyMap): CheckFailure[] {
  const scripts = [readInput(news, "userData"), readInput(news, "userDataBase64")];
  return scripts.every((script) => script !== undefined && !hasUnknown(script))
    ? [
        {
          property: "",
          reason:
            "userData and userDataBase64 are both given; the instance takes one script, so leave one out",
        },
      ]
    : [];
}

/** The value of an input; undefined if it is null or left out. */
function readInput(inputs: PropertyMap, name: InputName): PropertyValue | undefined {
  const value = inputs[name];
  return value === undefined || reveal(value) === null ? undefined : value;
}
