/** Answers the engine's calls on the open port, until the process ends. */
import metadata from "../../metadata.json";
import { systemClock } from "../clock";
import { isEngineAtTerminal, isStdinPiped, readSchema } from "./executable";
import type { PluginPort } from "./pluginPort";
import { Redactor } from "../redaction";
import { cancelsAtEnd, EngineLog } from "../rpc/engineLog";
import { describeError } from "../rpc/grpcErrors";
import { createServer } from "../rpc/handlers";
import { exitWithEngine } from "../rpc/shutdown";
import { endWithStarter } from "./starter";

/** `hasEngine`: whether an engine started the process, and not a person. */
export function serve(port: PluginPort, hasEngine: boolean): void {
  const redactor = new Redactor();
  const log = new EngineLog(redactor, systemClock);
  surviveDefects(log, redactor);
  const context = {
    messages: log,
    redactor,
    clock: systemClock,
    env: process.env,
    isAtTerminal: isEngineAtTerminal(),
    engineAddress: () => log.address,
    showsLastMessages: () => log.isOfVersion(cancelsAtEnd),
  };
  const server = createServer({
    loadProvider: async () => (await import("../provider.js")).createProvider(context),
    schema: readSchema,
    log,
    version: metadata.version,
  });
  server.answerOn(port);
  const engineStdin = hasEngine && isStdinPiped() ? process.stdin : undefined;
  exitWithEngine(server, systemClock, process, engineStdin);
  if (!hasEngine) endWithStarter();
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
}
