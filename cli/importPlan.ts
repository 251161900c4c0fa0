/** `import-plan`: writes the file for `pulumi import --file`. It changes nothing but the file that `--out` names. */
import { writeFileSync } from "node:fs";
import type { Command } from "commander";
import { importPlanCommand, inStack, logicalName } from "../provider/advice";
import { closest } from "../provider/closest";
import { OperationFailed } from "../provider/errors";
import { inputNames, inputTypes, isScript } from "../provider/instance/definition";
import { isCompleteFor } from "../provider/evidence/listing";
import { whyIncomplete } from "../provider/evidence/why";
import { instanceToken, providerToken } from "../provider/pulumiNames";
import { compare, explainUnmanaged, type ListedInstance } from "./compare";
import { readPendingCreates } from "./discard";
import { readAllStates, type StackState } from "./pulumi";
import { addOptions, listService, type SettingOptions, stackHelp } from "./service";
import { asProblem, count, Problem, type Terminal } from "./terminal";

type Options = SettingOptions &
  Partial<Record<"out" | "name" | "parent" | "provider", string>> &
  Partial<Record<"status" | "input", string[]>>;

/** The first version of Pulumi that reads inputs from the file of `pulumi import --file`. */
const oldestEngineWithInputs = "3.254";

/** The inputs that `--input` accepts. No secrets: others can read the options and the plan. */
const acceptedInputs = inputNames.filter((name) => name !== "name" && !isScript(name));

/** The settings that have no effect on the plan. */
const unusedSettings = [
  ...["deletePolicy", "destroyPath", "leftovers"],
  ...["pollIntervalSeconds", "settlingSeconds"],
] as const;

const exitCodeHelp = `
The plan leaves out the instances that a stack of the backend manages already, and those of pending
creates. It says so.

Exit codes:
  0  the plan is written; it is empty if there is nothing to import
  1  there is no plan, for example because no listed instance matches --name, or because a stack
     can't be read
  2  the command line is wrong`;

/** Adds the command `import-plan`. */
export function addImportPlan(program: Command, io: Terminal): void {
  const command = program
    .command("import-plan")
    .description(
      "write the file for `pulumi import --file` from the instances that the service lists",
    )
    .addHelpText("after", exitCodeHelp);
  const ownOptions = {
    "--out <file>": "Write the plan to this file instead of stdout.",
    "--stack <name>": `The stack to import into. ${stackHelp}`,
    "--name <pattern>":
      "Only instances whose name matches this pattern: * stands for any characters, ? for one character.",
    "--status <status...>":
      "Only instances with this status. The option can be given several times. By default, all instances are in the plan except PROVISIONING ones, which a run may be creating right now.",
    "--input <name=value...>": `An input of all instances in the plan, which the service does not list: ${acceptedInputs.join(", ")} (once for each key). The option can be given several times. Pulumi ${oldestEngineWithInputs} and later read it; older ones ignore it.`,
    "--parent <urn>": "URN of the component in the stack that becomes the parent of the instances.",
    "--provider <urn>":
      "URN of the explicit provider resource for the instances. By default, they use the default provider.",
  };
  addOptions(command, ownOptions, unusedSettings).action((options: Options) =>
    writePlan(options, io),
  );
}

async function writePlan(options: Options, io: Terminal): Promise<void> {
  const { out, parent, provider } = options;
  const statuses = (options.status ?? []).map((it) => it.toUpperCase());
  const inputs = parseInputs(options.input ?? []);
  const service = await listService(options, io);
  const { listing, stack } = service;
  io.warn(`The settings come from ${service.source}.`);
  const comparison = compare([service], await readStates(io.env));
  const target = comparison.states.find((it) => it.stack === stack);
  const searchedStates = target ? [target] : comparison.states;
  // The plan names other resources by the keys of its `nameTable`.
  const references = { parent: parent && "parent", provider: provider && "provider" };
  const nameTable = {
    parent: parent && findUrn("parent", parent, searchedStates, options.stack),
    provider: provider && findUrn("provider", provider, searchedStates, options.stack),
  };
  const creates = readPendingCreates(io.env, (text) => io.messages.warning(text));

  const namePattern = patternOf(options.name);
  const isWanted = ({ item: { name = "", status = "" } }: ListedInstance) =>
    namePattern.test(name) && (statuses.length === 0 || statuses.includes(status.toUpperCase()));
  const sortKey = ({ item: { name = "", id } }: ListedInstance) => `${name}\n${id}`;
  const wanted = comparison.listed
    .filter(isWanted)
    .sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  if (!isCompleteFor(listing, statuses)) {
    io.messages.warning(
      `there may be more instances than the plan has: ${whyIncomplete(listing, service.session)}.`,
    );
  }
  if (wanted.length === 0 && listing.items.size > 0) {
    const filters = [options.name && "--name", statuses.length > 0 && "--status"].filter(Boolean);
    throw new Problem(
      `there is no plan: no listed instance matches ${filters.join(" and ")}`,
      `The service lists ${count(listing.items.size, "instance")}. Correct the filter, or leave it out.`,
    );
  }

  const describe = ({ item: { id, name = "" } }: ListedInstance) => `${id} "${name}"`;
  const stacksOf = ({ managers }: ListedInstance) =>
    [...new Set(managers.map((it) => it.stack))].join(" and stack ");
  const byStacks = Map.groupBy(wanted, stacksOf);
  const free = byStacks.get("") ?? [];
  byStacks.delete("");
  const leftOut = [...byStacks].map(([stacks, instances]) => {
    const named = instances.slice(0, maxNamed).map(describe).join(", ");
    const others = instances.length > maxNamed ? ` and ${instances.length - maxNamed} more` : "";
    return `${count(instances.length, "instance")} managed by stack ${stacks}: ${named}${others}`;
  });
  const resources: object[] = [];
  const instances = comparison.instances.filter((it) => it.stack === target?.stack);
  const uniqueName = uniqueNames(instances.map(({ urn }) => logicalName(urn)));
  for (const instance of free) {
    const { id, name = "", status } = instance.item;
    const reasons = [
      io.redactor.redact(id) !== id &&
        "its id contains a secret or characters that can't be printed",
      explainUnmanaged(instance, comparison, creates)?.note,
      status === "PROVISIONING" &&
        statuses.length === 0 &&
        "it is PROVISIONING, so a run may be creating it right now; to include it, give --status PROVISIONING, and each other status that the plan is to have",
    ];
    const reason = reasons.find(Boolean);
    if (reason) leftOut.push(`${describe(instance)}: ${reason}`);
    else {
      // The name of an instance may be the token, which no output may show (G8).
      const resourceName = uniqueName(io.redactor.redact(name), id);
      resources.push({ type: instanceToken, name: resourceName, id, ...references, inputs });
    }
  }

  // The format of the file: https://www.pulumi.com/docs/iac/adopting-pulumi/import/
  const plan = { nameTable: (parent ?? provider) ? nameTable : undefined, resources };
  const json = JSON.stringify(plan, undefined, 2);
  if (out === undefined) json.split("\n").forEach((line) => io.print(line));
  else save(out, `${json}\n`);

  leftOut.forEach((line) => io.warn(`left out: ${line}`));
  if (resources.length === 0) {
    const why = listing.items.size === 0 ? "the service lists no instance" : "see above";
    io.warn(`There is nothing to import: ${why}. The plan is empty.`);
  } else {
    const noun = resources.length === 1 ? "instance is" : "instances are";
    const next = importPlanCommand(out ?? "FILE", options.stack);
    io.warn(`${resources.length} ${noun} in the plan. Next: ${next}`);
  }
}

const maxNamed = 5;

/** @throws OperationFailed if a stack can't be read. Then the plan might put an instance of that stack into another. */
async function readStates(env: NodeJS.ProcessEnv): Promise<StackState[]> {
  const noPlan =
    "there is no plan, because a stack that can't be read may manage the listed instances already";
  const states = await readAllStates(env).catch(asProblem);
  if (states instanceof Problem) throw new Problem(`${noPlan}: ${states.found}`, states.next);
  const unreadable = states.filter(({ problem }) => problem !== undefined);
  if (unreadable.length === 0) return states;
  throw new OperationFailed([
    `${noPlan}:`,
    ...unreadable.map(({ stack, problem }) => `  ${stack}: ${problem}`),
    "→ Run `import-plan` again when `pulumi stack export` works for each of these stacks.",
  ]);
}

/**
 * Returns the URN that `--parent` or `--provider` names, without `::id`. For any other text, `pulumi import` would make
 * a provider resource without settings.
 *
 * @throws OperationFailed if no state has the resource, or it is no provider of this type. It does not repeat the
 *   value, which may be a secret (G8).
 */
function findUrn(
  option: string,
  given: string,
  states: readonly StackState[],
  stack: string | undefined,
): string {
  const found = states
    .flatMap(({ resources }) => resources)
    .find(({ urn, id }) => given === urn || given === `${urn}::${id}`);
  const isRight = found && (option !== "provider" || found.type === providerToken);
  if (isRight) return found.urn;
  const problem = found
    ? `its resource is not a provider of the type ${providerToken}`
    : `no resource of ${states.length === 1 ? states[0]?.stack : "any stack"} has this URN`;
  const next = `\`${inStack("pulumi stack --show-urns", stack)}\` lists the URNs of a stack.`;
  throw new Problem(`--${option}: ${problem}`, next);
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
    const values = some.map((it) => it.slice(it.indexOf("=") + 1));
    const problem = whyRefused(name, values);
    if (problem !== undefined) problems.push(`--input: ${problem}`);
    else inputs[String(name)] = name === "sshKeys" ? values : values[0];
  }
  const advice = `→ Give each as NAME=VALUE, where NAME is one of ${acceptedInputs.join(", ")}.`;
  if (problems.length > 0) throw new OperationFailed([...problems, advice]);
  return assignments.length > 0 ? inputs : undefined;
}

function whyRefused(typedName: string | undefined, values: readonly string[]): string | undefined {
  if (typedName === undefined) return "one of them has no =";
  if (typedName === "name") return "name: the name comes from the listing";
  const name = inputNames.find((it) => it === typedName);
  if (name === undefined) {
    const guess = closest(typedName, acceptedInputs);
    return `one of the names is not an input of an instance${guess ? `; did you mean ${guess}?` : ""}`;
  }
  if (isScript(name))
    return `${name} is a secret, which the plan would hold in clear text; add it to the program after the import`;
  if (name !== "sshKeys" && values.length > 1) return `${name} is given more than once`;
  const { error } = inputTypes[name].safeParse(name === "sshKeys" ? values : values[0]);
  return error && `${name} ${error.issues[0]?.message ?? "is wrong"}`;
}

/** Makes a RegExp of the pattern of `--name`. It ignores case, as comparisons of hostnames do. */
function patternOf(glob = "*"): RegExp {
  const literal = glob.replace(/[\\^$.+()[\]{}|]/g, "\\$&");
  return new RegExp(`^${literal.replaceAll("*", ".*").replaceAll("?", ".")}$`, "isu");
}

/** Returns a function that makes the resource names of the plan. It appends the id to a name that is in use. */
function uniqueNames(taken: readonly string[]): (name: string, id: string) => string {
  // Generated code names its variables like this, so names that differ only in punctuation or case would collide.
  const variableOf = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "_");
  const used = new Set(taken.map(variableOf));
  return (name, id) => {
    const ending = resourceName(id) || "instance";
    let unique = resourceName(name) || ending;
    while (used.has(variableOf(unique))) unique += `-${ending}`;
    used.add(variableOf(unique));
    return unique;
  };
}

/** Replaces all characters that a language or a shell would have to quote. */
function resourceName(name: string): string {
  return name
    .slice(0, 100)
    .replace(/[^A-Za-z0-9_.-]+/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
}

function save(file: string, content: string): void {
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw new Problem(
      `the plan can't be written: ${(error as Error).message}`,
      "Name another file with --out. Without --out the plan is printed.",
    );
  }
}
