/**
 * `pulumi-resource-compute audit`: what the service lists against all stacks of the backend. It only
 * reads; the state is exported without its secrets.
 */
import type { Command } from "commander";
import { shownNote } from "../ledger/notedName";
import { summarise, type Undecided } from "./audit/findings";
import { listAt, look, type Listed } from "./audit/look";
import { exitCodeOf, exitCodes, printReport, type Report } from "./audit/report";
import { openCreates } from "./openCreates";
import { explained, Service } from "./service";
import { addSettingOptions, settingsFor, type SettingOptions, stackHelp } from "./settings";
import { printData, type Terminal } from "./terminal";

type Options = SettingOptions & { json?: true; stack?: string[] };

export function addAudit(program: Command, io: Terminal): void {
  const command = program
    .command("audit")
    .description("compare what the service lists with all stacks of the backend; changes nothing")
    .option("--json", "print the same as data")
    .option(
      "--stack <name>",
      `${stackHelp} Given again, the service of each such stack is listed. All stacks of the backend are compared in any case.`,
      (name: string, others: string[] = []) => [...others, name],
    )
    .addHelpText(
      "after",
      ["\nIt ends with:", ...Object.entries(exitCodes).map((it) => `  ${it.join("  ")}`)].join(
        "\n",
      ),
    );
  const unused = ["deletePolicy", "destroyPath", "leftovers"] as const;
  addSettingOptions(command, unused).action(async (options: Options) => {
    io.exitCode = await audit(options, io);
  });
}

async function audit(options: Options, by: Terminal): Promise<number> {
  const services: Service[] = [];
  const undecided: Undecided[] = [];
  const report = await examine(options, by, { services, undecided }).finally(() =>
    Promise.all(services.map((service) => service[Symbol.asyncDispose]())),
  );
  const code = report ? exitCodeOf(report) : 3;
  if (options.json) printData({ result: results[code], undecided, ...report }, by);
  else if (report) printReport(report, by);
  return code;
}

const results = { 0: "ok", 1: "found", 3: "undecided" } as const;

/** Undefined where nothing could be compared; why is said. */
async function examine(
  options: Options,
  by: Terminal,
  { services, undecided }: { services: Service[]; undecided: Undecided[] },
): Promise<Report | undefined> {
  const hindered = (what: string, error: unknown) => {
    const lines = explained(error);
    lines.forEach((line) => by.warn(line));
    undecided.push({ what, why: lines.join(" ") });
  };
  const places: Listed[] = [];
  for (const stack of options.stack ?? [undefined]) {
    try {
      const settings = await settingsFor(stack, options, by);
      const service = new Service(settings, by);
      services.push(service);
      const place = await listAt(service);
      if (!places.some((it) => isSame(it, place))) places.push(place);
    } catch (error) {
      hindered("a service", error);
    }
  }
  if (places.length === 0) return undefined;
  try {
    const looks = await look(places, by.env);
    const left = openCreates(by.env, (text) => by.warn(`warning: ${text}`));
    const open = left.map(({ record, isHere }) => ({
      ...record,
      name: shownNote(record.name),
      isHere,
    }));
    return summarise(looks, open, undecided);
  } catch (error) {
    hindered("the stacks", error);
    return undefined;
  }
}

function isSame({ origin: one }: Listed, { origin: other }: Listed): boolean {
  return one.baseUrl === other.baseUrl && one.tokenHash === other.tokenHash;
}
