/**
 * `probe`: asks the service what its document leaves unsaid. With a test token, it makes up to three instances in the sandbox, and
 * destroys them if it finds out how. With any other token it only reads.
 */
import type { Command } from "commander";
import { Canceled } from "../../provider/abort";
import { OperationFailed } from "../../provider/errors";
import { textIn } from "../../provider/instance/instance";
import { failedLines } from "../listings";
import { readState } from "../pulumi";
import {
  addOptions,
  checkSettings,
  commandLineError,
  type FoundSettings,
  type SettingOptions,
  stackHelp,
} from "../settings";
import { isInstance } from "../state";
import { count, printData, type Terminal } from "../terminal";
import { found, open, type Facts, type Found } from "./facts";
import { askAccount, askCursor, askListing } from "./reads";
import { namePrefix, Sandbox, type SandboxIds } from "./sandbox";
import { Steps } from "./steps";
import { tableOf, type Table } from "./table";

interface ProbeOptions extends SettingOptions {
  yes?: true;
  json?: true;
  stack?: string;
  flavor?: string;
  image?: string;
  vpc?: string;
}

const help = `
With a token that is not sk_test_, probe sends nothing but GET. With sk_test_
it makes up to three instances in the sandbox, after it has asked, and destroys
them if it finds a destroy call. At Ctrl-C it destroys what it has made.

Exit codes:
  0  each question has an answer
  1  some have none: see the end of the table, or the error
  2  the command line is wrong
130  Ctrl-C`;

const ownOptions = {
  "--yes": "Make the instances without asking.",
  "--json": "Print the result as JSON. Without --yes, only read.",
  "--stack <name>": stackHelp,
  "--flavor <id>": "Make the instances of this flavor, image and VPC.",
  "--image <id>": "See --flavor. Without the three: those of an instance of the stack.",
  "--vpc <id>": "See --flavor.",
};

/** Adds the command `probe`. */
export function addProbe(program: Command, io: Terminal): void {
  const command = program
    .command("probe")
    .description("ask the service what its document leaves unsaid, with instances of the sandbox")
    .addHelpText("after", help);
  addOptions(command, ownOptions).action(async (options: ProbeOptions) => {
    const { flavor, image, vpc, stack, json } = options;
    const given = [flavor, image, vpc].filter((id) => id !== undefined).length;
    if (given > 0 && given < 3)
      commandLineError(command, "Give --flavor, --image and --vpc together.");
    const { findings, found: settings } = await checkSettings(options, stack, io);
    if (!settings) throw new OperationFailed(failedLines(findings));
    const probe = new Probe(settings, options, io);
    const facts = await probe.gather();
    if (facts === undefined) {
      io.exitCode = 130;
      return;
    }
    const table = tableOf(facts, stack);
    if (json) printData({ service: serviceOf(settings), ...table, ...costOf(facts) }, io);
    else linesOf(table, facts).forEach(io.print);
    io.exitCode = table.open.length > 0 ? 1 : 0;
  });
}

const serviceOf = ({ settings: { baseUrl, tokenKind } }: FoundSettings) => ({ baseUrl, tokenKind });
const costOf = ({ left, steps }: Facts) => ({
  left,
  steps: steps.map(({ step, requests, ms }) => ({ step, requests, seconds: ms / 1000 })),
});

type Reads = Pick<Facts, "account" | "listing">;
type Writes = Pick<Facts, "create" | "sameName" | "order" | "cursor" | "destroy" | "left">;

/** One run of the command. */
class Probe {
  readonly #found: FoundSettings;
  readonly #options: ProbeOptions;
  readonly #io: Terminal;
  /** Aborted by Ctrl-C, once there may be something to destroy. */
  #ended: AbortSignal | undefined;

  constructor(settings: FoundSettings, options: ProbeOptions, io: Terminal) {
    this.#found = settings;
    this.#options = options;
    this.#io = io;
  }

  /** Gathers the facts. Resolves to undefined after Ctrl-C. @throws Error if the service can't be asked (`explainError`) */
  async gather(): Promise<Facts | undefined> {
    const { steps, cancel } = await Steps.begin(this.#found, this.#io);
    const { baseUrl, tokenKind, ...settings } = this.#found.settings;
    this.#note(`service    ${baseUrl} (${tokenKind} token)`);
    const reads: Reads = {
      account: found(await steps.run("account", askAccount)),
      listing: found(await steps.run("listing", askListing)),
    };
    const ids = await this.#idsToMake();
    const writes =
      ids.kind === "open"
        ? await this.#onlyReading(steps, ids)
        : await this.#inSandbox(steps, ids.value, cancel);
    if (writes === undefined) return undefined;
    const { cursorParameter, destroyPath, settlingMs, pollIntervalMs } = settings;
    const present = { cursorParameter, destroyPath, settlingMs, pollIntervalMs };
    cancel();
    return { tokenKind, settings: present, ...reads, ...writes, steps: steps.costs };
  }

  #note(line: string): void {
    const { print, warn } = this.#io;
    if (this.#ended?.aborted) return;
    if (this.#options.json) warn(line);
    else print(line);
  }

  /** Returns what the instances are made of, or why none is made. Asks the person. */
  async #idsToMake(): Promise<Found<SandboxIds>> {
    const { baseUrl, tokenKind } = this.#found.settings;
    if (tokenKind !== "test") return open("with a live token, probe only reads");
    const ids = await this.#ids();
    if (ids.kind === "open") return ids;
    const { flavor_id: flavor, image_id: image, vpc_id: vpc } = ids.value;
    this.#note(
      `to make    up to three instances named ${namePrefix}… in the sandbox of ${new URL(baseUrl).host}`,
    );
    this.#note(`           flavor ${flavor}, image ${image}, VPC ${vpc}`);
    if (this.#options.yes) return ids;
    const agreed = this.#options.json ? undefined : await this.#io.ask("Make them?");
    if (agreed === undefined) return open("nobody can be asked here: --yes makes instances");
    return agreed ? ids : open("no instance was to be made");
  }

  async #ids(): Promise<Found<SandboxIds>> {
    const { flavor, image, vpc } = this.#options;
    if (flavor !== undefined && image !== undefined && vpc !== undefined)
      return found({ flavor_id: flavor, image_id: image, vpc_id: vpc });
    const { stack, settings } = this.#found;
    const { resources } =
      stack === undefined ? { resources: [] } : await readState(stack, this.#io.env);
    for (const { inputs, origin } of resources.filter(isInstance)) {
      const [flavor_id, image_id, vpc_id] = ["flavorId", "imageId", "vpcId"].map((name) =>
        textIn(inputs[name]),
      );
      const isHere = origin?.baseUrl === settings.baseUrl;
      if (isHere && flavor_id && image_id && vpc_id) return found({ flavor_id, image_id, vpc_id });
    }
    const where =
      stack === undefined ? "no stack is used" : `${stack} has no instance of this service`;
    return open(`it takes --flavor, --image and --vpc, because ${where}`);
  }

  async #onlyReading(steps: Steps, none: { kind: "open"; why: string }): Promise<Writes> {
    const { cursorParameter } = this.#found.settings;
    const cursor = await steps.find("cursor", (asking) => askCursor(asking, cursorParameter));
    const { create, sameName, order, destroy } = {
      create: none,
      sameName: none,
      order: none,
      destroy: none,
    };
    return { create, sameName, order, destroy, cursor, left: [] };
  }

  /** Makes instances, looks, and destroys them. Resolves to undefined after Ctrl-C. */
  async #inSandbox(steps: Steps, ids: SandboxIds, cancel: () => void): Promise<Writes | undefined> {
    const ended = this.#io.outlive();
    this.#ended = ended;
    ended.addEventListener("abort", cancel);
    const note = (line: string) => this.#note(line);
    const sandbox = new Sandbox({ steps, ids, ended, note });
    const { cursorParameter, destroyPath } = this.#found.settings;
    try {
      const create = await steps.find("create", (asking) => sandbox.create(asking));
      const made = create.kind === "found" && create.value.kind === "made" && create.value.made;
      if (!made)
        return { ...(await this.#onlyReading(steps, open("no instance was made"))), create };
      await steps.run("wait", (asking) => sandbox.wait(asking, made));
      const sameName = await steps.find("same name", (asking) => sandbox.sameName(asking, made));
      const order = await steps.find("order", (asking) => sandbox.order(asking));
      const cursor = await steps.find("cursor", (asking) => askCursor(asking, cursorParameter));
      const destroy = await steps.find("destroy", (asking) => sandbox.destroy(asking, destroyPath));
      return { create, sameName, order, cursor, destroy, left: sandbox.left };
    } catch (error) {
      if (error instanceof Canceled) return undefined;
      throw error;
    } finally {
      await sandbox.cleanUp();
    }
  }
}

/** The width of the lines, and where the second column begins. */
const width = 99;
const indent = 18;

/** Returns the text as lines, the first behind `label`. */
function wrapped(label: string, text: string): string[] {
  const lines = [label.padEnd(indent)];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    const isEmpty = line.length <= indent;
    if (!isEmpty && line.length + 1 + word.length > width) lines.push(" ".repeat(indent) + word);
    else lines[lines.length - 1] = line + (isEmpty ? "" : " ") + word;
  }
  return lines;
}

/** Returns the table as a person reads it. */
function linesOf({ rows, settings, open: unanswered }: Table, { left, steps }: Facts): string[] {
  const lines = rows.flatMap(({ what, found: text, sure, then, contradicts }) => [
    ...wrapped(what, `${text} (${sure})`),
    ...(then === undefined ? [] : wrapped("", `→ ${then}`)),
    ...(contradicts === undefined ? [] : wrapped("", `≠ the document, section "${contradicts}"`)),
  ]);
  const unknown = unanswered.flatMap(({ what, why }) => wrapped(what, why));
  const commands = settings.flatMap(({ command, why }) => [`  ${command}`, ...wrapped("", why)]);
  const cost = steps.map(
    ({ step, requests, ms }) => `${step} ${count(requests, "request")} ${(ms / 1000).toFixed(1)} s`,
  );
  return [
    "",
    ...lines,
    ...(unknown.length > 0 ? ["", "Not found out:", ...unknown] : []),
    ...(commands.length > 0 ? ["", "Settings that follow:", ...commands] : []),
    "",
    ...(left.length > 0
      ? wrapped(
          "left",
          `${left.join(", ")}: the sandbox ends ${left.length === 1 ? "this instance" : "these instances"}`,
        )
      : []),
    ...wrapped("asked", cost.join(" · ")),
  ];
}
