/** `audit --plan FILE`: writes the instances that `audit` finds in no stack as the file for `pulumi import --file`. */
import { writeFileSync } from "node:fs";
import { importPlanCommand } from "../provider/advice";
import { logicalName } from "../provider/pulumi/urn";
import { closest } from "../provider/closest";
import { OperationFailed } from "../provider/errors";
import {
  inputNames,
  inputTypes,
  isListInput,
  isScript,
  isSent,
  type InputName,
} from "../provider/instance/definition";
import { matchesNamePattern } from "../provider/namePattern";
import { instanceToken } from "../provider/pulumi/names";
import { unreadableStates, type Comparison } from "./compare";
import type { Findings } from "./report";
import { count, Problem, type Terminal } from "./terminal";

/** The first version of Pulumi that reads inputs from the file of `pulumi import --file`. */
const oldestEngineWithInputs = "3.254";

/** The inputs that `--input` accepts: what the service got. No secrets, since others can read the options and the plan. */
const acceptedInputs = inputNames.filter(
  (name) => name !== "name" && !isScript(name) && isSent(name),
);

/**
 * A name that `pulumi import` takes as it is, for the resource and, but for a dot, for the variable in the program that it
 * writes. All hostnames are such names. Any other instance is imported by its id.
 */
const plainName = /^\w[\w.-]{0,99}$/;

/** The options that make a plan, with their help. */
export const planOptions = {
  "--plan <file>": "Write what is in no stack to this file, to import it.",
  "--name <pattern>": "Plan only names that match (with * and ?).",
  "--input <name=value...>": `Give all in the plan an input: ${acceptedInputs.join(", ")}. Repeatable. Needs Pulumi ${oldestEngineWithInputs}.`,
};

/** The help on the exit codes with `--plan`. */
export const planHelp =
  "With --plan: 0 if the plan is written (it may be empty), 1 if there is none";

/** The values of the options, as they were typed. */
export interface PlanOptions {
  plan?: string;
  name?: string;
  input?: string[];
}

/** The plan that a person asks for. */
export interface PlanRequest {
  file: string;
  namePattern: string;
  /** The inputs of each instance in the plan. Undefined if there are none. */
  inputs: object | undefined;
}

/** @throws OperationFailed for wrong inputs */
export function readPlanOptions(
  file: string,
  { name = "*", input = [] }: PlanOptions,
): PlanRequest {
  return { file, namePattern: name, inputs: parseInputs(input) };
}

/**
 * Writes the plan for this stack, or for the selected one, and says what it has.
 *
 * @throws Problem if there is no plan: it might put an instance of an unreadable stack into another stack, or the pattern
 *   matches nothing
 */
export function writePlan(
  { file, namePattern, inputs }: PlanRequest,
  { seen, findings, stack }: { seen: Comparison; findings: Findings; stack: string | undefined },
  io: Terminal,
): void {
  const unreadable = unreadableStates(seen).map((state) => state.stack);
  if (unreadable.length > 0) {
    throw new Problem(
      `there is no plan, because what can't be read may manage the listed instances already: stack ${[...new Set(unreadable)].join(", stack ")}`,
      "Run `audit` again when `pulumi stack export` works for each of these stacks.",
    );
  }
  const listed = seen.listed.length;
  const isWanted = ({ name = "" }: { name?: string | undefined }) =>
    matchesNamePattern(namePattern, name);
  if (listed > 0 && !seen.listed.some(({ item }) => isWanted(item))) {
    throw new Problem(
      "there is no plan: no listed instance matches --name",
      `The service lists ${count(listed, "instance")}. Correct the pattern, or leave it out.`,
    );
  }

  const target = seen.states.find((state) => state.stack === seen.services[0]?.stack);
  const used = new Set(target?.resources.map(({ urn }) => logicalName(urn)));
  const sortKey = ({ name, id }: { name: string; id: string }) => `${name}\n${id}`;
  const wanted = findings.inNoStack
    .filter(isWanted)
    .sort((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1));
  const resources: object[] = [];
  const redacted = (text: string) => io.redactor.redact(text);
  for (const { id, name } of wanted) {
    const resourceName = [name, `${name}-${id}`, id].find(
      (one) => plainName.test(one) && !used.has(one) && redacted(one) === one,
    );
    // An instance may have the token as its name or id, which no output may show (G8).
    if (resourceName === undefined || redacted(id) !== id) {
      io.warn(`left out: ${id} "${name}": its id contains a secret, or can't be a resource name`);
      continue;
    }
    used.add(resourceName);
    resources.push({ type: instanceToken, name: resourceName, id, inputs });
  }

  // The format of the file: https://www.pulumi.com/docs/iac/adopting-pulumi/import/
  save(file, `${JSON.stringify({ resources }, undefined, 2)}\n`);
  if (resources.length === 0) {
    const why = listed === 0 ? "the service lists no instance" : "see above";
    io.warn(`There is nothing to import: ${why}. The plan is empty.`);
  } else {
    const noun = resources.length === 1 ? "instance is" : "instances are";
    io.warn(`${resources.length} ${noun} in the plan. Next: ${importPlanCommand(file, stack)}`);
  }
}

/**
 * Returns the inputs of the options `--input`, each of which is `name=value`, or undefined if there are none.
 *
 * @throws OperationFailed for wrong inputs. It names each without its value, which may be a secret (G8).
 */
function parseInputs(assignments: readonly string[]): object | undefined {
  const inputs: Record<string, string | string[] | undefined> = {};
  const problems: string[] = [];
  const nameOf = (assignment: string) => /^[^=]*(?==)/.exec(assignment)?.[0];
  for (const [name, some] of Map.groupBy(assignments, nameOf)) {
    const values = some.map((assignment) => assignment.slice(assignment.indexOf("=") + 1));
    const problem = whyRefused(name, values);
    if (problem !== undefined) problems.push(`--input: ${problem}`);
    else inputs[String(name)] = isListInput(name as InputName) ? values : values[0];
  }
  const advice = `→ Give each as NAME=VALUE, where NAME is one of ${acceptedInputs.join(", ")}.`;
  if (problems.length > 0) throw new OperationFailed([...problems, advice]);
  return assignments.length > 0 ? inputs : undefined;
}

function whyRefused(typedName: string | undefined, values: readonly string[]): string | undefined {
  if (typedName === undefined) return "one of them has no =";
  const name = inputNames.find((known) => known === typedName);
  if (name === undefined) {
    const guess = closest(typedName, acceptedInputs);
    return `one of the names is not an input of an instance${guess ? `; did you mean ${guess}?` : ""}`;
  }
  if (!acceptedInputs.includes(name))
    return `the plan, which is in clear text, can't have ${name}; add it to the program after the import`;
  if (!isListInput(name) && values.length > 1) return `${name} is given more than once`;
  const { error } = inputTypes[name].safeParse(isListInput(name) ? values : values[0]);
  return error && `${name} ${error.issues[0]?.message ?? "is wrong"}`;
}

function save(file: string, content: string): void {
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw new Problem(
      `the plan can't be written: ${(error as Error).message}`,
      "Name another file with --plan.",
    );
  }
}
