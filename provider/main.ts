/**
 * The plugin's start. The engine waits for the port, so nothing is loaded before the port that is not
 * needed for it. The provider comes with the first call to it, and the service's client with the first
 * request.
 */
import { fstatSync } from "node:fs";
import { isatty } from "node:tty";
import metadata from "../metadata.json";
import { systemClock } from "./clock";
import {
  executable,
  isCommand,
  isStartedByEngine,
  pluginDescription,
  readSchema,
} from "./executable";
import { Redactor } from "./redaction";
import { EngineLog } from "./rpc/engineLog";
import { describeError } from "./rpc/errors";
import { ProviderServer } from "./rpc/server";
import { exitWithEngine } from "./rpc/shutdown";

async function main(argv: readonly string[]): Promise<void> {
  if (isCommand(argv)) {
    const { runByHand } = await import("./cli/run.js");
    process.exit(await runByHand(argv));
  }
  await serve(isStartedByEngine(argv));
}

async function serve(byEngine: boolean): Promise<void> {
  // Since 3.247 the engine hands the token of Pulumi Cloud to every plugin, which has no use for it (G8).
  delete process.env["PULUMI_ACCESS_TOKEN"];
  // Stdout is for the port: the engine would take a dependency's stray word there for it.
  console.log = console.info = console.debug = console.error;
  const redactor = new Redactor();
  const log = new EngineLog({ redactor, clock: systemClock });
  surviveDefects(log, redactor);
  const context = { messages: log, redactor, clock: systemClock, env: process.env };
  const server = new ProviderServer({
    loadProvider: async () => (await import("./provider.js")).createProvider(context),
    schema: readSchema,
    log,
    redactor,
    version: metadata.version,
  });
  const port = await server.listen();
  exitWithEngine(server, systemClock, byEngine && isStdinPiped());
  if (!byEngine && isatty(2)) greet(port);
  // The first and only thing on stdout: the engine dials this port.
  process.stdout.write(`${port}\n`);
}

/** Tells a person at a terminal what this program is. Not on stdout, which is for the port. */
function greet(port: number): void {
  const lines = [
    pluginDescription,
    "To try it as it runs here, in the folder of a program:",
    `  PULUMI_DEBUG_PROVIDERS=${metadata.name}:${port} pulumi up`,
    `Ctrl-C ends it. ${executable} doctor checks the settings; --help shows all it can do by hand.`,
  ];
  process.stderr.write(`${lines.join("\n")}\n`);
}

/** An exit in the middle of a Create loses the instance (G1), so no defect elsewhere ends the process. */
function surviveDefects(log: EngineLog, redactor: Redactor): void {
  const report = (error: unknown) => {
    const { stack } = describeError(error);
    log.debug(`unexpected: ${stack}`);
    process.stderr.write(`${redactor.redact(stack)}\n`);
  };
  process.on("uncaughtException", report);
  process.on("unhandledRejection", report);
  // The engine reads both. Once it has been killed, writing fails, which is no defect.
  process.stdout.on("error", () => undefined);
  process.stderr.on("error", () => undefined);
}

/** Whether another process holds the other end: the end of /dev/null says nothing about the engine. */
function isStdinPiped(): boolean {
  try {
    const stdin = fstatSync(0);
    return stdin.isFIFO() || stdin.isSocket();
  } catch {
    return false;
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${executable} could not start: ${describeError(error).message}\n`);
  process.exit(1);
});
