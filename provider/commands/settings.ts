/** The settings, judged as Configure judges them, and where each comes from. */
import { checkConfig, resolveSettings } from "../config/configuration";
import {
  secretSettings,
  settingDescriptions,
  settingEnvironment,
  settingNames,
  type SettingName,
  type Settings,
} from "../config/settings";
import { propertyMap, reveal, type PropertyMap } from "../property/value";
import { type Check, failed, type Finding, ok } from "./finding";

/** A setting as an option of the command; the token is none. */
export const flagOf = (name: SettingName) =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
export const flagNames = settingNames.filter((name) => !secretSettings.has(name));

export interface Source {
  flags: PropertyMap;
  /** What `--stack` says; empty without. */
  stack: PropertyMap;
  env: NodeJS.ProcessEnv;
}

export interface Examined {
  findings: Finding[];
  /** Absent where something about them is wrong. */
  settings?: Settings;
}

export function examineSettings(source: Source): Examined {
  const { env } = source;
  const args = propertyMap({ ...source.stack, ...source.flags });
  const wrong = new Map<Check, string[]>();
  for (const { property, reason } of checkConfig(args, env).failures) {
    // A secret is named in the reason only.
    const name = property || /^compute:(\w+)/.exec(reason)?.[1] || "";
    const check = checkOf(name);
    const words = reason.replace(`compute:${name} `, "");
    const origin = originOf(name, source);
    const found = words.startsWith(origin) ? words : `${origin}: ${words}`;
    wrong.set(check, [...(wrong.get(check) ?? []), found]);
  }
  const missing = (name: "baseUrl" | "apiToken") => {
    const check = checkOf(name);
    if (!isGiven(name, source)) wrong.set(check, [`not given: ${placesOf(name)}`]);
  };
  missing("baseUrl");
  missing("apiToken");

  const settings = wrong.size === 0 ? resolveSettings(args, env) : undefined;
  const judge = (check: Check, next: string, well: () => string): Finding => {
    const reasons = wrong.get(check);
    return reasons ? failed(check, reasons.join("; "), next) : ok(check, well());
  };
  const findings = [
    judge("base URL", howToGive("baseUrl"), () => {
      const baseUrl = settings?.baseUrl ?? "given";
      return `${baseUrl} (${originOf("baseUrl", source)})`;
    }),
    judge("token", howToGive("apiToken"), () => {
      const kind = settings && kinds[settings.tokenKind];
      return `${kind ?? "given"} (${originOf("apiToken", source)})`;
    }),
    judge(
      "settings",
      "Fix it where it is set; README.md, Configuration, says what each may be.",
      () => {
        const others = settingNames.filter((name) => checkOf(name) === "settings");
        const given = others.filter((name) => isGiven(name, source));
        const list = given.map((name) => `${name} (${originOf(name, source)})`);
        return list.length > 0 ? `${list.join(", ")}; else the defaults` : "the defaults";
      },
    ),
  ];
  return settings ? { findings, settings } : { findings };
}

const kinds = {
  live: "live: billing is active",
  test: "test: nothing is billed, instances are ephemeral",
} as const;

function checkOf(name: string): Check {
  return name === "baseUrl" ? "base URL" : name === "apiToken" ? "token" : "settings";
}

function isGiven(name: SettingName, { flags, stack, env }: Source): boolean {
  const variable = settingEnvironment[name];
  const value = reveal(flags[name] ?? stack[name] ?? null);
  return value !== null || Boolean(variable && env[variable]);
}

/** Where the value in force comes from. */
function originOf(name: string, { flags, stack }: Source): string {
  if (Object.hasOwn(flags, name)) return `--${flagOf(name as SettingName)}`;
  if (Object.hasOwn(stack, name)) return `compute:${name}`;
  return settingEnvironment[name as SettingName] ?? `compute:${name}`;
}

function placesOf(name: "baseUrl" | "apiToken"): string {
  const flag = secretSettings.has(name) ? [] : [`--${flagOf(name)}`];
  const places = [...flag, settingEnvironment[name], "a stack's configuration (--stack NAME)"];
  return `looked for in ${places.join(", ")}`;
}

function howToGive(name: "baseUrl" | "apiToken"): string {
  const secret = secretSettings.has(name) ? "--secret " : "";
  return `${settingDescriptions[name].replaceAll("`", "")} For a stack: pulumi config set ${secret}compute:${name}`;
}
