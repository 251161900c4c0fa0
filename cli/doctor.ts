/** `doctor`: checks whether `pulumi up` can work. It sends GET requests only, and writes no file. */
import type { Command } from "commander";
import metadata from "../metadata.json";
import { Canceled, TimedOut } from "../provider/abort";
import { ownCommand } from "../provider/advice";
import { pageLimit } from "../provider/api/serviceConstants";
import type { Settings } from "../provider/config/settings";
import type { Text } from "../provider/context";
import { whyIncomplete } from "../provider/evidence/why";
import { oldestEngine } from "../provider/executable";
import { ledgerFolder } from "../provider/ledger/folder";
import { isSamePlace, originDifference } from "../provider/origin";
import { commandRun, Session, timeouts } from "../provider/session/session";
import { isOlder } from "../provider/version";
import { readPendingCreates, resumeAdvice } from "./discard";
import { installAdvice, isInstance, noPulumi, readState, runPulumi } from "./pulumi";
import { explainError } from "./service";
import {
  addOptions,
  checkSettings,
  type FoundSettings,
  type SettingOptions,
  stackHelp,
} from "./settings";
import {
  asProblem,
  count,
  failed,
  type Finding,
  ok,
  printData,
  Problem,
  type Terminal,
  warning,
} from "./terminal";

interface Options extends SettingOptions {
  json?: true;
  stack?: string;
}

/** Adds the command `doctor`. */
export function addDoctor(program: Command, io: Terminal): void {
  const command = program
    .command("doctor")
    .description("check settings, token, service and this machine; changes nothing");
  const ownOptions = { "--json": "Print the result as JSON.", "--stack <name>": stackHelp };
  addOptions(command, ownOptions).action(async (options: Options) => {
    const checks: Finding[] = [];
    // The service may be slow, so each finding is printed as soon as it is known.
    for await (const finding of examine(options, io)) {
      checks.push(finding);
      if (!options.json) printFinding(finding, io);
    }
    const isOk = checks.every(({ result }) => result !== "FAILED");
    if (options.json) printData({ ok: isOk, checks }, io);
    else printVerdict(checks, io);
    io.exitCode = isOk ? 0 : 1;
  });
}

async function* examine(options: Options, io: Terminal): AsyncGenerator<Finding> {
  const { findings, found } = await checkSettings(options, options.stack, io);
  yield* findings;
  if (found) yield* checkService(found, io);
  yield await checkEngine(io.env);
  yield* checkLedger(io.env, found?.settings);
}

/** Checks the account, then the listing unless that can't work, and then the state. */
async function* checkService(
  { settings, stack, variables }: FoundSettings,
  io: Terminal,
): AsyncGenerator<Finding> {
  const warnings: string[] = [];
  const messages = {
    ...io.messages,
    warning: (text: Text) => warnings.push([text].flat().join(" ")),
  };
  const canceler = new AbortController();
  const ctx = { ...io, messages };
  const session = new Session(settings, ctx, () => canceler.signal, commandRun(variables));
  for (const [check, look] of Object.entries({ account: checkAccount, listing: checkListing })) {
    const finding = await look(session).catch((error: unknown) => explainFailure(check, error));
    // What the provider warns of, it also warns of in a run.
    const next = "`pulumi up` works with this, and prints the same warning.";
    const warned = warnings.splice(0).map((text) => warning(check, text, next));
    const isDoubted = check === "account" && finding.result === "ok" && warned.length > 0;
    yield* isDoubted ? warned : [finding, ...warned];
    if (finding.result !== "ok") break;
  }
  yield await checkState(stack, session, io.env);
  // After a time-out, the requests would go on in vain.
  canceler.abort(new Canceled());
}

/** @throws the error itself if it is a defect of the plugin */
function explainFailure(check: string, error: unknown): Finding {
  const lines = explainError(error);
  if (!lines) throw error;
  const [found = "", next = "Correct it, and run `doctor` again."] = lines;
  // `pulumi up` has longer time-outs than `doctor`, and may wait for the end of a pause.
  const isPause = error instanceof TimedOut && error.pause !== undefined;
  return (isPause ? warning : failed)(check, found, next.replace("→ ", ""));
}

async function checkAccount({ settings, connection, operations }: Session): Promise<Finding> {
  using operation = operations.begin(settings.requestTimeoutMs / 1000);
  const { baseUrl, account } = (await connection.open(operation.signal)).origin;
  return settings.validateCredentials
    ? ok(
        "account",
        `${new URL(baseUrl).host} accepts the token${account ? `, account ${account}` : ""}`,
      )
    : ok("account", "not asked, because compute:validateCredentials is false");
}

async function checkListing(session: Session): Promise<Finding> {
  using operation = session.operation(timeouts.look);
  const listing = await session.listings.get({}, operation.signal);
  const instances = count(listing.items.size, "instance");
  if (!listing.complete) {
    const found = `${instances}, but \`pulumi refresh\` drops none: ${whyIncomplete(listing, session)}`;
    return warning("listing", found, "docs/scaling.md says what an incomplete listing means.");
  }
  const cursor =
    session.cursorParameter !== undefined && listing.items.size <= pageLimit.max
      ? "; one page shows them all, so compute:cursorParameter was not tried"
      : "";
  const found = `${instances}${cursor}; only the first create shows whether the token may create`;
  return ok("listing", found);
}

/** Checks whether the instances of the stack were made at the place to which the settings lead. */
async function checkState(
  stack: string | undefined,
  { connection, operations, addressName }: Session,
  env: NodeJS.ProcessEnv,
): Promise<Finding> {
  if (stack === undefined)
    return ok("state", "no stack is used, so it is not known where its instances were made");
  const { problem, resources } = await readState(stack, env);
  if (problem) return warning("state", problem, "`pulumi up` reads this state, too.");
  const instances = resources.filter((held) => isInstance(held) && !held.external);
  if (instances.length === 0) return ok("state", `${stack} has no instance`);
  using operation = operations.begin(timeouts.look);
  const origin = connection.isOpen
    ? (await connection.open(operation.signal)).origin
    : connection.place();
  // A provider that the program makes has settings of its own.
  const known = instances.filter((held) => held.origin && held.provider === undefined);
  const away = known.flatMap(({ id, origin: recorded }) => {
    const difference = originDifference(recorded, origin, addressName);
    return difference ? [`${id}: ${difference}`] : [];
  });
  const of = `of ${count(instances.length, "instance")} of ${stack}`;
  const unknown = instances.length - known.length;
  const rest =
    unknown > 0
      ? `; not known: ${unknown}, since the program makes their provider, or the state does not say where they were made`
      : "";
  if (away.length === 0)
    return ok("state", `made with this address and kind of token: ${known.length} ${of}${rest}`);
  return warning(
    "state",
    `made with another address, kind of token or account: ${away.length} ${of} (${away[0]})${rest}`,
    "`pulumi up` makes new instances at this address, and a refresh, a replacement or a delete of those fails. Use the settings with which they were made.",
  );
}

async function checkEngine(env: NodeJS.ProcessEnv): Promise<Finding> {
  const output = await runPulumi(["version"], env, installAdvice).catch(asProblem);
  // A program that uses the Automation API may install the CLI itself.
  if (output instanceof Problem)
    return (output.found === noPulumi ? warning : failed)("engine", output.found, output.next);
  const version = output.trim().replace(/^v/, "");
  const system = `Node ${process.version} (${process.platform} ${process.arch})`;
  return isOlder(version, oldestEngine)
    ? failed("engine", `Pulumi ${version} is older than ${oldestEngine}`, installAdvice)
    : ok("engine", `Pulumi ${version}, with ${metadata.name} ${metadata.version} on ${system}`);
}

/** Checks the ledger, in which the provider records its creates. */
function checkLedger(env: NodeJS.ProcessEnv, settings: Settings | undefined): Finding[] {
  const folder = ledgerFolder(env);
  const unreadable: Finding[] = [];
  const creates = readPendingCreates(env, (message) =>
    unreadable.push(warning("ledger", message, `Look at ${folder}.`)),
  ).filter(({ liveness }) => liveness !== "alive");
  const here = creates.filter(({ isHere }) => isHere).map(({ record }) => record);
  const elsewhere = settings ? here.filter((record) => !isSamePlace(record, settings)).length : 0;
  const others = creates.length - here.length;
  const found = [
    `${count(here.length, "pending create")} in ${folder}`,
    elsewhere > 0 &&
      `${elsewhere} of them with another address or kind of token than these settings`,
    others > 0 && `${others} with another state backend, which \`${ownCommand("discard")}\` lists`,
  ];
  const text = found.filter(Boolean).join("; ");
  const counted =
    here.length > 0
      ? warning("ledger", text, resumeAdvice(here.map(({ urn }) => urn)))
      : ok("ledger", text);
  return [counted, ...unreadable];
}

function printFinding({ result, check, found, next }: Finding, { print }: Terminal): void {
  print(result.padEnd(9) + check.padEnd(10) + found);
  if (next !== undefined) print(`${" ".repeat(19)}→ ${next}`);
}

function printVerdict(checks: readonly Finding[], { print }: Terminal): void {
  const failures = checks.filter(({ result }) => result === "FAILED").length;
  const warnings = checks.filter(({ result }) => result === "warning").length;
  const warned = count(warnings, "warning");
  print("");
  if (failures > 0) print(`${failures} FAILED, ${warned}: \`pulumi up\` can't work like this.`);
  else print(warnings > 0 ? `Nothing found prevents \`pulumi up\`; ${warned}.` : "All is well.");
}
