/** The Check call of an Instance: reports all input errors at once (G9), fills in the name, and marks secrets (G8). */
import { closest } from "../closest";
import {
  canonicalJson,
  hasUnknown,
  isGiven,
  isList,
  isMap,
  mapValues,
  propertyMap,
  reveal,
  Secret,
  Unknown,
  type PropertyMap,
  type PropertyValue,
} from "../pulumi/propertyValue";
import type { Report } from "../errors";
import type { CheckRequest, CheckResponse } from "../pulumi/calls";
import { outputTextProblem } from "../pulumi/outputText";
import { numberAsText } from "../pulumi/textTypes";
import { logicalName } from "../pulumi/urn";
import {
  idInputs,
  inputNames,
  inputTypes,
  isRequired,
  isScript,
  scriptInputs,
  type InputName,
} from "./definition";
import { generatedKey, generatedName, isHostname, proposedKey } from "./naming";
import { isSameUserData, isUserDataHash, readUserData } from "./userData";

/** The response, and what is said of the inputs without stopping the run. */
export interface Checked extends CheckResponse {
  findings: Report[];
}

/** What Check has to know of the run. */
interface NameFacts {
  /**
   * The id of the provider resource, which goes into a generated name. It is empty before Configure, and undefined if it is not
   * known yet.
   */
  scope: string | undefined;
  /** Notes a name that the program gives. Returns whether the program gives it to another resource, too. */
  isNameTaken: (name: string) => boolean;
}

/** What is wrong with an input. A text refuses it. A report is of what the existing instance has, or only a service may refuse. */
type Judgement = string | Report;

/** Checks the inputs that the program gives. */
export function checkInstance(given: CheckRequest, { scope, isNameTaken }: NameFacts): Checked {
  const request = { ...given, news: withIdsAsText(given.news) };
  const chosen = isGiven(request.news["name"]) ? undefined : chooseName(request, scope);
  const inputs = propertyMap({ ...givenInputs(request.news), ...chosen });
  const problems = [...problemsIn(request), ...nameProblems(request, chosen, isNameTaken)];
  const failures = problems.filter((problem) => typeof problem === "string");
  const findings = problems.filter((problem) => typeof problem !== "string");
  return { inputs, failures, findings };
}

/** Returns the inputs that the program gives, with each script as a secret. */
function givenInputs(news: PropertyMap): Record<string, PropertyValue> {
  const inputs: Record<string, PropertyValue> = {};
  for (const name of inputNames.filter((name) => isGiven(news[name]))) {
    const value = news[name] ?? null;
    // No reply has room for a number such as NaN, which is refused.
    if (typeof value === "number" && !Number.isFinite(value)) continue;
    inputs[name] = isScript(name) && !(value instanceof Secret) ? new Secret(value) : value;
  }
  return inputs;
}

/** Judges the inputs, but for what only the name of the instance has to be (`nameProblems`). */
function* problemsIn(request: CheckRequest): Generator<Judgement> {
  const { urn, olds, news } = request;
  yield* unknownProperties(news);
  const unfilled = inputNames.filter((name) => isUnfilled(name, request));
  for (const name of inputNames.filter((name) => !unfilled.includes(name)))
    yield* inputProblems(name, request);
  if (unfilled.length > 0) yield fillIn(unfilled);
  if (!isGiven(olds["name"]) && outputTextProblem(logicalName(urn)) !== undefined)
    yield namedByOutput;
  // A script that is not known yet may turn out to be null (G10).
  if (scriptInputs.every((name) => isGiven(news[name]) && !hasUnknown(news[name])))
    yield "userData and userDataBase64 are both given, but an instance has only one script. Leave one of them out";
}

/** Judges the name of the instance, and notes it if the program gives it. */
function* nameProblems(
  { olds, news }: CheckRequest,
  chosen: ChosenName | undefined,
  isNameTaken: NameFacts["isNameTaken"],
): Generator<Judgement> {
  const [before, now] = [olds, chosen ?? news].map((values) => reveal(values["name"] ?? null));
  const isTaken = typeof news["name"] === "string" && isNameTaken(news["name"]);
  if (now === null)
    yield "name is required, because pulumi:autonaming is disabled for this resource";
  // An instance that has long had its name needs no warning in each run.
  if (now === before || typeof now !== "string") return;
  // The engine makes the name that it proposes from what the program and `pulumi:autonaming` say.
  for (const { problem } of problemsOf("name", chosen?.[proposedKey]))
    yield `the name that pulumi:autonaming chooses ${problem}; give a name in the program, or change pulumi:autonaming`;
  if (!chosen && !isHostname(now)) yield noHostname;
  if (isTaken) yield takenName(now);
}

const noHostname: Report = {
  own: "the service may refuse the name",
  shared: [
    ": a hostname has labels of up to 63 letters, digits and inner hyphens, 253 characters in all (RFC 1123)",
  ],
};

function takenName(name: string): Report {
  const own = `another resource has the name "${name}", too`;
  return { own, shared: [": a service may refuse a second instance of that name"] };
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

/** A name, and who chose it. */
type ChosenName = Record<string, PropertyValue | undefined>;

/**
 * Returns the input `name` for a program that gives none, and the input that says who chose it (`generatedKey` or
 * `proposedKey`). If autonaming is disabled, there is none. Otherwise an existing instance keeps its name, unless the engine
 * enforces another.
 */
function chooseName(
  { urn, olds, randomSeed, autonaming }: CheckRequest,
  scope: string | undefined,
): ChosenName {
  if (autonaming?.mode === "disable") return {};
  const isNew = !isGiven(olds["name"]);
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

/** Judges each property that is no input of an Instance. Internal ones pass, such as the engine's `__defaults`. */
function unknownProperties(news: PropertyMap): Judgement[] {
  return Object.keys(news)
    .filter((key) => !Object.hasOwn(inputTypes, key) && !key.startsWith("__"))
    .map((key) => {
      const suggestion = closest(key, inputNames);
      const hint = suggestion
        ? `; did you mean ${suggestion}?`
        : ` (it has ${inputNames.join(", ")})`;
      return `an Instance has no input "${key}"${hint}`;
    });
}

/** Judges an input. */
function inputProblems(name: InputName, { olds, news }: CheckRequest): Judgement[] {
  const value = news[name] ?? null;
  if (!isGiven(news[name])) {
    const isMissing = isRequired(name) && !isUnread(name, olds);
    return isMissing ? [`${name} is required`] : [];
  }
  // The existing instance already has this name.
  if (name === "name" && reveal(value) === reveal(olds["name"] ?? null)) return [];
  if (isScript(name) && isUserDataHash(reveal(value))) {
    // With the resource option ignoreChanges, the engine gives the old hash in place of the program's text.
    const isOld = reveal(value) === reveal(olds[name] ?? null);
    return isOld ? [] : [`${name} ${isOnlyHash}`];
  }
  const isInState = heldIn(name, { olds, news });
  return problemsOf(name, value).map(({ index, problem }) => {
    const item = index === undefined ? "" : `[${index}]`;
    if (!isInState(index)) return `${name}${item} ${problem}`;
    const own = `${name} in the state ${problem}; a change may replace the instance`;
    return { own, shared: [] };
  });
}

/** Returns whether the existing instance has the value of the input, or the item at an index. */
function heldIn(
  name: InputName,
  { olds, news }: Pick<CheckRequest, "olds" | "news">,
): (index: number | undefined) => boolean {
  if (isScript(name)) return () => readUserData(olds) !== undefined && isSameUserData(olds, news);
  const [before, now] = [olds, news].map((inputs) => reveal(inputs[name] ?? null));
  const items = new Set(isList(before) ? before : []);
  return (index) =>
    index === undefined
      ? // In JSON, NaN is null.
        isGiven(olds[name]) && canonicalJson(before) === canonicalJson(now)
      : isList(now) && items.has(now[index] ?? null);
}

const namedByOutput =
  "the resource has the text of an Output in its own name, which has to be known before the run: give it a plain text, and give the Output as its input `name`";

const isOnlyHash =
  'is not a script, but a hash that a state holds in its place (compute:userDataInState is "hash"), for example the output of another instance. Give the script itself';

/** Whether the state lacks an input, because an import could not read it from the service. */
function isUnread(name: InputName, olds: PropertyMap): boolean {
  return Object.keys(olds).length > 0 && (reveal(olds[name] ?? null) ?? "") === "";
}

/** Whether the program leaves a required input as `pulumi import` has printed it: empty, because it could not be read. */
function isUnfilled(name: InputName, { olds, news }: Pick<CheckRequest, "olds" | "news">): boolean {
  const value = news[name];
  const isBlank = typeof value === "string" && value.trim() === "";
  return isBlank && isRequired(name) && isUnread(name, olds);
}

/** Returns what to do about all of these inputs. */
function fillIn(names: readonly InputName[]): string {
  const [verb, them] = names.length === 1 ? ["is", "it"] : ["are", "them"];
  return `${names.join(", ")} ${verb} empty, because an import can't read ${them} from the service. In the program, set ${them} to what the instance was created with (the service's portal, or whoever created it, knows), and run again: nothing is replaced. Other imported instances may need the same`;
}

/** What is wrong with a value, or with the item of a list at this index. */
interface InputProblem {
  index: number | undefined;
  problem: string;
}

function problemsOf(name: InputName, given: PropertyValue | undefined): InputProblem[] {
  const value = reveal(given ?? null);
  if (value === null || value instanceof Unknown) return [];
  return (inputTypes[name].safeParse(withoutUnknown(value)).error?.issues ?? []).map(
    ({ path: [index], message }) => ({
      index: typeof index === "number" ? index : undefined,
      problem: message,
    }),
  );
}

/** Returns the value with a valid text for each part that is not known yet, so that only the known parts are checked. */
function withoutUnknown(value: PropertyValue): PropertyValue {
  if (value instanceof Unknown) return "?";
  if (isList(value)) return value.map(withoutUnknown);
  return isMap(value) ? mapValues(value, withoutUnknown) : value;
}
