/**
 * `pulumi-resource-compute doctor`: what `pulumi up` would meet, found out before it and without
 * changing anything: no POST, no DELETE, no file.
 */
import { systemClock } from "../clock";
import { hideToken } from "../config/hideToken";
import { propertyMap, type PropertyMap } from "../property/value";
import type { Messages } from "../surroundings";
import type { Command, Given, Terminal } from "./command";
import { printData } from "./data";
import { examineMachine } from "./doctor/machine";
import { Table } from "./doctor/report";
import { examineService } from "./doctor/service";
import { type Finding, serviceUnknown } from "./finding";
import { readStack } from "./pulumi/config";
import { settingFlags, settingOptions, stackOption } from "./settingOptions";
import { examineSettings } from "./settings";

export const doctor: Command = {
  options: {
    json: { type: "boolean", help: "The same as data." },
    stack: stackOption,
    ...settingOptions,
  },

  async run(given, by) {
    const { json } = given.values;
    const findings: Finding[] = [];
    const table = json ? undefined : new Table(by);
    for await (const finding of examine(given, by)) {
      findings.push(finding);
      table?.add(finding);
    }
    const ok = !findings.some(({ result }) => result === "FAILED");
    if (table) table.end(findings);
    else printData({ ok, checks: findings }, by);
    return ok ? 0 : 1;
  },
};

async function* examine({ values }: Given, by: Terminal): AsyncGenerator<Finding> {
  const { env, cleaner } = by;
  const flags = settingFlags(values);
  let stack: PropertyMap = propertyMap({});
  if (typeof values["stack"] === "string") {
    const read = await readStack(values["stack"], env);
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
