/**
 * `pulumi-resource-compute doctor`: what `pulumi up` would meet, found out before it and without
 * changing anything: no POST, no DELETE, no file.
 */
import type { Command } from "commander";
import { systemClock } from "../clock";
import { hideToken } from "../config/hideToken";
import { propertyMap, type PropertyMap } from "../property/value";
import type { Messages } from "../surroundings";
import { printData, type Terminal } from "./terminal";
import { examineMachine } from "./doctor/machine";
import { Table } from "./doctor/report";
import { examineService } from "./doctor/service";
import { type Finding, serviceUnknown } from "./finding";
import { readStack } from "./pulumi/config";
import { addSettingOptions, settingFlags, type SettingOptions, stackHelp } from "./settingOptions";
import { examineSettings } from "./settings";

type Options = SettingOptions & { json?: true; stack?: string };

export function addDoctor(program: Command, io: Terminal): void {
  const command = program
    .command("doctor")
    .description("check settings, token, service and this machine; changes nothing")
    .option("--json", "print the same as data")
    .option("--stack <name>", stackHelp);
  addSettingOptions(command).action(async (options: Options) => {
    io.exitCode = await doctor(options, io);
  });
}

async function doctor(options: Options, by: Terminal): Promise<number> {
  const findings: Finding[] = [];
  const table = options.json ? undefined : new Table(by);
  for await (const finding of examine(options, by)) {
    findings.push(finding);
    table?.add(finding);
  }
  const ok = !findings.some(({ result }) => result === "FAILED");
  if (table) table.end(findings);
  else printData({ ok, checks: findings }, by);
  return ok ? 0 : 1;
}

async function* examine(options: Options, by: Terminal): AsyncGenerator<Finding> {
  const { env, cleaner } = by;
  const flags = settingFlags(options);
  let stack: PropertyMap = propertyMap({});
  if (options.stack !== undefined) {
    const read = await readStack(options.stack, env);
    yield read.finding;
    stack = read.settings;
  }
  hideToken(by, stack);
  const { findings, settings } = examineSettings({ flags, stack, env });
  yield* findings;
  if (settings) {
    const around = { messages: quiet(by), cleaner, clock: systemClock, env };
    yield* examineService(settings, around);
  } else yield* serviceUnknown;
  yield* examineMachine(env);
}

/** What would be messages is in the findings; COMPUTE_DEBUG=1 alone has more to say. */
function quiet({ cleaner }: Terminal): Messages {
  const nothing = () => undefined;
  const info = (text: string) => void process.stderr.write(`${cleaner.clean(text)}\n`);
  return { status: nothing, info, warning: nothing, debug: nothing };
}
