/** `doctor`: checks whether `pulumi up` can work. It sends GET requests only, and writes no file. */
import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import type { Command } from "commander";
import metadata from "../metadata.json";
import { TimedOut } from "../provider/abort";
import { cursorIgnored, nextStep, ownCommand, wrongCursorAdvice } from "../provider/advice";
import { RequestError } from "../provider/api/errors";
import type { ClientOptions } from "../provider/api/options";
import { pageLimit } from "../provider/api/serviceConstants";
import type { Settings } from "../provider/config/settings";
import { OperationFailed } from "../provider/errors";
import { collect } from "../provider/evidence/collect";
import { whyIncomplete } from "../provider/evidence/why";
import { oldestEngine } from "../provider/executable";
import { ledgerFolder } from "../provider/ledger/folder";
import { accountId, leavesTokenUsable } from "../provider/session/connection";
import { Session, timeouts } from "../provider/session/session";
import { isOlder } from "../provider/version";
import { readPendingCreates, resumeAdvice } from "./discard";
import { installAdvice, noPulumi, runPulumi } from "./pulumi";
import { addOptions, checkSettings, type SettingOptions, stackHelp } from "./settings";
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
  if (found) yield* checkService(found.settings, io);
  yield* await checkEngine(io.env);
  yield* checkLedger(io.env);
}

/** Checks the account, and then the listing, if it can work. */
async function* checkService(settings: Settings, io: Terminal): AsyncGenerator<Finding> {
  // `pulumi up` waits after a 429. `doctor` reports it at once.
  const slowedDown = new AbortController();
  const onRetry: ClientOptions["onRetry"] = ({ method, path, error }) => {
    if (error.status !== 429) return;
    slowedDown.abort(new Problem(`${method} ${path} answered HTTP 429`, tooManyRequests));
  };
  const { createClient } = await import("../provider/api/client.js");
  const createApi = (options: ClientOptions) => createClient({ ...options, onRetry });
  const session = new Session(settings, { ...io, createApi }, () => slowedDown.signal);
  const checks = { account: checkAccount, listing: checkListing };
  for (const [name, check] of Object.entries(checks)) {
    const explain = (error: unknown) => [explainFailure(name, error, settings)];
    const findings = await check(session).catch(explain);
    yield* findings;
    if (slowedDown.signal.aborted || findings.some(({ result }) => result === "FAILED")) return;
  }
}

const tooManyRequests =
  "Other runs use this token, too. `pulumi up` would wait and slow down. docs/scaling.md says how many runs can share a token.";

/** @throws the error itself if it is a defect of the plugin */
function explainFailure(check: string, error: unknown, { baseUrl }: Settings): Finding {
  if (error instanceof Problem) return warning(check, error.found, error.next);
  if (error instanceof RequestError) return failed(check, error.message, nextStep(error));
  if (error instanceof TimedOut) {
    const { host } = new URL(baseUrl);
    const next =
      "Check compute:baseUrl, the network and the proxy settings; a longer compute:requestTimeoutSeconds may help.";
    return failed(check, `${host} sent no usable answer within ${error.limit}`, next);
  }
  // For example, the value of a proxy variable is not an address.
  if (error instanceof OperationFailed)
    return failed(check, error.message, "Correct it, and run `doctor` again.");
  throw error;
}

async function checkAccount(session: Session): Promise<Finding[]> {
  const { baseUrl, requestTimeoutMs, validateCredentials } = session.settings;
  if (!validateCredentials)
    return [ok("account", "not asked, because compute:validateCredentials is false")];
  const api = await session.connection.api();
  using operation = session.operation(requestTimeoutMs / 1000);
  try {
    const id = accountId(await api.account(operation.signal));
    const account = id === undefined ? "" : `, account ${id}`;
    return [ok("account", `${new URL(baseUrl).host} accepts the token${account}`)];
  } catch (error) {
    if (!leavesTokenUsable(error)) throw error;
    const advice = `${nextStep(error)} \`pulumi up\` works without the account call: if the token is meant to lack the scope for that call, set compute:validateCredentials to false.`;
    return [warning("account", error.message, advice)];
  }
}

async function checkListing(session: Session): Promise<Finding[]> {
  const { cursorParameter } = session.settings;
  const api = await session.connection.api();
  using operation = session.operation(timeouts.look);
  const listing = await collect(api, cursorParameter, operation.signal);
  const instances = count(listing.items.size, "instance");
  if (listing.complete) {
    const isUntried = cursorParameter !== undefined && listing.items.size <= pageLimit.max;
    const cursor = isUntried
      ? `; compute:cursorParameter was not tried, since one page shows up to ${pageLimit.max}`
      : "";
    const found = `${instances}${cursor}; only the first create shows whether the token may create`;
    return [ok("listing", found)];
  }
  const [why, next] = listing.cursorProblem
    ? [cursorIgnored(cursorParameter, listing.cursorProblem.why), wrongCursorAdvice]
    : [whyIncomplete(listing, session), "docs/scaling.md says what an incomplete listing means."];
  return [warning("listing", `${instances}, but \`pulumi refresh\` drops none: ${why}`, next)];
}

async function checkEngine(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const output = await runPulumi(["version"], env, installAdvice).catch(asProblem);
  if (output instanceof Problem) {
    // A program that uses the Automation API may install the CLI itself.
    const make = output.found === noPulumi ? warning : failed;
    return [make("engine", output.found, output.next)];
  }
  const [version] = /\d+\.\d+\.\d+/.exec(output) ?? [];
  if (version === undefined)
    return [warning("engine", "`pulumi version` printed no version", installAdvice)];
  if (isOlder(version, oldestEngine))
    return [failed("engine", `Pulumi ${version} is older than ${oldestEngine}`, installAdvice)];
  const system = `Node ${process.version} (${process.platform} ${process.arch})`;
  return [
    ok("engine", `Pulumi ${version}, with ${metadata.name} ${metadata.version} on ${system}`),
  ];
}

/** Checks the folder of the ledger, in which the provider records its creates. */
function checkLedger(env: NodeJS.ProcessEnv): Finding[] {
  const folder = ledgerFolder(env);
  const problem = whyNotWritable(folder);
  if (problem !== undefined) {
    const next =
      "Make the folder writable, or set PULUMI_HOME to a writable one. Otherwise, if a run is killed while it creates an instance, the next run does not know of that instance.";
    return [warning("ledger", `${folder} can't be written (${problem})`, next)];
  }
  const unreadable: Finding[] = [];
  const creates = readPendingCreates(env, (message) =>
    unreadable.push(warning("ledger", message, `Look at ${folder}.`)),
  );
  const pending = creates.filter(({ liveness }) => liveness !== "alive");
  const here = pending.filter(({ isHere }) => isHere).map(({ record }) => record.urn);
  const elsewhere = pending.length - here.length;
  const others = `; ${elsewhere} with another state backend, which \`${ownCommand("discard")}\` lists`;
  const found = `${count(here.length, "pending create")} in ${folder}${elsewhere > 0 ? others : ""}`;
  const counted =
    here.length > 0 ? warning("ledger", found, resumeAdvice(here)) : ok("ledger", found);
  return [counted, ...unreadable];
}

/** Says why this folder can't be written or created, without writing anything. Undefined if it can. */
function whyNotWritable(folder: string): string | undefined {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const parent = dirname(folder);
    return code === "ENOENT" && parent !== folder ? whyNotWritable(parent) : (code ?? message);
  }
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
