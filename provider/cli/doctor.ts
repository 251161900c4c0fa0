/**
 * `pulumi-resource-compute doctor`: finds out what `pulumi up` would meet. It sends GET requests alone, and
 * writes no file.
 */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Command } from "commander";
import metadata from "../../metadata.json";
import { cursorIgnored, nameCursor, nextStep, ownCommand } from "../advice";
import type { ComputeApi } from "../api/client";
import { RequestError } from "../api/errors";
import { systemClock } from "../clock";
import type { Settings } from "../config/settings";
import { OperationFailed } from "../errors";
import { ledgerFolder } from "../ledger/folder";
import { collect } from "../listing/collect";
import { accountId, Connection } from "../session/connection";
import type { ProviderContext } from "../context";
import { isOlder, oldestEngine } from "../executable";
import { failed, type Finding, ok, skipped, warning } from "./finding";
import { openCreates } from "./openCreates";
import { pulumi } from "./pulumi";
import { addSettingOptions, examineSettings, type SettingOptions, stackHelp } from "./settings";
import { count, printData, type Terminal } from "./terminal";

type Options = SettingOptions & { json?: true; stack?: string };

export function addDoctor(program: Command, io: Terminal): void {
  const command = program
    .command("doctor")
    .description("check settings, token, service and this machine; changes nothing")
    .option("--json", "print the same as data")
    .option("--stack <name>", stackHelp);
  addSettingOptions(command).action(async (options: Options) => {
    const findings: Finding[] = [];
    for await (const finding of examine(options, io)) {
      findings.push(finding);
      // At once, since a service may take its time.
      if (!options.json) printFinding(finding, io);
    }
    const isWell = findings.every(({ result }) => result !== "FAILED");
    if (options.json) printData({ ok: isWell, checks: findings }, io);
    else printVerdict(findings, io);
    io.exitCode = isWell ? 0 : 1;
  });
}

async function* examine(options: Options, io: Terminal): AsyncGenerator<Finding> {
  const { findings, settings } = await examineSettings(options.stack, options, io);
  yield* findings;
  if (settings) yield* examineService(settings, io);
  else yield rest;
  const { name, version } = metadata;
  const system = `Node ${process.version} (${process.platform} ${process.arch})`;
  yield ok("plugin", `${name} ${version}, on ${system}`);
  yield await examineEngine(io.env);
  yield examineLedger(io.env);
}

/** `pulumi up` waits, and says so (G6). */
const tooMany =
  "Others use this token: `pulumi up` waits and slows down. docs/scaling.md says how many runs a token bears.";

const rest = skipped("service", "the rest of it shows once the above is well");

/** Asks the service with the client of `pulumi up`: for the account, then for all instances. */
async function* examineService(settings: Settings, io: Terminal): AsyncGenerator<Finding> {
  let service: Service;
  try {
    service = await openService(settings, io);
  } catch (error) {
    // For example, a proxy variable that is no address.
    if (!(error instanceof OperationFailed)) throw error;
    yield failed("connection", error.message, "Correct it, and run this again.");
    yield rest;
    return;
  }

  const account = await service.account();
  const refusal = account instanceof RequestError ? account : undefined;
  if (refusal?.kind === "unreachable" || refusal?.kind === "unanswered") {
    yield failed("connection", refusal.message, nextStep(refusal));
    yield rest;
    return;
  }
  const { host } = new URL(settings.baseUrl);
  const [firstFailure] = refusal ? [] : service.failedTries;
  yield firstFailure
    ? warning(
        "connection",
        `${host} answers, but not at once: ${firstFailure.message}`,
        "`pulumi up` asks again by itself; where it stays like this, look at the network in between.",
      )
    : ok("connection", `${host} answers`);

  if (!(account instanceof RequestError)) {
    const whose = account.id === undefined ? "" : `, account ${account.id}`;
    yield ok("account", `the service accepts the token${whose}`);
  } else if (account.status === 403) {
    yield ok("account", "the service knows the token");
  } else if (account.kind === "answered" && account.status !== 401 && !account.transient) {
    const next = `${nextStep(account)} \`pulumi up\` goes on without the account call.`;
    yield warning("account", account.message, next);
  } else {
    yield ofError("account", account);
    yield rest;
    return;
  }

  const listed = await service.list();
  if (listed instanceof RequestError) {
    yield ofError(listed.status === 403 ? "scope" : "listing", listed);
    yield rest;
    return;
  }
  yield refusal?.status === 403 && settings.validateCredentials
    ? warning(
        "scope",
        `list is allowed, account is not: ${refusal.message}`,
        "Grant it; or, if the token is meant to be narrow, set compute:validateCredentials to false.",
      )
    : ok(
        "scope",
        `${refusal ? "list is allowed" : "account and list are allowed"}; create shows in the first create only`,
      );
  const { unreadable, complete, items } = listed;
  const seen = count(items.size, "instance");
  yield unreadable > 0
    ? warning(
        "listing",
        `${seen}, and ${count(unreadable, "item")} that can't be read, so that none is ever taken for gone`,
        "Check that compute:baseUrl is the address of the Compute Instances Service; tell its operator.",
      )
    : ok("listing", `${seen}${complete ? "" : ", and more that are not shown: see paging"}`);
  yield await examinePaging(settings, service, listed);
}

function ofError(check: string, error: RequestError): Finding {
  return error.status === 429
    ? warning(check, error.message, tooMany)
    : failed(check, error.message, nextStep(error));
}

async function examinePaging(
  { cursorParameter }: Settings,
  service: Service,
  whole: Listed,
): Promise<Finding> {
  if (cursorParameter === undefined) {
    if (whole.complete) return ok("paging", "one page shows all");
    if (whole.unreadable > 0) return skipped("paging", "can't be told: see listing");
    return warning(
      "paging",
      "there are more instances than one page shows, so they are listed by status, and none is ever taken for gone",
      `${nameCursor}; docs/scaling.md says what is possible without.`,
    );
  }
  // Where one page holds them all, smaller pages prove the same.
  const half = Math.ceil(whole.items.size / 2);
  const paged = whole.pages > 1 || half === 0 ? whole : await service.list(half);
  if (paged instanceof RequestError) return ofError("paging", paged);
  if (paged.pages === 1) {
    return skipped("paging", `${count(whole.items.size, "instance")}: too few to tell by`);
  }
  if (paged.ignored !== undefined) {
    return warning(
      "paging",
      cursorIgnored(cursorParameter, paged.ignored),
      "Set compute:cursorParameter to the service's own name for it, or remove it.",
    );
  }
  const instances = count(paged.items.size, "instance");
  return ok("paging", `${cursorParameter} pages: ${instances} in ${paged.pages} pages`);
}

type Service = Awaited<ReturnType<typeof openService>>;
type Listed = Exclude<Awaited<ReturnType<Service["list"]>>, RequestError>;

/**
 * The service for a person who asks what is wrong, and has not the patience of `pulumi up`: after a 429, or
 * once half a request's time-out is over, nothing is tried again.
 *
 * @throws OperationFailed where no request can be sent with these settings.
 */
async function openService(settings: Settings, { env, redactor }: Terminal) {
  const { createClient } = await import("../api/createClient.js");
  /** Tries that failed, also of requests that were answered in the end. */
  const failedTries: RequestError[] = [];
  let onFailedTry: (error: RequestError) => void = () => undefined;
  const nothing = () => undefined;
  // What would be messages is in the findings; COMPUTE_DEBUG=1 alone has more to say.
  const info = (text: string) => void process.stderr.write(`${redactor.redact(text)}\n`);
  const context: ProviderContext = {
    ...{ env, redactor, clock: systemClock },
    messages: { status: nothing, info, warning: nothing, debug: nothing },
    createApi: (options) =>
      createClient({ ...options, onFailedTry: (error) => onFailedTry(error) }),
  };
  // Ctrl-C ends the process itself.
  const never = new AbortController().signal;
  const api = await new Connection(settings, context, () => never).api();

  async function ask<T>(question: (signal: AbortSignal) => Promise<T>): Promise<T | RequestError> {
    const ending = new AbortController();
    const begun = systemClock.now();
    onFailedTry = (error) => {
      failedTries.push(error);
      const isLate = systemClock.now() - begun >= settings.requestTimeoutMs / 2;
      if (error.status === 429 || isLate) ending.abort();
    };
    try {
      return await question(ending.signal);
    } catch (error) {
      const last = ending.signal.aborted ? failedTries.at(-1) : error;
      if (last instanceof RequestError) return last;
      throw error;
    }
  }

  return {
    failedTries,
    account: () => ask(async (signal) => ({ id: accountId(await api.account(signal)) })),
    /** In pages of this size, or as large as they may be. */
    list: (pageSize?: number) =>
      ask(async (signal) => {
        let pages = 0;
        // Answers are more than pages: what is refused is asked again.
        const listPage: ComputeApi["listPage"] = async (...query) => {
          const page = await api.listPage(...query);
          pages++;
          return page;
        };
        /** Why the service did not page by the cursor it was given. */
        let ignored: string | undefined;
        const options = {
          cursorParameter: settings.cursorParameter,
          onCursorIgnored: (why: string) => (ignored = why),
          ...(pageSize ? { pageSize } : {}),
        };
        const found = await collect({ listPage }, options, signal);
        return { ...found, ignored, pages };
      }),
  };
}

async function examineEngine(env: NodeJS.ProcessEnv): Promise<Finding> {
  const install = `Install Pulumi ${oldestEngine} or later: https://www.pulumi.com/docs/install/`;
  const said = await pulumi(["version"], env);
  // A program of the Automation API may well bring its own.
  if (!said.ok) return (said.missing ? warning : failed)("engine", said.why, install);
  const version = /^v?(\d+\.\d+\.\d+)/.exec(said.stdout.trim())?.[1];
  if (version === undefined) {
    return warning("engine", "`pulumi version` gave no version", install);
  }
  return isOlder(version, oldestEngine)
    ? failed("engine", `Pulumi ${version}, older than ${oldestEngine}`, install)
    : ok("engine", `Pulumi ${version}`);
}

function examineLedger(env: NodeJS.ProcessEnv): Finding {
  const folder = ledgerFolder(env);
  const problem = unwritable(folder);
  if (problem) {
    return warning(
      "ledger",
      `${folder} can't be written (${problem})`,
      "Make it writable, or set PULUMI_HOME: should a run be killed while it creates an instance, the next one will not know of it.",
    );
  }
  const complaints: string[] = [];
  const all = openCreates(env, (text) => complaints.push(text));
  const open = all.filter(({ isHere }) => isHere).length;
  const elsewhere = all.length - open;
  const list = `\`${ownCommand("discard")}\` lists them`;
  if (open > 0) {
    return warning(
      "ledger",
      `${open} ${open === 1 ? "create is" : "creates are"} left open in it`,
      `Run \`pulumi up\`, which goes on with them or says what to do; ${list}.`,
    );
  }
  if (complaints.length > 0) return warning("ledger", complaints.join("; "), `Look at ${folder}.`);
  const others = elsewhere > 0 ? `; ${elsewhere} with another state backend (${list})` : "";
  return ok("ledger", `${folder}: no create is left open${others}`);
}

/** Tried without writing: the folder itself, or the nearest that would hold it. */
function unwritable(folder: string): string | undefined {
  if (!existsSync(folder) && dirname(folder) !== folder) return unwritable(dirname(folder));
  try {
    if (!statSync(folder).isDirectory()) return `${folder} is no folder`;
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

const colours = { ok: "green", warning: "yellow", FAILED: "red", skipped: "gray" } as const;

function printFinding({ check, result, found, next }: Finding, io: Terminal): void {
  io.print(check.padEnd(13) + found, io.paint(colours[result], result.padEnd(9)));
  if (next !== undefined) io.print(next, `${" ".repeat(22)}→ `);
}

function printVerdict(findings: readonly Finding[], io: Terminal): void {
  const number = (result: Finding["result"]) =>
    findings.filter((finding) => finding.result === result).length;
  const wrong = number("FAILED");
  const warnings = number("warning") === 0 ? "" : count(number("warning"), "warning");
  io.print("");
  if (wrong > 0) {
    const both = [`${wrong} FAILED`, warnings].filter(Boolean).join(", ");
    io.print(`${both}: \`pulumi up\` can't work like this.`);
  } else io.print(warnings ? `\`pulumi up\` can work; ${warnings}.` : "All is well.");
}
