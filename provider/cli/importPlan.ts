/**
 * `pulumi-resource-compute import-plan`: writes the file for `pulumi import --file` from the instances that
 * the service lists. The command changes nothing but the file that `--out` names.
 */
import { writeFileSync } from "node:fs";
import type { Command } from "commander";
import { importPlanCommand, logicalName, nameCursor } from "../advice";
import type { ListItem } from "../api/contract";
import { closest } from "../closest";
import { OperationFailed } from "../errors";
import { inputNames, inputTypes, traitsOf, type InputName } from "../instance/definition";
import { isCompleteFor } from "../listing/listing";
import { isSamePlace, originDifference } from "../origin";
import { instanceToken } from "../pulumiNames";
import { describeCreator, readPendingCreates } from "./discard";
import { readState } from "./pulumi";
import { createSession, explainError, listService } from "./service";
import { addSettingOptions, readSettings, type SettingOptions, stackHelp } from "./settings";
import type { Terminal } from "./terminal";

interface Options extends SettingOptions {
  out?: string;
  stack?: string;
  /** The pattern for names, with `*` and `?`. */
  name?: string;
  /** The wanted statuses in upper case. */
  status?: string[];
  /** What the program has as inputs, each as `name=value`. */
  input?: string[];
  /** The URN of the component that becomes the parent of the instances. */
  parent?: string;
  /** The URN of the explicit provider resource. Undefined for the default provider. */
  provider?: string;
}

/** The first version of Pulumi that reads inputs from the file of `pulumi import --file`. */
const oldestEngineWithInputs = "3.254";

/**
 * The inputs that `--input` takes. The name comes from the listing. A secret has no option, since every program on the
 * machine can read the options, and the plan is not encrypted.
 */
const assertableInputs = inputNames.filter((name) => name !== "name" && !traitsOf(name).secret);

/** Adds the command `import-plan`. */
export function addImportPlan(program: Command, io: Terminal): void {
  const command = program
    .command("import-plan")
    .description(
      "write the file for `pulumi import --file` from the instances that the service lists",
    )
    .option("--out <file>", "Write the plan to this file instead of stdout.")
    .option(
      "--stack <name>",
      `Leave out the instances that are in this stack already. ${stackHelp}`,
    )
    .option(
      "--name <pattern>",
      "Only instances whose name matches this pattern: * stands for any characters, ? for one character.",
    )
    .option(
      "--status <status>",
      "Only instances with this status. The option can be given several times. By default, all instances are in the plan except PROVISIONING ones, which a run may be creating right now.",
      (status: string, others: string[] = []) => [...others, status.toUpperCase()],
    )
    .option(
      "--input <name=value>",
      `An input of all instances in the plan, which the service does not list: ${assertableInputs.join(", ")} (once for each key). The option can be given several times. Pulumi ${oldestEngineWithInputs} and later read it; older ones ignore it.`,
      (assignment: string, others: string[] = []) => [...others, assignment],
    )
    .option(
      "--parent <urn>",
      "URN of the component in the stack that becomes the parent of the instances.",
    )
    .option(
      "--provider <urn>",
      "URN of the explicit provider resource for the instances. By default, they use the default provider.",
    );
  addSettingOptions(command, { onlyLists: true }).action(async (options: Options) => {
    try {
      await writePlan(options, io);
    } catch (error) {
      explainError(error).forEach((line) => io.warn(line));
      io.exitCode = 1;
    }
  });
}

/**
 * Writes the plan to the file of `--out` or to stdout, and what the plan leaves out to stderr.
 *
 * @throws Error with the reason why there is no plan: see `explainError`.
 */
async function writePlan(options: Options, io: Terminal): Promise<void> {
  const { stack, out, parent: parentUrn, provider: providerUrn, status: statuses = [] } = options;
  const inputs = parseInputs(options.input ?? []);
  const settings = await readSettings(stack, options, io);
  const inStack = stack === undefined ? [] : (await readState(stack, io.env)).instances;
  const { listing, origin } = await listService(createSession(settings, io));
  const warn = (message: string) => io.warn(`warning: ${message}`);
  const pending = readPendingCreates(io.env, warn);

  const namePattern = patternOf(options.name);
  const isWanted = ({ name = "", status = "" }: ListItem) =>
    namePattern.test(name) && (statuses.length === 0 || statuses.includes(status.toUpperCase()));
  // An instance that lives elsewhere is another one, even if its id is the same.
  const isInStack = ({ id }: ListItem) =>
    inStack.some(
      (it) =>
        it.id === id &&
        !it.external &&
        (!it.origin || originDifference(it.origin, origin) === undefined),
    );
  const reasonToLeaveOut = ({ id, status }: ListItem): string | undefined => {
    if (io.redactor.redact(id) !== id)
      return "its id contains a secret or characters that can't be printed";
    const create = pending.find(({ record }) => record.id === id && isSamePlace(record, origin));
    if (create) return describeCreator(create, id);
    return status === "PROVISIONING" && statuses.length === 0
      ? "it is PROVISIONING, so a run may be creating it right now; to include it, give --status PROVISIONING, and each other status that the plan is to have"
      : undefined;
  };

  const wanted = [...listing.items.values()].filter(isWanted).sort(byNameAndId);
  const resources: object[] = [];
  const leftOut: string[] = [];
  const references = Object.entries({ parent: parentUrn, provider: providerUrn }).filter(
    ([, urn]) => urn !== undefined,
  );
  const uniqueName = uniqueNames(inStack.map(({ urn }) => logicalName(urn)));
  for (const item of wanted.filter((it) => !isInStack(it))) {
    const { id, name = "" } = item;
    const reason = reasonToLeaveOut(item);
    if (reason !== undefined) leftOut.push(`left out: ${id} "${name}": ${reason}`);
    else {
      resources.push({
        type: instanceToken,
        // The name of an instance may be the token, which no output may show (G8).
        name: uniqueName(io.redactor.redact(name), id),
        id,
        // The file names other resources by the keys of its `nameTable`.
        ...Object.fromEntries(references.map(([key]) => [key, key])),
        ...(Object.keys(inputs).length > 0 ? { inputs } : {}),
      });
    }
  }

  // The format of the file is Pulumi's: https://www.pulumi.com/docs/iac/adopting-pulumi/import/
  const nameTable = references.length > 0 ? { nameTable: Object.fromEntries(references) } : {};
  const json = JSON.stringify({ ...nameTable, resources }, undefined, 2);
  if (out === undefined) json.split("\n").forEach((line) => io.print(line));
  else save(out, `${json}\n`);

  leftOut.forEach((line) => io.warn(line));
  if (!isCompleteFor(listing, statuses)) {
    warn(
      `the service's listing is not complete: there may be more instances than the plan has. ${nameCursor}.`,
    );
  }
  const inStackCount = wanted.filter(isInStack).length;
  const already = inStackCount > 0 ? `; ${inStackCount} are in the stack already` : "";
  const next = resources.length > 0 ? ` Next: ${importPlanCommand(out ?? "FILE", stack)}` : "";
  const noun = resources.length === 1 ? "instance is" : "instances are";
  io.warn(`${resources.length} ${noun} in the plan${already}.${next}`);
  if (wanted.length === 0 && listing.items.size > 0) {
    const filters = [options.name && "--name", statuses.length > 0 && "--status"].filter(Boolean);
    io.warn(`No listed instance matches ${filters.join(" and ")}.`);
    io.exitCode = 1;
  }
}

/**
 * Reads the values of `--input`. The values are not repeated in errors, since any of them may be a secret (G8).
 *
 * @throws OperationFailed if an input is wrong. The lines name all that is wrong.
 */
function parseInputs(assignments: readonly string[]): Partial<Record<InputName, unknown>> {
  const inputs: Partial<Record<InputName, unknown>> = {};
  const problems: string[] = [];
  for (const assignment of assignments) {
    const [, typedName, value = ""] = /^([^=]*)=(.*)$/s.exec(assignment) ?? [];
    const name = inputNames.find((it) => it === typedName);
    if (typedName === undefined) problems.push("one of them has no =");
    else if (name === undefined) {
      const guess = closest(typedName, assertableInputs);
      problems.push(
        `one of the names is not an input of an instance${guess ? `; did you mean ${guess}?` : ""}`,
      );
    } else if (!assertableInputs.includes(name)) {
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
    `→ Give each as NAME=VALUE, where NAME is one of ${assertableInputs.join(", ")}.`,
  ]);
}

/** Makes a RegExp of the pattern of `--name`. It ignores case, since hostnames are compared like that. */
function patternOf(glob = "*"): RegExp {
  const literal = glob.replace(/[\\^$.+()[\]{}|]/g, "\\$&");
  return new RegExp(`^${literal.replaceAll("*", ".*").replaceAll("?", ".")}$`, "isu");
}

function byNameAndId(a: ListItem, b: ListItem): number {
  const [first, second] = [`${a.name ?? ""}\n${a.id}`, `${b.name ?? ""}\n${b.id}`];
  return first < second ? -1 : first > second ? 1 : 0;
}

/**
 * Returns a function that makes the resource name of an instance. A name that is in use, by a resource of the stack
 * (`taken`) or by an earlier instance, gets the id of the instance as its ending.
 */
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

/** @throws OperationFailed if the file can't be written. */
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
