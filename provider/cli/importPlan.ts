/**
 * `pulumi-resource-compute import-plan`: writes the file for `pulumi import --file`, from what the service
 * lists. It changes nothing but the file that `--out` names.
 */
import { writeFileSync } from "node:fs";
import type { Command } from "commander";
import { importCommand, importPlanCommand, logicalName, nameCursor } from "../advice";
import type { ListItem } from "../api/contract";
import { instanceStatuses } from "../api/documented";
import { OperationFailed } from "../errors";
import type { LedgerRecord } from "../ledger/record";
import { isCompleteFor } from "../listing/listing";
import { isSamePlace, originDifference, type Origin } from "../origin";
import { closest } from "../closest";
import { instanceToken } from "../tokens";
import { isResumed, openCreates } from "./openCreates";
import { type HeldInstance, readState } from "./pulumi";
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
  const unused = [
    ...(["pollIntervalSeconds", "settlingSeconds"] as const),
    ...(["deletePolicy", "destroyPath", "leftovers"] as const),
  ];
  addSettingOptions(command, unused).action(async (options: Options) => {
    try {
      await plan(options, io);
    } catch (error) {
      explained(error).forEach((line) => io.warn(line));
      io.exitCode = 1;
    }
  });
}

async function plan(options: Options, io: Terminal): Promise<void> {
  const { stack, out, parent, provider, status: statuses = [] } = options;
  const settings = await settingsFor(stack, options, io);
  const held = stack === undefined ? [] : await instancesOf(stack, io.env);
  const { listing, origin } = await new Service(settings, io).list();
  const warn = (text: string) => io.warn(`warning: ${text}`);
  const open = openCreates(io.env, warn).map(({ record }) => record);

  const matches = pattern(options.name);
  const isWanted = ({ name = "", status = "" }: ListItem) =>
    matches.test(name) && (statuses.length === 0 || statuses.includes(status));
  // An instance that lives elsewhere is another one, whatever its id.
  const isHeld = ({ id }: ListItem) =>
    held.some(
      (it) =>
        it.id === id &&
        !it.external &&
        (!it.origin || originDifference(it.origin, origin) === undefined),
    );
  const all = [...listing.items.values()];
  const wanted = all.filter(isWanted).sort((a, b) => byText(a.name, b.name) || byText(a.id, b.id));
  const judged = wanted
    .filter((item) => !isHeld(item))
    .map((item) => {
      if (io.redactor.redact(item.id) !== item.id) {
        return { item, why: "its id has characters in it that a plan can't hold" };
      }
      return { item, why: whyNot(item, { statuses, open, origin }) };
    });
  const chosen = judged.filter(({ why }) => why === undefined).map(({ item }) => item);

  const seen = [...instanceStatuses, ...all.map(({ status = "" }) => status)];
  for (const status of statuses.filter((it) => !seen.includes(it))) {
    const near = closest(status, seen);
    warn(`no instance has the status ${status}${near ? `; did you mean ${near}?` : ""}`);
  }

  // An instance may be called like the token (G8).
  const shown = chosen.map(({ id, name = "" }) => ({ id, name: io.redactor.redact(name) }));
  const taken = held.map(({ urn }) => logicalName(urn));
  const names = namesFor(shown, taken);
  const related = Object.entries({ parent, provider }).filter(([, urn]) => urn !== undefined);
  // Pulumi's own format: https://www.pulumi.com/docs/iac/adopting-pulumi/import/
  const file = {
    // A resource names others by keys of this table.
    ...(related.length > 0 ? { nameTable: Object.fromEntries(related) } : {}),
    resources: chosen.map(({ id }, at) => ({
      ...{ type: instanceToken, name: names[at], id },
      ...Object.fromEntries(related.map(([key]) => [key, key])),
    })),
  };
  const json = JSON.stringify(file, undefined, 2);
  if (out === undefined) json.split("\n").forEach((line) => io.print(line));
  else save(out, `${json}\n`);

  for (const { item, why } of judged) {
    if (why !== undefined) io.warn(`left out: ${item.id} "${item.name ?? ""}": ${why}`);
  }
  if (!isCompleteFor(listing, statuses)) {
    warn(
      `the service's listing is not complete: there may be more instances than the plan has. ${nameCursor}.`,
    );
  }
  const number = wanted.length - judged.length;
  const already = number > 0 ? `; ${number} are in the stack already` : "";
  const next = chosen.length > 0 ? ` Next: ${importPlanCommand(out ?? "FILE", stack)}` : "";
  const noun = chosen.length === 1 ? "instance is" : "instances are";
  io.warn(`${chosen.length} ${noun} in the plan${already}.${next}`);
}

async function instancesOf(
  stack: string,
  env: NodeJS.ProcessEnv,
): Promise<readonly HeldInstance[]> {
  const read = await readState(stack, env);
  if ("instances" in read) return read.instances;
  throw new OperationFailed([
    `stack ${stack}: ${read.problem}`,
    "→ Run it in the folder of the Pulumi project; `pulumi stack ls` lists its stacks.",
  ]);
}

/** Why the plan leaves an instance out. */
function whyNot(
  { id, status }: ListItem,
  known: { statuses: readonly string[]; open: readonly LedgerRecord[]; origin: Origin },
): string | undefined {
  const open = known.open.find((it) => it.id === id && isSamePlace(it, known.origin));
  if (open) {
    const next = isResumed(open)
      ? "and the next `pulumi up` takes it over"
      : `and no state is known to hold it: \`${importCommand(open, id)}\` takes it over`;
    return `an earlier run created it for ${open.urn}, ${next}`;
  }
  return status === "PROVISIONING" && known.statuses.length === 0
    ? "it is PROVISIONING, so a run may be just creating it; --status PROVISIONING takes it all the same"
    : undefined;
}

/** Upper and lower case are the same in a hostname. */
function pattern(glob = "*"): RegExp {
  const literal = glob.replace(/[\\^$.+()[\]{}|]/g, "\\$&");
  return new RegExp(`^${literal.replaceAll("*", ".*").replaceAll("?", ".")}$`, "isu");
}

function byText(a = "", b = ""): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * A resource name for each instance, in their order, and the same one each time. Where several would have the
 * same one, or the stack has it already, the id makes the difference.
 */
function namesFor(
  items: readonly { id: string; name: string }[],
  taken: readonly string[],
): string[] {
  const plain = items.map(({ name, id }) => fit(name) || fit(id) || "instance");
  const used = new Set(taken.map(identifier));
  const wishes = new Map<string, number>();
  for (const key of plain.map(identifier)) wishes.set(key, (wishes.get(key) ?? 0) + 1);
  return items.map(({ id }, at) => {
    const name = plain[at] ?? "";
    const isAlone = wishes.get(identifier(name)) === 1;
    const wish = isAlone && !used.has(identifier(name)) ? name : `${name}-${fit(id)}`;
    let unique = wish;
    for (let n = 2; used.has(identifier(unique)); n++) unique = `${wish}-${n}`;
    used.add(identifier(unique));
    return unique;
  });
}

/** What every language and every shell takes as it is; far longer than any hostname, but not without end. */
function fit(text: string): string {
  return text
    .slice(0, 100)
    .replace(/[^A-Za-z0-9_.-]+/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
}

/** As generated code may name its variable: names that differ in signs only would be the same one. */
function identifier(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "_");
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
