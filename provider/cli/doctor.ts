/** `doctor`: checks whether `pulumi up` can work. It sends GET requests only, and writes no file. */
import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import type { Command } from "commander";
import metadata from "../../metadata.json";
import { TimedOut } from "../abort";
import { cursorIgnored, nameCursor, nextStep, ownCommand } from "../advice";
import type { ComputeApi } from "../api/client";
import { RequestError } from "../api/errors";
import type { ClientOptions } from "../api/options";
import { pageLimit } from "../api/serviceConstants";
import type { Settings } from "../config/settings";
import { OperationFailed } from "../errors";
import { oldestEngine } from "../executable";
import { ledgerFolder } from "../ledger/folder";
import { collect } from "../listing/collect";
import { accountId } from "../session/connection";
import { timeouts, type Session } from "../session/session";
import { isOlder } from "../version";
import { forgetAdvice, readEndedCreates } from "./discard";
import { installAdvice, PulumiError, runPulumi } from "./pulumi";
import { createSession } from "./service";
import { addSettingOptions, checkSettings, type SettingOptions, stackHelp } from "./settings";
import { count, failed, type Finding, ok, printData, type Terminal, warning } from "./terminal";

type Options = SettingOptions & { json?: true; stack?: string };

/** Adds the command `doctor`. */
export function addDoctor(program: Command, io: Terminal): void {
  const command = program
    .command("doctor")
    .description("check settings, token, service and this machine; changes nothing")
    .option("--json", "Print the result as JSON.")
    .option("--stack <name>", stackHelp);
  addSettingOptions(command).action(async (options: Options) => {
    const findings: Finding[] = [];
    // The service may be slow, so each finding is printed as soon as it is known.
    for await (const finding of examine(options, io)) {
      findings.push(finding);
      if (!options.json) printFinding(finding, io);
    }
    const isOk = findings.every(({ result }) => result !== "FAILED");
    if (options.json) printData({ ok: isOk, checks: findings }, io);
    else printVerdict(findings, io);
    io.exitCode = isOk ? 0 : 1;
  });
}

async function* examine(options: Options, io: Terminal): AsyncGenerator<Finding> {
  const { findings, found } = await checkSettings(options.stack, options, io);
  yield* findings;
  if (found) yield* examineService(found.settings, io);
  else yield serviceSkipped;
  const { name, version } = metadata;
  const system = `Node ${process.version} (${process.platform} ${process.arch})`;
  yield ok("plugin", `${name} ${version}, on ${system}`);
  yield await examineEngine(io.env);
  yield examineLedger(io.env);
}

const serviceSkipped: Finding = {
  check: "service",
  result: "skipped",
  found: "it is not checked further until the problem above is solved",
};

const tooManyRequests =
  "Other runs use this token, too. `pulumi up` would wait and slow down. docs/scaling.md says how many runs can share a token.";

const networkAdvice =
  "Check compute:baseUrl, the network and the proxy settings; a longer compute:requestTimeoutSeconds may help.";

/** Sends the account call (GET /v2/account), then lists all instances. */
async function* examineService(settings: Settings, io: Terminal): AsyncGenerator<Finding> {
  const { host } = new URL(settings.baseUrl);
  const connection = ok("connection", `${host} answers`);
  const { createClient } = await import("../api/client.js");
  // `pulumi up` waits after a 429. `doctor` reports it at once.
  const slowedDown = new AbortController();
  const onSlowedDown: ClientOptions["onSlowedDown"] = ({ method, path }) =>
    slowedDown.abort(new OperationFailed(`${method} ${path} answered HTTP 429`));
  const session = createSession(settings, io, {
    canceled: slowedDown.signal,
    createApi: (options) => createClient({ ...options, onSlowedDown }),
  });

  let check = "account";
  try {
    const api = await session.connection.api();
    const account = await examineAccount(api, session);
    yield connection;
    yield account;
    check = "listing";
    const listing = await examineListing(api, session);
    yield ok("scope", "list is allowed; only the first create shows whether create is allowed");
    yield listing;
  } catch (error) {
    const isAnswered = error instanceof RequestError && error.kind === "answered";
    if (check === "account" && isAnswered) yield connection;
    const failedCheck = check === "account" && !isAnswered ? "connection" : check;
    if (error === slowedDown.signal.reason) {
      yield warning(check, (error as Error).message, tooManyRequests);
    } else if (error instanceof TimedOut) {
      const found = `${host} sent no usable answer within ${error.seconds} s`;
      yield failed(failedCheck, found, networkAdvice);
    } else if (error instanceof RequestError) {
      yield failed(error.status === 403 ? "scope" : failedCheck, error.message, nextStep(error));
    } else if (error instanceof OperationFailed) {
      // For example, the value of a proxy variable is not an address.
      yield failed(failedCheck, error.message, "Correct it, and run `doctor` again.");
    } else throw error;
    yield serviceSkipped;
  }
}

/** @throws RequestError if the account call fails in a way that makes `pulumi up` fail, too. */
async function examineAccount(api: ComputeApi, session: Session): Promise<Finding> {
  const { requestTimeoutMs, validateCredentials } = session.settings;
  using operation = session.operation(requestTimeoutMs / 1000);
  try {
    const id = accountId(await api.account(operation.signal));
    const account = id === undefined ? "" : `, account ${id}`;
    return ok("account", `the service accepts the token${account}`);
  } catch (error) {
    if (!(error instanceof RequestError) || error.kind !== "answered") throw error;
    if (error.status === 401 || error.transient) throw error;
    const advice = `${nextStep(error)} \`pulumi up\` works without the account call: if the token is meant to lack the scope for that call, set compute:validateCredentials to false.`;
    return validateCredentials
      ? warning("account", error.message, advice)
      : ok(
          "account",
          "the service refuses the account call, but compute:validateCredentials is false",
        );
  }
}

/** @throws RequestError if the service can't be listed. */
async function examineListing(api: ComputeApi, session: Session): Promise<Finding> {
  const { cursorParameter } = session.settings;
  using operation = session.operation(timeouts.look);
  const listing = await collect(api, cursorParameter, operation.signal);
  const { items, unreadable, complete, cursorProblem } = listing;
  const instances = count(items.size, "instance");
  if (complete) {
    const isUntried = cursorParameter !== undefined && items.size <= pageLimit.max;
    const cursor = `; compute:cursorParameter was not tried, since one page shows up to ${pageLimit.max}`;
    return ok("listing", isUntried ? instances + cursor : instances);
  }
  const incomplete = "the listing is not complete, so `pulumi refresh` drops no instance";
  if (unreadable > 0) {
    return warning(
      "listing",
      `${instances}, and ${count(unreadable, "item")} that can't be read: ${incomplete}`,
      "Check that compute:baseUrl is the address of the Compute Instances Service. If it is, report this to the operator of the service.",
    );
  }
  return cursorProblem === undefined
    ? warning(
        "listing",
        `${instances}, and there may be more, since the service lists at most ${pageLimit.max} of each status: ${incomplete}`,
        `${nameCursor}; docs/scaling.md says what is possible without a cursor.`,
      )
    : warning(
        "listing",
        `${instances}: ${cursorIgnored(cursorParameter, cursorProblem)}; ${incomplete}`,
        "Set compute:cursorParameter to the name that the service uses for the parameter, or remove the setting.",
      );
}

async function examineEngine(env: NodeJS.ProcessEnv): Promise<Finding> {
  try {
    const output = await runPulumi(["version"], env, installAdvice);
    const [version] = /\d+\.\d+\.\d+/.exec(output) ?? [];
    if (version === undefined)
      return warning("engine", "`pulumi version` printed no version", installAdvice);
    return isOlder(version, oldestEngine)
      ? failed("engine", `Pulumi ${version} is older than ${oldestEngine}`, installAdvice)
      : ok("engine", `Pulumi ${version}`);
  } catch (error) {
    if (!(error instanceof PulumiError)) throw error;
    // A program that uses the Automation API may install the CLI itself.
    return (error.isMissing ? warning : failed)("engine", error.problem, error.next);
  }
}

/** Checks the folder of the ledger, in which the provider records its creates. */
function examineLedger(env: NodeJS.ProcessEnv): Finding {
  const folder = ledgerFolder(env);
  const problem = whyNotWritable(folder);
  if (problem !== undefined) {
    return warning(
      "ledger",
      `${folder} can't be written (${problem})`,
      "Make the folder writable, or set PULUMI_HOME to a writable one. Otherwise, if a run is killed while it creates an instance, the next run does not know of that instance.",
    );
  }
  const warnings: string[] = [];
  const pending = readEndedCreates(env, (message) => warnings.push(message));
  const here = pending.filter(({ isHere }) => isHere).map(({ record }) => record.urn);
  if (here.length > 0) {
    const next = `Run \`pulumi up\`, which resumes those of its stack or says what to do. ${forgetAdvice(here)}`;
    return warning("ledger", `${count(here.length, "pending create")} in ${folder}`, next);
  }
  if (warnings.length > 0) return warning("ledger", warnings.join("; "), `Look at ${folder}.`);
  const others =
    pending.length > 0
      ? `; ${pending.length} with another state backend, which \`${ownCommand("discard")}\` lists`
      : "";
  return ok("ledger", `${folder}: no pending create${others}`);
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

function printFinding({ check, result, found, next }: Finding, io: Terminal): void {
  io.print(result.padEnd(9) + check.padEnd(13) + found);
  if (next !== undefined) io.print(`${" ".repeat(22)}→ ${next}`);
}

function printVerdict(findings: readonly Finding[], io: Terminal): void {
  const numberOf = (result: Finding["result"]) =>
    findings.filter((finding) => finding.result === result).length;
  const [failures, warnings] = [numberOf("FAILED"), numberOf("warning")];
  const warned = warnings > 0 ? count(warnings, "warning") : "";
  io.print("");
  if (failures > 0) {
    const numbers = [`${failures} FAILED`, warned].filter(Boolean).join(", ");
    io.print(`${numbers}: \`pulumi up\` can't work like this.`);
  } else io.print(warned ? `Nothing found prevents \`pulumi up\`; ${warned}.` : "All is well.");
}
