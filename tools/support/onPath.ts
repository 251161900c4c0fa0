/** Finds commands on PATH, and makes environments with a changed PATH. */
import { existsSync, statSync } from "node:fs";
import { delimiter, resolve, sep } from "node:path";
import { toolsBin } from "./paths";

/** Returns the absolute path of a command. Undefined if there is none, or only one that our tools have built. */
export function onPath(name: string, environment = process.env): string | undefined {
  const endings = process.platform === "win32" ? [".exe", ".cmd"] : [""];
  return pathOf(environment)
    .split(delimiter)
    .filter((directory) => directory !== "" && !isToolsBin(directory))
    .flatMap((directory) => endings.map((ending) => resolve(directory, name + ending)))
    .find((path) => existsSync(path) && statSync(path).isFile());
}

function isToolsBin(directory: string): boolean {
  return `${resolve(directory)}${sep}`.startsWith(`${toolsBin}${sep}`);
}

/** Returns the environment of this process with `extra`, and with these folders first on PATH. */
export function withPath(binDirs: readonly string[], extra: NodeJS.ProcessEnv = {}) {
  const result = { ...process.env, ...extra };
  // Windows spells it `Path`. Two spellings would be two variables.
  const path = [...binDirs, pathOf(result)].join(delimiter);
  for (const name of Object.keys(result)) if (isPath(name)) delete result[name];
  return { ...result, PATH: path };
}

function pathOf(environment: NodeJS.ProcessEnv): string {
  const name = Object.keys(environment).find(isPath);
  return (name !== undefined && environment[name]) || "";
}

function isPath(name: string): boolean {
  return process.platform === "win32" ? name.toUpperCase() === "PATH" : name === "PATH";
}
