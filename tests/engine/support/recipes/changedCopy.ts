/** A copy of the sources in which the recipes were followed, and the plugin and the emulator that are built from it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { InstanceRecord, LoggedRequest } from "../../../../emulator";
import { executable } from "../../../../provider/process/executable";
import { captured, firstLine } from "../../../../tools/support/command";
import { temporaryFolder } from "../../../../tools/support/files";
import { repositoryFiles, root } from "../../../../tools/support/paths";
import type { Edit } from "./edits";

/** What `npm run generate` writes for the plugin itself, and `npm run build`. The SDKs take Go and minutes. */
const make = `
import { writeFileSync } from "node:fs";
import { ensureBuilt } from "./tools/build";
import { packageSchema } from "./tools/sdk/schema";
writeFileSync("schema.json", JSON.stringify(packageSchema(), undefined, 2) + "\\n");
void ensureBuilt();
`;

export class ChangedCopy implements Disposable {
  readonly #folder = temporaryFolder();
  /** The folder of the plugin. */
  readonly bin = join(this.#folder.path, "bin");

  constructor() {
    for (const file of repositoryFiles()) {
      const copy = join(this.#folder.path, file);
      mkdirSync(dirname(copy), { recursive: true });
      cpSync(join(root, file), copy, { verbatimSymlinks: true });
    }
    symlinkSync(join(root, "node_modules"), join(this.#folder.path, "node_modules"));
  }

  /** Makes the edits, writes the schema, and builds the plugin with its emulator. */
  async build(edits: readonly Edit[]): Promise<void> {
    for (const edit of edits) this.#apply(edit);
    writeFileSync(join(this.#folder.path, "make.ts"), make);
    await this.#node("--import", "tsx", "make.ts");
  }

  /** @throws if the file does not have each text once */
  #apply({ where, replace = {}, create }: Edit): void {
    if (create !== undefined) writeFileSync(join(this.#folder.path, where), create);
    for (const [text, replacement] of Object.entries(replace)) {
      const path = join(this.#folder.path, where);
      const parts = readFileSync(path, "utf8").split(text);
      if (parts.length !== 2) {
        const times = parts.length - 1;
        throw new Error(`edits.ts: ${where} has this ${times} times, not once:\n${text}`);
      }
      writeFileSync(path, parts.join(replacement.replace("$&", () => text)));
    }
  }

  /** Runs a script of an installed package in the copy. @throws with its output if it fails */
  run = (script: string, ...args: readonly string[]) =>
    this.#node(join("node_modules", script), ...args);

  #node(...args: readonly string[]): Promise<string> {
    return captured(process.execPath, args, { cwd: this.#folder.path });
  }

  /** Starts the emulator that was built, with a DELETE. */
  async startEmulator() {
    const options = ["--port=0", "--provisioning-seconds=0", "--destroy-path=/v2/instances/{id}"];
    const child = spawn(join(this.bin, executable), ["emulator", ...options], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const url = /http:\S+/.exec(await firstLine(child.stdout))?.[0] ?? "";
    const control = async (method: string, path: string, body?: object): Promise<unknown> => {
      const request = { method, ...(body && { body: JSON.stringify(body) }) };
      const response = await fetch(new URL(`/control/${path}`, url), request);
      if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
      return response.json();
    };
    return {
      url,
      instances: async () => (await control("GET", "instances")) as InstanceRecord[],
      requests: async () => (await control("GET", "requests")) as LoggedRequest[],
      insert: async (name: string) =>
        (await control("POST", "instances", { name })) as InstanceRecord,
      rename: (id: string, name: string) => control("PATCH", `instances/${id}`, { name }),
      async [Symbol.asyncDispose](): Promise<void> {
        const ended = once(child, "exit");
        child.kill("SIGTERM");
        await ended;
      },
    };
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}
