/**
 * The plugin's start. The engine waits for the port, so nothing is loaded before it that is not
 * needed for it: the provider comes with the first call to it, and the service's client with the first
 * request.
 */
import { fstatSync } from "node:fs";
import { isatty } from "node:tty";
import metadata from "../metadata.json";
import { systemClock } from "./clock";
import { deferred } from "./deferred";
import { executable, whatItIs } from "./executable";
import { isByEngine, isByHand } from "./rpc/arguments";
import { EngineLog } from "./rpc/engineLog";
import { describe } from "./rpc/errors";
import { createServer } from "./rpc/server";
import { endWith } from "./rpc/shutdown";
import { readSchema } from "./schema";
import { Redactor } from "./redaction";
import { functionTokens, instanceToken } from "./tokens";

async function main(argv: readonly string[]): Promise<void> {
  if (isByHand(argv)) {
    const { runByHand } = await import("./cli/run.js");
    process.exit(await runByHand(argv));
  }
  await serve(isByEngine(argv));
}

async function serve(byEngine: boolean): Promise<void> {
  // The engine hands it to every plugin (3.247); what is not here can't be shown.
  delete process.env["PULUMI_ACCESS_TOKEN"];
  // Stdout is for the port: a dependency's stray word there would be taken for it.
  console.log = console.info = console.debug = console.error;
  const redactor = new Redactor();
  const log = new EngineLog({ redactor, clock: systemClock });
  surviveDefects(log, redactor);
  const context = { messages: log, redactor, clock: systemClock, env: process.env };
  const provider = deferred(async () => (await import("./provider.js")).createProvider(context));
  const server = createServer({
    provider,
    schema: readSchema,
    log,
    redactor,
    version: metadata.version,
    capabilities: { resources: [instanceToken], functions: functionTokens },
  });
  const port = await server.listen();
  endWith({
    provider,
    server,
    clock: systemClock,
    engineOwnsStdin: byEngine && piped(),
  });
  // A person at a terminal is told what this is.
  if (!byEngine && isatty(2)) greet(port);
  // The first and only thing on stdout: what the engine dials.
  process.stdout.write(`${port}\n`);
}

/** What this is, and what to do with it; not on stdout, which is for the port. */
function greet(port: number): void {
  const lines = [
    whatItIs,
    "To try it as it runs here, in the folder of a program:",
    `  PULUMI_DEBUG_PROVIDERS=${metadata.name}:${port} pulumi up`,
    `Ctrl-C ends it. ${executable} doctor checks the settings; --help shows all it can do by hand.`,
  ];
  process.stderr.write(`${lines.join("\n")}\n`);
}

/** An exit in the middle of a Create loses the instance (G1); a defect elsewhere is no reason. */
function surviveDefects(log: EngineLog, redactor: Redactor): void {
  const report = (error: unknown) => {
    const { stack } = describe(error);
    log.debug(`unexpected: ${stack}`);
    process.stderr.write(`${redactor.redact(stack)}\n`);
  };
  process.on("uncaughtException", report);
  process.on("unhandledRejection", report);
  // The engine reads both; when it has been killed, writing fails, which is no defect.
  process.stdout.on("error", () => undefined);
  process.stderr.on("error", () => undefined);
}

/** Whether someone holds the other end: with /dev/null there, an end of input says nothing. */
function piped(): boolean {
  try {
    const stdin = fstatSync(0);
    return stdin.isFIFO() || stdin.isSocket();
  } catch {
    return false;
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${executable} could not start: ${describe(error).message}\n`);
  process.exit(1);
});
