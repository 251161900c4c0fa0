/**
 * `pulumi-resource-compute import-plan`: writes the file for `pulumi import --file` from what the service
 * lists. It changes nothing but the file that `--out` names.
 */
import { writeFileSync } from "node:fs";
import type { Command } from "commander";
import { importPlanCommand, logicalName, nameCursor } from "../advice";
import type { ListItem } from "../api/contract";
import { OperationFailed } from "../errors";
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
  name?: string;
  /** In upper case. */
  status?: string[];
  parent?: string;
  provider?: string;
}

/** Adds the command `import-plan`. */
export function addImportPlan(program: Command, io: Terminal): void {
  const command = program
    .command("import-plan")
    .description("write the file for `pulumi import --file` from what the service lists")
    .option("--out <file>", "Write the plan there instead of to stdout.")
    .option("--stack <name>", `Leave out what this stack has already. ${stackHelp}`)
    .option(
      "--name <pattern>",
      "Only instances with a name like this: * stands for any text, ? for one character.",
    )
    .option(
      "--status <status>",
      "Only instances with this status; may be given again. Default: all but PROVISIONING, which a run may be creating just now.",
      (status: string, others: string[] = []) => [...others, status.toUpperCase()],
    )
    .option("--parent <urn>", "URN of the component in the stack that becomes their parent.")
    .option(
      "--provider <urn>",
      "URN of the program's own provider resource for them. Default: the default provider.",
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

/** @throws OperationFailed or RequestError with the reason why there is no plan. */
async function writePlan(options: Options, io: Terminal): Promise<void> {
  const { stack, out, parent, provider, status: statuses = [] } = options;
  const settings = await readSettings(stack, options, io);
  const inStack = stack === undefined ? [] : (await readState(stack, io.env)).instances;
  const { listing, origin } = await listService(createSession(settings, io));
  const warn = (text: string) => io.warn(`warning: ${text}`);
  const pending = readPendingCreates(io.env, warn);

  const pattern = patternOf(options.name);
  const isWanted = ({ name = "", status = "" }: ListItem) =>
    pattern.test(name) && (statuses.length === 0 || statuses.includes(status.toUpperCase()));
  // An instance that lives elsewhere is another one, even if its id is the same.
  const isInStack = ({ id }: ListItem) =>
    inStack.some(
      (it) =>
        it.id === id &&
        !it.external &&
        (!it.origin || originDifference(it.origin, origin) === undefined),
    );
  const whyLeftOut = ({ id, status }: ListItem): string | undefined => {
    if (io.redactor.redact(id) !== id) return "its id has characters that a plan can't hold";
    const create = pending.find(({ record }) => record.id === id && isSamePlace(record, origin));
    if (create) return describeCreator(create, id);
    return status === "PROVISIONING" && statuses.length === 0
      ? "it is PROVISIONING, so a run may be just creating it; --status PROVISIONING takes it all the same"
      : undefined;
  };

  const wanted = [...listing.items.values()].filter(isWanted).sort(byNameAndId);
  const resources: object[] = [];
  const leftOut: string[] = [];
  const references = Object.entries({ parent, provider }).filter(([, urn]) => urn !== undefined);
  const uniqueName = namer(inStack.map(({ urn }) => logicalName(urn)));
  for (const item of wanted.filter((it) => !isInStack(it))) {
    const { id, name = "" } = item;
    const reason = whyLeftOut(item);
    if (reason !== undefined) leftOut.push(`left out: ${id} "${name}": ${reason}`);
    else {
      resources.push({
        type: instanceToken,
        // An instance may have the token for a name (G8).
        name: uniqueName(io.redactor.redact(name), id),
        id,
        // The file names other resources by the keys of its `nameTable`.
        ...Object.fromEntries(references.map(([key]) => [key, key])),
      });
    }
  }

  // Pulumi's own format: https://www.pulumi.com/docs/iac/adopting-pulumi/import/
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
  const number = wanted.filter(isInStack).length;
  const already = number > 0 ? `; ${number} are in the stack already` : "";
  const next = resources.length > 0 ? ` Next: ${importPlanCommand(out ?? "FILE", stack)}` : "";
  const noun = resources.length === 1 ? "instance is" : "instances are";
  io.warn(`${resources.length} ${noun} in the plan${already}.${next}`);
}

/** Matches upper and lower case alike, as hostnames are compared. */
function patternOf(glob = "*"): RegExp {
  const literal = glob.replace(/[\\^$.+()[\]{}|]/g, "\\$&");
  return new RegExp(`^${literal.replaceAll("*", ".*").replaceAll("?", ".")}$`, "isu");
}

function byNameAndId(a: ListItem, b: ListItem): number {
  const [one, other] = [`${a.name ?? ""}\n${a.id}`, `${b.name ?? ""}\n${b.id}`];
  return one < other ? -1 : one > other ? 1 : 0;
}

/**
 * Gives a function that makes the resource name of an instance. A name that is taken, also by a resource
 * of the stack, gets the id of the instance as its ending.
 */
function namer(taken: readonly string[]): (name: string, id: string) => string {
  // Generated code names its variables like this, so names that differ in signs only would collide.
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

/** The part of a text that every language and every shell takes as it is. */
function resourceName(text: string): string {
  return text
    .slice(0, 100)
    .replace(/[^A-Za-z0-9_.-]+/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
}

/** @throws OperationFailed where the file can't be written. */
function save(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new OperationFailed([
      `the plan can't be written: ${(error as Error).message}`,
      "→ Name another file with --out. Without --out the plan is printed.",
    ]);
  }
}
