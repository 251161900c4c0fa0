/** The settings of a command: from its options, from a stack's configuration, from the environment. */
import { type Command, Option } from "commander";
import { checkConfig, resolveSettings } from "../config/configuration";
import { hideToken } from "../config/configuration";
import {
  secretSettings,
  settingDescriptions,
  settingEnvironment,
  settingNames,
  type SettingName,
  type Settings,
} from "../config/settings";
import { OperationFailed } from "../errors";
import { propertyMap, reveal, type PropertyMap } from "../propertyValue";
import { failed, type Finding, ok } from "./finding";
import { readConfig } from "./pulumi";
import { count, type Terminal } from "./terminal";

export const stackHelp =
  "Read the settings of this stack of the Pulumi project here, the token among them. What is given below wins over it.";

/** Commander gives the values under the names of the settings: `--base-url` as `baseUrl`. */
export type SettingOptions = Partial<Record<SettingName, string>>;

const optionOf = (name: SettingName) =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

const descriptionOf = (name: SettingName) => settingDescriptions[name].replaceAll("`", "");

/** The token is no option: any program of the machine can read those. */
const optionNames = settingNames.filter((name) => !secretSettings.has(name));

/** Those of `unused` change nothing for the command: it takes them, and its help leaves them out. */
export function addSettingOptions(command: Command, unused: readonly SettingName[] = []): Command {
  for (const name of optionNames) {
    const option = new Option(`${optionOf(name)} <value>`, descriptionOf(name));
    command.addOption(option.hideHelp(unused.includes(name)));
  }
  return command;
}

/** @throws OperationFailed with all that is wrong with them. */
export async function settingsFor(
  stack: string | undefined,
  options: SettingOptions,
  io: Terminal,
): Promise<Settings> {
  const { findings, settings } = await examineSettings(stack, options, io);
  if (settings) return settings;
  const wrong = findings.filter(({ result }) => result === "FAILED");
  throw new OperationFailed(
    wrong.flatMap(({ check, found, next }) => [`${check}: ${found}`, `→ ${next}`]),
  );
}

/** Judges the settings as Configure does, and says where each comes from; gives them where all is well. */
export async function examineSettings(
  stack: string | undefined,
  options: SettingOptions,
  io: Terminal,
): Promise<{ findings: Finding[]; settings?: Settings }> {
  const { env } = io;
  const findings: Finding[] = [];
  let ofStack: PropertyMap = {};
  if (stack !== undefined) {
    const read = await readConfig(stack, env);
    if ("problem" in read) {
      const next =
        "Run it in the folder of the Pulumi project; `pulumi stack ls` lists its stacks.";
      return { findings: [failed("stack", read.problem, next)] };
    }
    ofStack = read.config;
    const number = Object.keys(ofStack).length;
    findings.push(ok("stack", `${stack}: ${count(number, "setting")} of compute`));
  }
  hideToken(io, ofStack);

  const ofOptions = propertyMap(
    Object.fromEntries(optionNames.map((name) => [name, options[name]])),
  );
  const args = propertyMap({ ...ofStack, ...ofOptions });
  const variableOf = (name: string) => settingEnvironment[name as SettingName];
  const isGiven = (name: SettingName) =>
    reveal(args[name] ?? null) !== null || Boolean(env[variableOf(name) ?? ""]);
  const sourceOf = (name: string) => {
    if (Object.hasOwn(ofOptions, name)) return optionOf(name as SettingName);
    const variable = Object.hasOwn(ofStack, name) ? undefined : variableOf(name);
    return variable ?? `compute:${name}`;
  };

  const wrong = checkConfig(args, env).failures.map(({ property, reason }) => {
    // A secret is named in the reason only.
    const name = property || /^compute:(\w+)/.exec(reason)?.[1] || "";
    const words = reason.replace(`compute:${name} `, "");
    const source = sourceOf(name);
    return { name, found: words.startsWith(source) ? words : `${source}: ${words}` };
  });
  for (const name of ["baseUrl", "apiToken"] as const) {
    const option = secretSettings.has(name) ? "" : `${optionOf(name)}, `;
    const found = `not given: looked for in ${option}${variableOf(name)}, a stack's configuration (--stack NAME)`;
    if (!isGiven(name)) wrong.push({ name, found });
  }
  const settings = wrong.length === 0 ? resolveSettings(args, env) : undefined;

  const others = settingNames.filter((name) => name !== "baseUrl" && name !== "apiToken");
  const given = others.filter(isGiven).map((name) => `${name} (${sourceOf(name)})`);
  const kind = settings && kinds[settings.tokenKind];
  const judge = (check: string, found: string, next: string, isOf: (name: string) => boolean) => {
    const reasons = wrong.filter(({ name }) => isOf(name)).map((it) => it.found);
    findings.push(reasons.length > 0 ? failed(check, reasons.join("; "), next) : ok(check, found));
  };
  judge(
    "base URL",
    `${settings?.baseUrl ?? "given"} (${sourceOf("baseUrl")})`,
    `${descriptionOf("baseUrl")} For a stack: pulumi config set compute:baseUrl`,
    (name) => name === "baseUrl",
  );
  judge(
    "token",
    `${kind ?? "given"} (${sourceOf("apiToken")})`,
    `${descriptionOf("apiToken")} For a stack: pulumi config set --secret compute:apiToken`,
    (name) => name === "apiToken",
  );
  judge(
    "settings",
    given.length > 0 ? `${given.join(", ")}; else the defaults` : "the defaults",
    "Correct it where it is set; README.md, Configuration, says what each may be.",
    (name) => name !== "baseUrl" && name !== "apiToken",
  );
  return settings ? { findings, settings } : { findings };
}

const kinds = {
  live: "live: billing is active",
  test: "test: nothing is billed, instances are ephemeral",
} as const;
