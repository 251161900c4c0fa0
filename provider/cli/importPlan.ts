/** `import-plan`: writes the file for `pulumi import --file`. It changes nothing but the file that `--out` names. */
import { writeFileSync } from "node:fs";
import type { Command } from "commander";
import { importPlanCommand, logicalName, nameCursor } from "../advice";
import type { ListItem } from "../api/contract";
import { closest } from "../closest";
import { OperationFailed } from "../errors";
import { inputNames, inputTypes, isScript, type InputName } from "../instance/definition";
import { isCompleteFor } from "../listing/listing";
import { instanceToken, providerToken } from "../pulumiNames";
import { explainUnmanaged, look, type Look } from "./compare";
import { readPendingCreates } from "./discard";
import { PulumiError } from "./pulumi";
import { createSession, listService, type ServiceListing } from "./service";
import {
  addSettingOptions,
  readSettings,
  repeatable,
  type SettingOptions,
  stackHelp,
} from "./settings";
import { count, type Terminal } from "./terminal";

interface Options extends SettingOptions {
  out?: string;
  stack?: string;
  /** A pattern with `*` and `?`. */
  name?: string;
  status?: string[];
  /** The inputs of the instances, each as `name=value`. */
  input?: string[];
  /** The URN of the component that becomes the parent of the instances. */
  parent?: string;
  /** The URN of the explicit provider resource. Undefined for the default provider. */
  provider?: string;
}

/** The first version of Pulumi that reads inputs from the file of `pulumi import --file`. */
const oldestEngineWithInputs = "3.254";

/** The inputs that `--input` accepts. A secret is none: others can read the options, and the plan is not encrypted. */
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
    .option("--out <file>", "Write the plan to this file instead of stdout.")
    .option("--stack <name>", `The stack to import into. ${stackHelp}`)
    .option(
      "--name <pattern>",
      "Only instances whose name matches this pattern: * stands for any characters, ? for one character.",
    )
    .option(
      "--status <status>",
      "Only instances with this status. The option can be given several times. By default, all instances are in the plan except PROVISIONING ones, which a run may be creating right now.",
      repeatable,
    )
    .option(
      "--input <name=value>",
      `An input of all instances in the plan, which the service does not list: ${acceptedInputs.join(", ")} (once for each key). The option can be given several times. Pulumi ${oldestEngineWithInputs} and later read it; older ones ignore it.`,
      repeatable,
    )
    .option(
      "--parent <urn>",
      "URN of the component in the stack that becomes the parent of the instances.",
    )
    .option(
      "--provider <urn>",
      "URN of the explicit provider resource for the instances. By default, they use the default provider.",
    );
  command.addHelpText("after", exitCodeHelp);
  addSettingOptions(command, ...unusedSettings).action((options: Options) =>
    writePlan(options, io),
  );
}

async function writePlan(options: Options, io: Terminal): Promise<void> {
  const { out, parent, provider } = options;
  const statuses = (options.status ?? []).map((it) => it.toUpperCase());
  const inputs = parseInputs(options.input ?? []);
  const { settings, stack, source } = await readSettings(options.stack, options, io);
  io.warn(`The settings come from ${source}.`);
  const service = await listService(createSession(settings, io));
  const { listing, origin } = service;
  const warn = (message: string) => io.warn(`warning: ${message}`);
  const { stacks, instances, pending, managed } = await lookAtAllStacks(service, io.env);
  const targetState = stacks.states.find((it) => it.stack === stack);
  const possibleStates = targetState ? [targetState] : stacks.states;
  const nameTable = Object.entries({ parent, provider }).flatMap(([option, given]) =>
    given === undefined ? [] : [[option, findUrn(option, given, possibleStates)] as const],
  );
  const creates = readPendingCreates(io.env, warn);
  const onlyInStates = pending.filter(
    ({ urn }) => !creates.some(({ record }) => record.urn === urn),
  );

  const namePattern = patternOf(options.name);
  const isWanted = ({ name = "", status = "" }: ListItem) =>
    namePattern.test(name) && (statuses.length === 0 || statuses.includes(status.toUpperCase()));
  const sortKey = ({ name = "", id }: ListItem) => `${name}\n${id}`;
  const wanted = [...listing.items.values()]
    .filter(isWanted)
    .sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  if (!isCompleteFor(listing, statuses)) {
    warn(
      `the service's listing is not complete: there may be more instances than the plan has. ${nameCursor}.`,
    );
  }
  if (wanted.length === 0 && listing.items.size > 0) {
    const filters = [options.name && "--name", statuses.length > 0 && "--status"].filter(Boolean);
    throw new OperationFailed([
      `there is no plan: no listed instance matches ${filters.join(" and ")}`,
      `→ The service lists ${count(listing.items.size, "instance")}. Correct the filter, or leave it out.`,
    ]);
  }

  const reasonToLeaveOut = (item: ListItem): string | undefined => {
    if (io.redactor.redact(item.id) !== item.id)
      return "its id contains a secret or characters that can't be printed";
    const explanation = explainUnmanaged(item, origin, { creates, onlyInStates, instances });
    if (explanation) return explanation.note;
    return item.status === "PROVISIONING" && statuses.length === 0
      ? "it is PROVISIONING, so a run may be creating it right now; to include it, give --status PROVISIONING, and each other status that the plan is to have"
      : undefined;
  };
  const labelOf = ({ id, name = "" }: ListItem) => `${id} "${name}"`;
  const managers = new Map(
    managed.map(({ id, resources }) => {
      const stackNames = new Set(resources.map((it) => it.stack));
      return [id, [...stackNames].join(" and stack ")] as const;
    }),
  );
  const leftOut: string[] = [];
  for (const [stackNames, items] of Map.groupBy(wanted, ({ id }) => managers.get(id))) {
    if (stackNames === undefined) continue;
    const named = items.slice(0, maxNamed).map(labelOf).join(", ");
    const others = items.length > maxNamed ? ` and ${items.length - maxNamed} more` : "";
    const number = count(items.length, "instance");
    leftOut.push(`left out: ${number} managed by stack ${stackNames}: ${named}${others}`);
  }
  const resources: object[] = [];
  const uniqueName = uniqueNames((targetState?.instances ?? []).map(({ urn }) => logicalName(urn)));
  for (const item of wanted.filter(({ id }) => !managers.has(id))) {
    const { id, name = "" } = item;
    const reason = reasonToLeaveOut(item);
    if (reason !== undefined) leftOut.push(`left out: ${labelOf(item)}: ${reason}`);
    else {
      resources.push({
        type: instanceToken,
        // The name of an instance may be the token, which no output may show (G8).
        name: uniqueName(io.redactor.redact(name), id),
        id,
        // The file names other resources by the keys of its `nameTable`.
        ...Object.fromEntries(nameTable.map(([key]) => [key, key])),
        ...(Object.keys(inputs).length > 0 ? { inputs } : {}),
      });
    }
  }

  // The format of the file: https://www.pulumi.com/docs/iac/adopting-pulumi/import/
  const table = nameTable.length > 0 ? { nameTable: Object.fromEntries(nameTable) } : {};
  const json = JSON.stringify({ ...table, resources }, undefined, 2);
  if (out === undefined) json.split("\n").forEach((line) => io.print(line));
  else save(out, `${json}\n`);

  leftOut.forEach((line) => io.warn(line));
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
async function lookAtAllStacks(service: ServiceListing, env: NodeJS.ProcessEnv): Promise<Look> {
  const noPlan =
    "there is no plan, because a stack that can't be read may manage the listed instances already";
  try {
    const found = await look([service], env);
    const { unreadable } = found.stacks;
    if (unreadable.length === 0) return found;
    throw new OperationFailed([
      `${noPlan}:`,
      ...unreadable.map(({ stack, problem }) => `  ${stack}: ${problem}`),
      "→ Run `import-plan` again when `pulumi stack export` works for each of these stacks.",
    ]);
  } catch (error) {
    if (!(error instanceof PulumiError)) throw error;
    throw new OperationFailed([`${noPlan}: ${error.problem}`, `→ ${error.next}`]);
  }
}

/**
 * Returns the URN of the resource that `--parent` or `--provider` names, for a provider also as `URN::id`. With the id, or
 * with an unknown URN, `pulumi import` would make a provider resource without settings.
 *
 * @throws OperationFailed if no state has the resource. It does not repeat the value, which may be a secret (G8).
 */
function findUrn(option: string, given: string, states: Look["stacks"]["states"]): string {
  const found = states
    .flatMap(({ resources }) => resources)
    .find(({ urn, id }) => given === urn || given === `${urn}::${id}`);
  const isRight = found && (option !== "provider" || found.type === providerToken);
  if (isRight) return found.urn;
  const problem = found
    ? `its resource is not a provider of the type ${providerToken}`
    : `no resource of ${states.length === 1 ? states[0]?.stack : "any stack"} has this URN`;
  throw new OperationFailed([
    `--${option}: ${problem}`,
    "→ `pulumi stack --show-urns` lists the URNs of a stack.",
  ]);
}

/** @throws OperationFailed for wrong inputs. It names each without its value, which may be a secret (G8). */
function parseInputs(assignments: readonly string[]): Partial<Record<InputName, unknown>> {
  const inputs: Partial<Record<InputName, unknown>> = {};
  const problems: string[] = [];
  for (const assignment of assignments) {
    const [, typedName, value = ""] = /^([^=]*)=(.*)$/s.exec(assignment) ?? [];
    const name = inputNames.find((it) => it === typedName);
    if (typedName === undefined) problems.push("one of them has no =");
    else if (name === undefined) {
      const guess = closest(typedName, acceptedInputs);
      problems.push(
        `one of the names is not an input of an instance${guess ? `; did you mean ${guess}?` : ""}`,
      );
    } else if (!acceptedInputs.includes(name)) {
      problems.push(
        name === "name"
          ? "name: the name comes from the listing"
          : `${name} is a secret, which the plan would hold in clear text; add it to the program after the import`,
      );
    } else if (name === "sshKeys")
      inputs.sshKeys = [...((inputs.sshKeys as string[]) ?? []), value];
    else if (name in inputs) problems.push(`${name} is given more than once`);
    else inputs[name] = value;
  }
  for (const [name, value] of Object.entries(inputs)) {
    const parsed = inputTypes[name as InputName].safeParse(value);
    if (!parsed.success) problems.push(`${name} ${parsed.error.issues[0]?.message ?? "is wrong"}`);
  }
  if (problems.length === 0) return inputs;
  throw new OperationFailed([
    ...problems.map((problem) => `--input: ${problem}`),
    `→ Give each as NAME=VALUE, where NAME is one of ${acceptedInputs.join(", ")}.`,
  ]);
}

/** Makes a RegExp of the pattern of `--name`. It ignores case, as comparisons of hostnames do. */
function patternOf(glob = "*"): RegExp {
  const literal = glob.replace(/[\\^$.+()[\]{}|]/g, "\\$&");
  return new RegExp(`^${literal.replaceAll("*", ".*").replaceAll("?", ".")}$`, "isu");
}

/** Returns a function that makes the resource names of the plan. It appends the id to a name that is in use. */
function uniqueNames(taken: readonly string[]): (name: string, id: string) => string {
  // Generated code names its variables like this, so names that differ only in punctuation would collide.
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
    throw new OperationFailed([
      `the plan can't be written: ${(error as Error).message}`,
      "→ Name another file with --out. Without --out the plan is printed.",
    ]);
  }
}
