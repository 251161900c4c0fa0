/**
 * `pulumi-resource-compute import-plan`: the file for `pulumi import --file`, from what the service
 * lists. It only reads, but for the file that `--out` names.
 */
import { writeFileSync } from "node:fs";
import type { Command } from "commander";
import { importPlanCommand, logicalName, nameCursor } from "../advice";
import { instanceStatuses } from "../api/documented";
import { OperationFailed } from "../errors";
import { isWhole } from "../listing/snapshot";
import { closest } from "../property/closest";
import { instanceToken } from "../tokens";
import { choose, type Choice } from "./importPlan/choose";
import { namesFor } from "./importPlan/names";
import { openCreates } from "./openCreates";
import { readState, type StackState } from "./pulumi";
import { explained, Service } from "./service";
import { addSettingOptions, settingsFor, type SettingOptions, stackHelp } from "./settings";
import type { Terminal } from "./terminal";

interface Options extends SettingOptions {
  out?: string;
  stack?: string;
  name?: string;
  status?: string[];
  parent?: string;
  provider?: string;
}

const unused = [
  ...(["pollIntervalSeconds", "settlingSeconds"] as const),
  ...(["deletePolicy", "destroyPath", "leftovers"] as const),
];

export function addImportPlan(program: Command, io: Terminal): void {
  const command = program
    .command("import-plan")
    .description("write the file for `pulumi import --file` from what the service lists")
    .option("--out <file>", "Write the plan there instead of to stdout.")
    .option("--stack <name>", `Leave out what this stack has already. ${stackHelp}`)
    .option(
      "--name <pattern>",
      "Only instances of such a name: * stands for any text, ? for one character.",
    )
    .option(
      "--status <status>",
      "Only instances of this status; may be given again. Left out: every one but PROVISIONING, which a run may be just creating.",
      (status: string, others: string[] = []) => [...others, status],
    )
    .option("--parent <urn>", "The component of the stack that they are to be children of.")
    .option("--provider <urn>", "The program's own provider of them; left out, the default one.");
  addSettingOptions(command, unused).action(async (options: Options) => {
    try {
      await plan(options, io);
    } catch (error) {
      explained(error).forEach((line) => io.warn(line));
      io.exitCode = 1;
    }
  });
}

async function plan(options: Options, by: Terminal): Promise<void> {
  const { name, stack, out, parent, provider, status: statuses = [] } = options;
  const settings = await settingsFor(stack, options, by);
  const state = stack === undefined ? undefined : await stateOf(stack, by);
  await using service = new Service(settings, by);
  const { listing, origin } = await service.listing();

  const warn = (text: string) => by.warn(`warning: ${text}`);
  const open = openCreates(by.env, warn).map(({ record }) => record);
  const clean = (text: string) => by.cleaner.clean(text);
  const isSayable = (text: string) => clean(text) === text;
  const listed = [...listing.items.values()];
  const choice = choose(listed, { name, statuses }, { origin, state, open, isSayable });
  const seen = [...instanceStatuses, ...listed.map(({ status = "" }) => status)];
  for (const status of statuses.filter((it) => !seen.includes(it))) {
    const near = closest(status, seen);
    warn(`no instance has the status ${status}${near ? `; did you mean ${near}?` : ""}`);
  }
  const json = JSON.stringify(fileOf(choice, state, { parent, provider }, clean), undefined, 2);
  if (out === undefined) json.split("\n").forEach((line) => by.print(line));
  else save(out, `${json}\n`);

  for (const { item, why } of choice.leftOut) {
    by.warn(`left out: ${item.id} "${item.name ?? ""}": ${why}`);
  }
  if (!isWhole(listing, statuses)) {
    warn(
      `the service's listing is not complete: there may be more instances than the plan has. ${nameCursor}.`,
    );
  }
  by.warn(summary(choice, out, stack));
}

async function stateOf(stack: string, { env }: Terminal): Promise<StackState> {
  const read = await readState(stack, env);
  if ("state" in read) return read.state;
  throw new OperationFailed([
    `stack ${stack}: ${read.problem}`,
    "→ Run it in the folder of the Pulumi project; `pulumi stack ls` lists its stacks.",
  ]);
}

/** Pulumi's own format: https://www.pulumi.com/docs/iac/adopting-pulumi/import/ */
function fileOf(
  { chosen }: Choice,
  state: StackState | undefined,
  related: Readonly<Record<"parent" | "provider", string | undefined>>,
  clean: (text: string) => string,
): unknown {
  const taken = state?.instances.map(({ urn }) => logicalName(urn)) ?? [];
  // An instance may be called like the token (G8).
  const shown = chosen.map(({ name = "", ...item }) => ({ ...item, name: clean(name) }));
  const names = namesFor(shown, taken);
  const given = Object.entries(related).filter(([, urn]) => urn !== undefined);
  return {
    // A resource names others by keys of this table.
    ...(given.length > 0 ? { nameTable: Object.fromEntries(given) } : {}),
    resources: chosen.map(({ id }, at) => ({
      ...{ type: instanceToken, name: names[at], id },
      ...Object.fromEntries(given.map(([key]) => [key, key])),
    })),
  };
}

function save(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new OperationFailed([
      `the plan can't be written: ${(error as Error).message}`,
      "→ Name another file with --out, or leave it out: the plan is printed then.",
    ]);
  }
}

function summary({ chosen, held }: Choice, out = "FILE", stack: string | undefined): string {
  const already = held.length > 0 ? `; ${held.length} are in the stack already` : "";
  const next = chosen.length > 0 ? ` Next: ${importPlanCommand(out, stack)}` : "";
  const noun = chosen.length === 1 ? "instance is" : "instances are";
  return `${chosen.length} ${noun} in the plan${already}.${next}`;
}
