/** The entry point of the plugin. It opens and prints the port, and then loads what answers: the engine waits for the port. */
import { endSignals, executable, isCommand, isStartedByEngine } from "./executable";
import { openPluginPort } from "./pluginPort";

async function main(argv: readonly string[]): Promise<void> {
  if (isCommand(argv)) {
    const { runByHand } = await import("../../cli/commandLine.js");
    process.exit(await runByHand(argv));
  }
  // Engines pass the token of Pulumi Cloud to every plugin (since 3.247). A secret that is not there can't leak (G8).
  delete process.env["PULUMI_ACCESS_TOKEN"];
  // The engine would take any line that a dependency prints to stdout for the port.
  console.log = console.info = console.debug = console.error;
  // Writing fails if the engine, which reads both streams, was killed.
  process.stdout.on("error", () => undefined);
  process.stderr.on("error", () => undefined);

  const hasEngine = isStartedByEngine(argv);
  // On Windows, the process would end with code 1.
  if (hasEngine && process.platform !== "win32")
    process.once("SIGINT", () => process.on("exit", endBySigint));
  // Until the code that answers is loaded, no call is running whose end a signal would have to wait for.
  const exit = () => process.exit(0);
  for (const signal of endSignals) process.on(signal, exit);

  const port = await openPluginPort();
  process.stdout.write(`${port.number}\n`);
  const { serve } = await import("./serve.js");
  serve(port, hasEngine);
  for (const signal of endSignals) process.off(signal, exit);
}

/** Ends the process at once. Node's exit waits for V8's threads, which may compile for another 30 ms, and the engine for it. */
function endBySigint(): void {
  process.removeAllListeners("SIGINT");
  process.kill(process.pid, "SIGINT");
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${executable} could not start: ${reason}\n`);
  process.exit(1);
});
