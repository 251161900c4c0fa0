/** The script of a server's first boot, from a template. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const template = readFileSync(join(__dirname, "cloud-init.template"), "utf8");

/** What the template asks for. */
export interface CloudInit {
  packages: readonly string[];
  /** The contents of a file. */
  agentEnvironment: string;
  /** The address that SSH connections are taken from. */
  bastion: string;
}

export function cloudInit(values: CloudInit): string {
  return fill(template, { ...values });
}

/** No value can break out of its place: JSON is quoted. */
export function fill(text: string, values: Readonly<Record<string, unknown>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) {
      throw new Error(`cloud-init.template asks for {{${name}}}. Give it a value in cloudInit.ts.`);
    }
    return JSON.stringify(value);
  });
}
