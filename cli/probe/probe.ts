/**
 * `probe`: asks the service what its document leaves unsaid. With a test token, it makes up to three instances in the sandbox, and
 * destroys them if it finds out how. With any other token it only reads.
 */
import { Help, type Command } from "commander";
import { Canceled } from "../../provider/abort";
import { OperationFailed } from "../../provider/errors";
import { noCursor } from "../../provider/evidence/collect";
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
import { foundOut, open, type Facts, type StepResult } from "./facts";
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
    const facts = await findFacts(settings, options, io);
    if (facts === undefined) {
      io.exitCode = 130;
      return;
    }
    const table = tableOf(facts, stack);
    const { left, steps } = facts;
    const { baseUrl, tokenKind } = settings.settings;
    if (json) printData({ service: { baseUrl, tokenKind }, ...table, left, steps }, io);
    else tableLines(table, facts).forEach(io.print);
    io.exitCode = table.open.length > 0 ? 1 : 0;
  });
}

/** Gathers the facts. Resolves to undefined after Ctrl-C. @throws Error if the service can't be asked (`explainError`) */
async function findFacts(
  settings: FoundSettings,
  options: ProbeOptions,
  io: Terminal,
): Promise<Facts | undefined> {
  const { steps, cancel } = await Steps.begin(settings, io);
  const { tokenKind, baseUrl } = settings.settings;
  const note = options.json ? io.warn : io.print;
  note(`service    ${baseUrl} (${tokenKind} token)`);
  const account = await steps.run("account", askAccount);
  const listing = await steps.run("listing", askListing);
  const ids = await idsToMake(settings, options, note, io);
  const answers =
    ids.kind === "open"
      ? { ...(await readOnly(steps, ids)), left: [] }
      : await useSandbox(steps, ids.value, note, cancel, io);
  cancel();
  if (answers === undefined) return undefined;
  const isPolicyGiven = settings.given.includes("deletePolicy");
  const deletePolicy = isPolicyGiven ? settings.settings.deletePolicy : undefined;
  const compared = { ...settings.settings, deletePolicy };
  return { settings: compared, account, listing, ...answers, steps: steps.costs };
}

/** Returns what the instances are made of, or why none is made. Asks the person. */
async function idsToMake(
  { settings: { tokenKind, baseUrl }, stack }: FoundSettings,
  { flavor, image, vpc, yes, json }: ProbeOptions,
  note: (line: string) => void,
  io: Terminal,
): Promise<StepResult<SandboxIds>> {
  if (tokenKind !== "test") return open(`with a ${tokenKind} token, probe only reads`);
  const given = flavor && image && vpc && { flavor_id: flavor, image_id: image, vpc_id: vpc };
  const ids = given || (stack && (await idsOfStack(stack, baseUrl, io)));
  const where = stack ? `${stack} has no instance at this service` : "no stack is used";
  if (!ids) return open(`it takes --flavor, --image and --vpc, because ${where}`);
  note(`to make    up to three instances named ${namePrefix}… in the sandbox`);
  note(`           flavor ${ids.flavor_id}, image ${ids.image_id}, VPC ${ids.vpc_id}`);
  const agreed = yes ?? (json ? undefined : await io.ask("Make them?"));
  if (agreed === undefined) return open("nobody can be asked here: --yes makes instances");
  return agreed ? foundOut(ids) : open("no instance was to be made");
}

/** Returns what an instance in the state of this stack was made of, at this service. */
async function idsOfStack(
  stack: string,
  baseUrl: string,
  io: Terminal,
): Promise<SandboxIds | undefined> {
  const { resources } = await readState(stack, io.env);
  const here = resources.filter((one) => isInstance(one) && one.origin?.baseUrl === baseUrl);
  for (const { inputs } of here) {
    const [flavor_id, image_id, vpc_id] = [
      textIn(inputs["flavorId"]),
      textIn(inputs["imageId"]),
      textIn(inputs["vpcId"]),
    ];
    if (flavor_id && image_id && vpc_id) return { flavor_id, image_id, vpc_id };
  }
  return undefined;
}

type Answers = Omit<Facts, "settings" | "account" | "listing" | "left" | "steps">;

const findCursor = (steps: Steps) => {
  const { cursorParameter: set } = steps.session.settings;
  return steps.find("cursor", (asking) => askCursor(asking, set === noCursor ? undefined : set));
};

/** Finds out what needs no new instance. `none`: why none is made. */
async function readOnly(steps: Steps, none: { kind: "open"; why: string }): Promise<Answers> {
  const cursor = await findCursor(steps);
  return { create: none, sameName: none, order: none, cursor, destroy: none };
}

/** Finds out all, and destroys what is left if it can. Resolves to undefined after Ctrl-C. */
async function useSandbox(
  steps: Steps,
  ids: SandboxIds,
  note: (line: string) => void,
  cancel: () => void,
  io: Terminal,
): Promise<(Answers & Pick<Facts, "left">) | undefined> {
  const ended = io.outlive();
  ended.addEventListener("abort", cancel);
  const noteUntilEnd = (line: string) => {
    if (!ended.aborted) note(line);
  };
  const sandbox = new Sandbox({ steps, ids, ended, note: noteUntilEnd });
  try {
    const answers = await askSandbox(steps, sandbox).finally(() => sandbox.cleanUp());
    return { ...answers, left: sandbox.left };
  } catch (error) {
    if (error instanceof Canceled) return undefined;
    throw error;
  }
}

/** Makes instances, looks, and destroys them. */
async function askSandbox(steps: Steps, sandbox: Sandbox): Promise<Answers> {
  const create = await steps.find("create", (asking) => sandbox.create(asking));
  if (create.kind === "open" || create.value.kind !== "made")
    return { ...(await readOnly(steps, open("no instance was made"))), create };
  const { made } = create.value;
  await steps.run("wait", (asking) => sandbox.wait(asking, made));
  const sameName = await steps.find("same name", (asking) => sandbox.sameName(asking, made));
  const order = await steps.find("order", (asking) => sandbox.order(asking));
  const cursor = await findCursor(steps);
  const destroy = await steps.find("destroy", (asking) => sandbox.destroy(asking));
  return { create, sameName, order, cursor, destroy };
}

/** The widths of the two columns. */
const widths = { what: 18, text: 80 };

/** Returns the text as lines, the first behind `label`. */
function wrapped(label: string, text: string): string[] {
  const lines = new Help().boxWrap(text, widths.text).split("\n");
  return lines.map((line, index) => (index === 0 ? label : "").padEnd(widths.what) + line);
}

/** Returns the table as a person reads it. */
function tableLines({ rows, settings, open: unanswered }: Table, { left, steps }: Facts): string[] {
  const cost = steps.map(
    ({ step, requests, seconds }) => `${step} ${count(requests, "request")} ${seconds} s`,
  );
  return [
    "",
    ...rows.flatMap(({ what, found: text, sure, then, contradicts }) => [
      ...wrapped(what, `${text} (${sure})`),
      ...(then ? wrapped("", `→ ${then}`) : []),
      ...(contradicts ? wrapped("", `≠ the document, section "${contradicts}"`) : []),
    ]),
    ...(unanswered.length > 0 ? ["", "Not found out:"] : []),
    ...unanswered.flatMap(({ what, why }) => wrapped(what, why)),
    ...(settings.length > 0 ? ["", "Settings that follow:"] : []),
    ...settings.flatMap(({ command, why }) => [`  ${command}`, ...wrapped("", why)]),
    "",
    ...(left.length > 0
      ? wrapped("left", `${left.join(", ")}: the sandbox ends what is left`)
      : []),
    ...wrapped("asked", cost.join(" · ")),
  ];
}
