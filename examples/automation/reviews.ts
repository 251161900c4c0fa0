/** Review environments: each is a stack, whose tag says when its time is over. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import {
  LocalWorkspace,
  type InlineProgramArgs,
  type Stack,
} from "@pulumi/pulumi/automation/index.js";
import { expiry, isExpired } from "./lifetime.ts";
import { progressOf } from "./progress.ts";
import { reviewProgram } from "./program.ts";

const projectName = "reviews";
const prefix = "review-";
const endTag = "review:end";

export interface Review {
  name: string;
  /** As recorded; undefined where nothing is. */
  end: string | undefined;
}

export interface Reaped {
  destroyed: string[];
  /** Without a record that can be read: a person has to look. */
  unclear: string[];
  /** Why, by name. They are still there, and the next run tries again. */
  failed: Record<string, string>;
}

export class Reviews {
  readonly #workDir: string;
  readonly #say: (line: string) => void;

  /** `workDir` has the Pulumi.yaml. */
  constructor(workDir: string, say: (line: string) => void) {
    this.#workDir = workDir;
    this.#say = say;
  }

  /** Makes it, or brings it in line; either way its time begins anew. */
  async up(name: string, hours: number, servers: number): Promise<Record<string, unknown>> {
    const end = expiry(hours, new Date());
    const stack = await LocalWorkspace.createOrSelectStack(this.#stack(name, servers), this.#here);
    // Before anything is made: what fails half-way ends as well.
    await stack.workspace.setTag(stack.name, endTag, end);
    await this.#settle(stack);
    const { outputs } = await stack.up({ onEvent: this.#show });
    this.#say(`${name} lives until ${end}`);
    return Object.fromEntries(Object.entries(outputs).map(([key, { value }]) => [key, value]));
  }

  async down(name: string): Promise<void> {
    await this.#remove(await LocalWorkspace.selectStack(this.#stack(name), this.#here));
  }

  async list(): Promise<Review[]> {
    const workspace = await LocalWorkspace.create(this.#here);
    const reviews: Review[] = [];
    for (const { name } of await workspace.listStacks()) {
      if (!name.startsWith(prefix)) continue;
      const tags = await workspace.listTags(name);
      reviews.push({ name: name.slice(prefix.length), end: tags[endTag] });
    }
    return reviews;
  }

  /** Destroys those whose time is over. One that fails keeps none of the others. */
  async reap(now = new Date()): Promise<Reaped> {
    const reaped: Reaped = { destroyed: [], unclear: [], failed: {} };
    for (const { name, end } of await this.list()) {
      const over = isExpired(end, now);
      if (over === undefined) reaped.unclear.push(name);
      if (over !== true) continue;
      try {
        await this.down(name);
        reaped.destroyed.push(name);
      } catch (error) {
        reaped.failed[name] = error instanceof Error ? error.message : String(error);
      }
    }
    return reaped;
  }

  /** Puts right what a killed run has left: the state may not know a server that runs. */
  async #settle({ name }: Stack): Promise<void> {
    const words = ["plugin", "run", "--kind", "resource", "compute", "--"];
    const command = [...words, "settle", "--yes", "--stack", name];
    try {
      await promisify(execFile)("pulumi", command, { cwd: this.#workDir });
    } catch (error) {
      const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
      throw new Error(`${name} can't be settled:\n${stdout}${stderr}`, { cause: error });
    }
  }

  async #remove(stack: Stack): Promise<void> {
    await this.#settle(stack);
    await stack.destroy({ onEvent: this.#show });
    await stack.workspace.removeStack(stack.name);
    this.#say(`${stack.name.slice(prefix.length)} is gone`);
  }

  get #here() {
    return { workDir: this.#workDir };
  }

  #stack(name: string, servers = 0): InlineProgramArgs {
    if (!/^[a-z0-9][a-z0-9-]{0,40}$/.test(name)) {
      throw new RangeError(`"${name}" is no name: small letters, digits and - make one`);
    }
    return { projectName, stackName: prefix + name, program: reviewProgram({ servers }) };
  }

  readonly #show = (event: Parameters<typeof progressOf>[0]): void => {
    const line = progressOf(event);
    if (line !== undefined) this.#say(line);
  };
}
