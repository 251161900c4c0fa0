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
import { listedInputs } from "../provider/instance/instance";
import { matchesNamePattern } from "../provider/namePattern";
import { instanceToken } from "../provider/pulumi/names";
import type { Comparison } from "./compare";
import type { Findings } from "./report";
import { count, orProblem, type Terminal } from "./terminal";

/** The first version of Pulumi that reads inputs from the file of `pulumi import --file`. */
const oldestEngineWithInputs = "3.254";

/** The inputs that `--input` accepts: what the service got and does not list. No secrets, since others can read the plan. */
const acceptedInputs = inputNames.filter(
  (name) => !listedInputs.some((listed) => listed === name) && !isScript(name) && isSent(name),
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

/** The values of the options, as they were typed. */
export interface PlanOptions {
  plan?: string;
  name?: string;
  input?: string[];
}

/** A plan to write. */
interface PlanRequest {
  file: string;
  inputs: object | undefined;
  stack: string | undefined;
}

/**
 * Gives each instance that comes into the plan the name of its resource (`plannedAs`), sorted by name. One whose id contains a
 * secret stays out, since no output may show it (G8).
 */
export function choosePlanned(
  namePattern: string,
  { states, services }: Comparison,
  { inNoStack }: Findings,
  io: Terminal,
): void {
  const target = states.find(({ stack }) => stack === services[0]?.stack);
  const used = new Set(target?.resources.map(({ urn }) => logicalName(urn)));
  const isSecret = (text: string) => io.redactor.redact(text) !== text;
  const sortKey = ({ name, id }: { name: string; id: string }) => `${name}\n${id}`;
  inNoStack.sort((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1));
  for (const instance of inNoStack) {
    const { id, name } = instance;
    if (!matchesNamePattern(namePattern, name)) continue;
    const isUsable = (one: string) => plainName.test(one) && !used.has(one) && !isSecret(one);
    const plannedAs = [name, `${name}-${id}`, id].find(isUsable);
    if (plannedAs === undefined || isSecret(id)) {
      io.warn(`left out: ${id} "${name}": its id contains a secret, or can't be a resource name`);
      continue;
    }
    used.add(plannedAs);
    instance.plannedAs = plannedAs;
  }
}

/**
 * Writes the plan for this stack, or for the selected one, and says in the last line how to import it.
 *
 * @throws Problem if the file can't be written
 */
export function writePlan(
  { file, inputs, stack }: PlanRequest,
  { inNoStack }: Findings,
  say: Terminal["print"],
): void {
  const resources = inNoStack.flatMap(({ id, plannedAs }) =>
    plannedAs === undefined ? [] : [{ type: instanceToken, name: plannedAs, id, inputs }],
  );
  // The format of the file: https://www.pulumi.com/docs/iac/adopting-pulumi/import/
  const text = `${JSON.stringify({ resources }, undefined, 2)}\n`;
  const write = () => writeFileSync(file, text);
  orProblem(write, "the plan can't be written", "Name another file with --plan.");
  const next = resources.length > 0 ? `. Next: ${importPlanCommand(file, stack)}` : "";
  say(`${count(resources.length, "instance")} in the plan${next}`);
}

/**
 * Returns the inputs of the options `--input`, each of which is `name=value`, or undefined if there are none.
 *
 * @throws OperationFailed for wrong inputs. It names each without its value, which may be a secret (G8).
 */
export function parseInputs(assignments: readonly string[]): object | undefined {
  const inputs: Record<string, string | string[] | undefined> = {};
  const problems: string[] = [];
  const nameOf = (assignment: string) => assignment.slice(0, Math.max(0, assignment.indexOf("=")));
  for (const [name, some] of Map.groupBy(assignments, nameOf)) {
    const values = some.map((assignment) => assignment.slice(assignment.indexOf("=") + 1));
    const problem = whyRefused(name, values);
    if (problem !== undefined) problems.push(`--input: ${problem}`);
    else inputs[name] = isListInput(name as InputName) ? values : values[0];
  }
  const advice = `→ Give each as NAME=VALUE, where NAME is one of ${acceptedInputs.join(", ")}.`;
  if (problems.length > 0) throw new OperationFailed([...problems, advice]);
  return assignments.length > 0 ? inputs : undefined;
}

function whyRefused(typedName: string, values: readonly string[]): string | undefined {
  const name = acceptedInputs.find((known) => known === typedName);
  if (name === undefined) {
    const guess = closest(typedName, acceptedInputs);
    return `one of them names no input that a plan can have${guess ? `; did you mean ${guess}?` : ""}`;
  }
  if (!isListInput(name) && values.length > 1) return `${name} is given more than once`;
  const { error } = inputTypes[name].safeParse(isListInput(name) ? values : values[0]);
  return error && `${name} ${error.issues[0]?.message ?? "is wrong"}`;
}
