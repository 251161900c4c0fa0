/** `doctor`: checks whether `pulumi up` can work. It sends GET requests only, and writes no file. */
import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import type { Command } from "commander";
import metadata from "../metadata.json";
import { TimedOut } from "../provider/abort";
import {
  cursorIgnored,
  nameCursor,
  nextStep,
  ownCommand,
  wrongCursorAdvice,
} from "../provider/advice";
import type { ComputeApi } from "../provider/api/client";
import { RequestError } from "../provider/api/errors";
import type { ClientOptions } from "../provider/api/options";
import { pageLimit } from "../provider/api/serviceConstants";
import type { Settings } from "../provider/config/settings";
import { OperationFailed } from "../provider/errors";
import { oldestEngine } from "../provider/executable";
import { ledgerFolder } from "../provider/ledger/folder";
import { collect } from "../provider/evidence/collect";
import { accountId } from "../provider/session/connection";
import { Session, timeouts } from "../provider/session/session";
import { isOlder } from "../provider/version";
import { readPendingCreates, resumeAdvice } from "./discard";
import { installAdvice, noPulumi, runPulumi } from "./pulumi";
import { addOptions, checkSettings, type SettingOptions, stackHelp } from "./service";
import { asProblem, count, type Finding, printData, Problem, type Terminal } from "./terminal";

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
    const findings: Finding[] = [];
    // The service may be slow, so each finding is printed as soon as it is known.
    for await (const finding of examine(options, io)) {
      findings.push(finding);
      if (!options.json) printFinding(finding, io);
    }
    const isOk = findings.every(([result]) => result !== "FAILED");
    const checks = findings.map(([result, check, found, next]) => ({ check, result, found, next }));
    if (options.json) printData({ ok: isOk, checks }, io);
    else printVerdict(findings, io);
    io.exitCode = isOk ? 0 : 1;
  });
}

async function* examine(options: Options, io: Terminal): AsyncGenerator<Finding> {
  const { findings, found } = await checkSettings(options, options.stack, io);
  yield* findings;
  if (found) yield* examineService(found.settings, io);
  else yield skippedService;
  const { name, version } = metadata;
  const system = `Node ${process.version} (${process.platform} ${process.arch})`;
  yield ["ok", "plugin", `${name} ${version}, on ${system}`];
  yield await examineEngine(io.env);
  yield examineLedger(io.env);
}

const notChecked = "it is not checked further until the problem above is solved";
const skippedService: Finding = ["skipped", "service", notChecked];

const tooManyRequests =
  "Other runs use this token, too. `pulumi up` would wait and slow down. docs/scaling.md says how many runs can share a token.";

const networkAdvice =
  "Check compute:baseUrl, the network and the proxy settings; a longer compute:requestTimeoutSeconds may help.";

const unreadableAdvice =
  "Check that compute:baseUrl is the address of the Compute Instances Service. If it is, report this to the operator of the service.";

const notWritableAdvice =
  "Make the folder writable, or set PULUMI_HOME to a writable one. Otherwise, if a run is killed while it creates an instance, the next run does not know of that instance.";

/** Sends the account call (GET /v2/account), then lists all instances. */
async function* examineService(settings: Settings, io: Terminal): AsyncGenerator<Finding> {
  const { host } = new URL(settings.baseUrl);
  const { createClient } = await import("../provider/api/client.js");
  // `pulumi up` waits after a 429. `doctor` reports it at once.
  const slowedDown = new AbortController();
  const onRetry: ClientOptions["onRetry"] = ({ method, path, error }) => {
    if (error.status !== 429) return;
    slowedDown.abort(new Problem(`${method} ${path} answered HTTP 429`, tooManyRequests));
  };
  const createApi = (options: ClientOptions) => createClient({ ...options, onRetry });
  const session = new Session(settings, { ...io, createApi }, () => slowedDown.signal);

  const connection: Finding = ["ok", "connection", `${host} answers`];
  let check = "account";
  try {
    const api = await session.connection.api();
    const account = await examineAccount(api, session);
    yield connection;
    yield account;
    check = "listing";
    const listing = await examineListing(api, session);
    yield ["ok", "scope", "list is allowed; only the first create shows whether create is allowed"];
    yield listing;
  } catch (error) {
    const isAnswered = error instanceof RequestError && error.kind === "answered";
    if (check === "account" && isAnswered) yield connection;
    const isRefused = error instanceof RequestError && error.status === 403;
    const failed = isRefused ? "scope" : check === "account" && !isAnswered ? "connection" : check;
    if (error instanceof Problem) yield ["warning", check, error.found, error.next];
    else yield ["FAILED", failed, ...explainFailure(error, host)];
    yield skippedService;
  }
}

/** @throws The error itself if it is a defect of the plugin. */
function explainFailure(error: unknown, host: string): [found: string, next: string] {
  if (error instanceof TimedOut)
    return [`${host} sent no usable answer within ${error.seconds} s`, networkAdvice];
  if (error instanceof RequestError) return [error.message, nextStep(error)];
  // For example, the value of a proxy variable is not an address.
  if (error instanceof OperationFailed)
    return [error.message, "Correct it, and run `doctor` again."];
  throw error;
}

/** @throws RequestError if the account call fails in a way that makes `pulumi up` fail, too. */
async function examineAccount(api: ComputeApi, session: Session): Promise<Finding> {
  const { requestTimeoutMs, validateCredentials } = session.settings;
  using operation = session.operation(requestTimeoutMs / 1000);
  try {
    const id = accountId(await api.account(operation.signal));
    const account = id === undefined ? "" : `, account ${id}`;
    return ["ok", "account", `the service accepts the token${account}`];
  } catch (error) {
    if (!(error instanceof RequestError) || error.kind !== "answered") throw error;
    if (error.status === 401 || error.transient) throw error;
    const found = "the service refuses the account call, but compute:validateCredentials is false";
    const advice = `${nextStep(error)} \`pulumi up\` works without the account call: if the token is meant to lack the scope for that call, set compute:validateCredentials to false.`;
    return validateCredentials
      ? ["warning", "account", error.message, advice]
      : ["ok", "account", found];
  }
}

/** @throws RequestError if the service can't be listed. */
async function examineListing(api: ComputeApi, session: Session): Promise<Finding> {
  const { cursorParameter } = session.settings;
  using operation = session.operation(timeouts.look);
  const listing = await collect(api, cursorParameter, operation.signal);
  const { items, unreadable, unreadableWhy, complete, cursorProblem } = listing;
  const instances = count(items.size, "instance");
  if (complete) {
    const isUntried = cursorParameter !== undefined && items.size <= pageLimit.max;
    const cursor = `; compute:cursorParameter was not tried, since one page shows up to ${pageLimit.max}`;
    return ["ok", "listing", isUntried ? instances + cursor : instances];
  }
  const incomplete = "the listing is not complete, so `pulumi refresh` drops no instance";
  if (unreadable > 0) {
    const why = unreadableWhy === undefined ? "" : ` (${unreadableWhy})`;
    const found = `${instances}, and ${count(unreadable, "item")} that can't be read${why}: ${incomplete}`;
    return ["warning", "listing", found, unreadableAdvice];
  }
  if (cursorProblem !== undefined) {
    const found = `${instances}: ${cursorIgnored(cursorParameter, cursorProblem.why)}; ${incomplete}`;
    return ["warning", "listing", found, wrongCursorAdvice];
  }
  const found = `${instances}, and there may be more, since the service lists at most ${pageLimit.max} of each status: ${incomplete}`;
  return [
    "warning",
    "listing",
    found,
    `${nameCursor}; docs/scaling.md says what is possible without a cursor.`,
  ];
}

async function examineEngine(env: NodeJS.ProcessEnv): Promise<Finding> {
  const output = await runPulumi(["version"], env, installAdvice).catch(asProblem);
  if (output instanceof Problem) {
    // A program that uses the Automation API may install the CLI itself.
    const result = output.found === noPulumi ? "warning" : "FAILED";
    return [result, "engine", output.found, output.next];
  }
  const [version] = /\d+\.\d+\.\d+/.exec(output) ?? [];
  if (version === undefined)
    return ["warning", "engine", "`pulumi version` printed no version", installAdvice];
  return isOlder(version, oldestEngine)
    ? ["FAILED", "engine", `Pulumi ${version} is older than ${oldestEngine}`, installAdvice]
    : ["ok", "engine", `Pulumi ${version}`];
}

/** Checks the folder of the ledger, in which the provider records its creates. */
function examineLedger(env: NodeJS.ProcessEnv): Finding {
  const folder = ledgerFolder(env);
  const problem = whyNotWritable(folder);
  if (problem !== undefined) {
    return ["warning", "ledger", `${folder} can't be written (${problem})`, notWritableAdvice];
  }
  const warnings: string[] = [];
  const creates = readPendingCreates(env, (message) => warnings.push(message));
  const pending = creates.filter(({ liveness }) => liveness !== "alive");
  const here = pending.filter(({ isHere }) => isHere).map(({ record }) => record.urn);
  if (here.length > 0) {
    const found = `${count(here.length, "pending create")} in ${folder}`;
    return ["warning", "ledger", found, resumeAdvice(here)];
  }
  if (warnings.length > 0) return ["warning", "ledger", warnings.join("; "), `Look at ${folder}.`];
  const others = `; ${pending.length} with another state backend, which \`${ownCommand("discard")}\` lists`;
  return ["ok", "ledger", `${folder}: no pending create${pending.length > 0 ? others : ""}`];
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

function printFinding([result, check, found, next]: Finding, io: Terminal): void {
  io.print(result.padEnd(9) + check.padEnd(13) + found);
  if (next !== undefined) io.print(`${" ".repeat(22)}→ ${next}`);
}

function printVerdict(findings: readonly Finding[], io: Terminal): void {
  const failures = findings.filter(([result]) => result === "FAILED").length;
  const warnings = findings.filter(([result]) => result === "warning").length;
  const warned = warnings > 0 ? count(warnings, "warning") : "";
  io.print("");
  if (failures > 0) {
    const numbers = [`${failures} FAILED`, warned].filter(Boolean).join(", ");
    io.print(`${numbers}: \`pulumi up\` can't work like this.`);
  } else io.print(warned ? `Nothing found prevents \`pulumi up\`; ${warned}.` : "All is well.");
}
