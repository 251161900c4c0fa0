/** `doctor`: checks whether `pulumi up` can work. It sends GET requests only, and writes no file. */
import type { Command } from "commander";
import metadata from "../metadata.json";
import { TimedOut } from "../provider/abort";
import { pluginCommand, pageAt } from "../provider/advice";
import type { Text } from "../provider/context";
import { pageLimit } from "../provider/api/serviceConstants";
import { whyIncomplete } from "../provider/evidence/why";
import { oldestEngine } from "../provider/process/executable";
import { ledgerFolder } from "../provider/ledger/folder";
import { originDifference } from "../provider/origin";
import { timeouts } from "../provider/session/operations";
import type { Session } from "../provider/session/session";
import { isOlder } from "../provider/version";
import { readRecords, settleAdvice } from "./records";
import { engineVersion, installAdvice, noPulumi, readState } from "./pulumi";
import { beginSession, explainError } from "./listings";
import {
  addOptions,
  checkSettings,
  type FoundSettings,
  type SettingOptions,
  stackHelp,
} from "./settings";
import { isInstance } from "./state";
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

interface DoctorOptions extends SettingOptions {
  json?: true;
  stack?: string;
}

/** Adds the command `doctor`. */
export function addDoctor(program: Command, io: Terminal): void {
  const command = program
    .command("doctor")
    .description("check settings, token, service and this machine; changes nothing");
  const ownOptions = { "--json": "Print the result as JSON.", "--stack <name>": stackHelp };
  addOptions(command, ownOptions).action(async (options: DoctorOptions) => {
    const checks: Finding[] = [];
    // The service may be slow, so each finding is printed as soon as it is known.
    for await (const finding of examine(options, io)) {
      checks.push(finding);
      const { result, check, found, next } = finding;
      if (options.json) continue;
      io.print(result.padEnd(9) + check.padEnd(10) + found);
      if (next !== undefined) io.print(`${" ".repeat(19)}→ ${next}`);
    }
    const isOk = checks.every(({ result }) => result !== "FAILED");
    const isWell = checks.every(({ result }) => result === "ok");
    const passed = isWell
      ? "Nothing found prevents `pulumi up`."
      : "Nothing FAILED: see the warnings.";
    const verdict = isOk ? passed : "First mend what FAILED.";
    if (options.json) printData({ ok: isOk, checks }, io);
    else ["", verdict].forEach(io.print);
    io.exitCode = isOk ? 0 : 1;
  });
}

async function* examine(options: DoctorOptions, io: Terminal): AsyncGenerator<Finding> {
  const { findings, found } = await checkSettings(options, options.stack, io);
  yield* findings;
  if (found) yield* checkService(found, io);
  yield await checkEngine(io.env);
  yield* checkLedger(io);
}

/** Checks the account, then the listing unless that can't work, and then the state. */
async function* checkService(found: FoundSettings, io: Terminal): AsyncGenerator<Finding> {
  // If the account call can't check the token, the session only warns. Here this warning replaces the "ok".
  let warned: Text[] = [];
  const messages = { ...io.messages, warning: (text: Text) => void warned.push(text) };
  const { session, cancel } = beginSession(found, { ...io, messages });
  for (const [check, look] of Object.entries({ account: checkAccount, listing: checkListing })) {
    const finding = await look(session).catch((error: unknown) => explainFailure(check, error));
    const [said] = warned.flat();
    if (check === "account" && said !== undefined && finding.result === "ok")
      yield warning(check, said, "The listing shows whether the token works.");
    else {
      yield finding;
      for (const text of warned) io.messages.warning(text);
    }
    warned = [];
    if (finding.result !== "ok") break;
  }
  if (found.stack !== undefined) yield await checkState(found.stack, session, io.env);
  cancel();
}

/** @throws the error itself if it is a defect of the plugin */
function explainFailure(check: string, error: unknown): Finding {
  const lines = explainError(error);
  if (!lines) throw error;
  const [found = "", next = ""] = lines;
  // `pulumi up` has longer time-outs than `doctor`, and may wait for the end of a pause.
  const isPause = error instanceof TimedOut && error.pause !== undefined;
  return (isPause ? warning : failed)(check, found, next.replace("→ ", ""));
}

async function checkAccount({ settings, connection, operations }: Session): Promise<Finding> {
  using operation = operations.begin(settings.requestTimeoutMs / 1000);
  const { baseUrl, account } = (await connection.open(operation)).origin;
  if (!settings.validateCredentials)
    return ok("account", "not asked, because compute:validateCredentials is false");
  const named = account === undefined ? ", and names no account" : `, account ${account}`;
  return ok("account", `${new URL(baseUrl).host} accepts the token${named}`);
}

async function checkListing(session: Session): Promise<Finding> {
  using operation = session.operations.begin(timeouts.look);
  const listing = await session.list(operation, {});
  const instances = count(listing.items.size, "instance");
  const pages =
    listing.items.size <= pageLimit.max
      ? "one page shows them all; "
      : `in pages by "${session.cursorParameter}"; `;
  if (listing.complete)
    return ok("listing", `${instances}; ${pages}only a create shows whether the token may create`);
  const found = `${instances}, but \`pulumi refresh\` drops none: ${whyIncomplete(listing, session)}`;
  const asked = `\`${pluginCommand("probe")}\` finds out with a test token whether there is a cursor.`;
  const page = `What an incomplete listing means: ${pageAt("scaling.md")}`;
  return warning("listing", found, `${asked} ${page}`);
}

/** Checks whether the stack's instances were made at the place to which the settings lead. */
async function checkState(
  stack: string,
  { connection, operations, addressName }: Session,
  env: NodeJS.ProcessEnv,
): Promise<Finding> {
  const { problem, resources } = await readState(stack, env);
  if (problem) return warning("state", problem.found, "`pulumi up` reads this state, too.");
  using operation = operations.begin(timeouts.look);
  const origin = connection.isOpen
    ? (await connection.open(operation)).origin
    : connection.origin();
  const held = resources.filter(isInstance);
  const away = held.flatMap(({ id, origin: recorded, explicitProvider }) => {
    const difference = originDifference(recorded, origin, addressName);
    // A provider that the program makes has settings of its own.
    return difference && explicitProvider === undefined ? [`${id}: ${difference}`] : [];
  });
  const instances = `${count(held.length, "instance")} of ${stack}`;
  if (away.length === 0) return ok("state", `${instances}, none made with other settings`);
  const found = `${away.length} of ${instances} made with other settings (${away[0]})`;
  const next =
    "Use the settings with which they were made. With these, `pulumi up` may not notice, and makes further instances, and a refresh, a replacement or a delete of the old ones fails.";
  return warning("state", found, next);
}

async function checkEngine(env: NodeJS.ProcessEnv): Promise<Finding> {
  const version = await engineVersion(env).catch(asProblem);
  // A program that uses the Automation API may install the CLI itself.
  if (version instanceof Problem)
    return (version.found === noPulumi ? warning : failed)("engine", version.found, version.next);
  const system = `Node ${process.version} (${process.platform} ${process.arch})`;
  if (isOlder(version, oldestEngine))
    return failed("engine", `Pulumi ${version} is older than ${oldestEngine}`, installAdvice);
  const { name, newestEngine } = metadata;
  // Pulumi has a release each week.
  const isTried = !isOlder(newestEngine, version);
  const untried = isTried ? "" : ` (newer than ${newestEngine}, with which it was tried)`;
  return ok("engine", `Pulumi ${version}${untried}, with ${name} ${metadata.version} on ${system}`);
}

/** Checks the ledger, in which the provider records its creates. */
function checkLedger(io: Terminal): Finding[] {
  const folder = ledgerFolder(io.env);
  const unreadable: Finding[] = [];
  const creates = readRecords(io.env, (message) =>
    unreadable.push(warning("ledger", message, `Look at ${folder}.`)),
  ).filter(({ liveness }) => liveness !== "alive");
  const here = creates.filter(({ isHere }) => isHere);
  const others = creates.length - here.length;
  const elsewhere = others > 0 ? `; ${others} with another state backend` : "";
  const found = `${count(here.length, "create")} in doubt in ${folder}${elsewhere}`;
  const advice = `For each stack: ${settleAdvice()}.`;
  const counted = here.length > 0 ? warning("ledger", found, advice) : ok("ledger", found);
  return [counted, ...unreadable];
}
