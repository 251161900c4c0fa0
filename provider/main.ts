/**
 * The entry point of the plugin. The engine waits for the port, so only what the port needs is loaded first.
 * The provider is loaded by the first call that needs it, and the client of the service by the first request.
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
import { createServer } from "./rpc/service";
import { exitWithEngine } from "./rpc/shutdown";

async function main(argv: readonly string[]): Promise<void> {
  if (isCommand(argv)) {
    const { runByHand } = await import("./cli/run.js");
    process.exit(await runByHand(argv));
  }
  await serve(isStartedByEngine(argv));
}

async function serve(hasEngine: boolean): Promise<void> {
  // Since 3.247, the engine passes the token of Pulumi Cloud to every plugin. This plugin does not need that
  // token, and a secret that is not there can't leak (G8).
  delete process.env["PULUMI_ACCESS_TOKEN"];
  // Only the port may go to stdout. If a dependency printed a line there, the engine would take it for the port.
  console.log = console.info = console.debug = console.error;
  const redactor = new Redactor();
  const log = new EngineLog({ redactor, clock: systemClock });
  surviveDefects(log, redactor);
  const context = { messages: log, redactor, clock: systemClock, env: process.env };
  const server = createServer({
    loadProvider: async () => (await import("./provider.js")).createProvider(context),
    schema: readSchema,
    log,
    redactor,
    version: metadata.version,
  });
  const port = await server.listen();
  exitWithEngine(server, systemClock, hasEngine && isStdinPiped());
  if (!hasEngine && isatty(2)) greet(port);
  // This line is all that is ever written to stdout. The engine connects to this port.
  process.stdout.write(`${port}\n`);
}

/** Tells a person at a terminal what this program is. It writes to stderr, since stdout is for the port. */
function greet(port: number): void {
  const lines = [
    pluginDescription,
    "To use this running plugin, type this in the folder of a program:",
    `  PULUMI_DEBUG_PROVIDERS=${metadata.name}:${port} pulumi up`,
    `Ctrl-C ends it. ${executable} doctor checks the settings; --help shows all it can do by hand.`,
  ];
  process.stderr.write(`${lines.join("\n")}\n`);
}

/**
 * Makes the process report an error that nothing caught, and go on. If a defect elsewhere ended the process in the
 * middle of a Create, the created instance could be lost (no created instance is lost: G1).
 */
function surviveDefects(log: EngineLog, redactor: Redactor): void {
  const report = (error: unknown) => {
    const { stack } = describeError(error);
    log.debug(`unexpected: ${stack}`);
    process.stderr.write(`${redactor.redact(stack)}\n`);
  };
  process.on("uncaughtException", report);
  process.on("unhandledRejection", report);
  // The engine reads both streams. If it has been killed, writing fails, which is not a defect.
  process.stdout.on("error", () => undefined);
  process.stderr.on("error", () => undefined);
}

/** Whether stdin comes from another process. Only then does the end of stdin mean that the engine has ended. */
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
