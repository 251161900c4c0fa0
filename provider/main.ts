/** The entry point of the plugin. It loads only what the port needs, because the engine waits for the port. */
import { isatty } from "node:tty";
import metadata from "../metadata.json";
import { systemClock } from "./clock";
import {
  executable,
  isCommand,
  isStartedByEngine,
  isStdinPiped,
  pluginDescription,
  readSchema,
} from "./executable";
import { Redactor } from "./redaction";
import { cancelsAtEnd, EngineLog } from "./rpc/engineLog";
import { describeError } from "./rpc/errors";
import { createServer } from "./rpc/service";
import { exitWithEngine } from "./rpc/shutdown";
import { endWithStarter } from "./starter";

async function main(argv: readonly string[]): Promise<void> {
  if (isCommand(argv)) {
    const { runByHand } = await import("../cli/run.js");
    process.exit(await runByHand(argv));
  }
  await serve(isStartedByEngine(argv));
}

async function serve(hasEngine: boolean): Promise<void> {
  // Engines pass the token of Pulumi Cloud to every plugin (since 3.247). A secret that is not there can't leak (G8).
  delete process.env["PULUMI_ACCESS_TOKEN"];
  // The engine would take any line that a dependency prints to stdout for the port.
  console.log = console.info = console.debug = console.error;
  const redactor = new Redactor();
  const log = new EngineLog(redactor, systemClock);
  surviveDefects(log, redactor);
  const context = {
    messages: log,
    redactor,
    clock: systemClock,
    env: process.env,
    engineAddress: () => log.address,
    showsLastMessages: () => log.isOfVersion(cancelsAtEnd),
  };
  const server = createServer({
    loadProvider: async () => (await import("./provider.js")).createProvider(context),
    schema: readSchema,
    log,
    version: metadata.version,
  });
  const port = await server.listen();
  const engineStdin = hasEngine && isStdinPiped() ? process.stdin : undefined;
  exitWithEngine(server, systemClock, process, engineStdin);
  if (!hasEngine) endWithStarter();
  if (!hasEngine && isatty(2)) await greet(port);
  process.stdout.write(`${port}\n`);
}

/** Tells a person at a terminal what this program is. */
async function greet(port: number): Promise<void> {
  const { ownCommand } = await import("./advice.js");
  const lines = [
    pluginDescription,
    "To use this running plugin, type this in the folder of a program:",
    `  PULUMI_DEBUG_PROVIDERS=${metadata.name}:${port} pulumi up`,
    `Ctrl-C ends it. To check the settings: ${ownCommand("doctor")}. To see all commands: ${ownCommand("--help")}`,
  ];
  process.stderr.write(`${lines.join("\n")}\n`);
}

/** Reports an error that nothing caught, and goes on: an exit in the middle of a Create could lose an instance (G1). */
function surviveDefects(log: EngineLog, redactor: Redactor): void {
  const report = (error: unknown) => {
    const { stack } = describeError(error);
    log.debug(`unexpected: ${stack}`);
    process.stderr.write(`${redactor.redact(stack)}\n`);
  };
  process.on("uncaughtException", report);
  process.on("unhandledRejection", report);
  // Writing fails if the engine, which reads both streams, was killed.
  process.stdout.on("error", () => undefined);
  process.stderr.on("error", () => undefined);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${executable} could not start: ${describeError(error).message}\n`);
  process.exit(1);
});
