/** Ends the process after a signal, or when the engine is gone. */
import type { Clock } from "../clock";
import type { ProviderServer } from "./server";

/** How long running calls may go on after a signal. The engine kills a plugin five seconds after SIGINT. */
export const afterSignalMs = 4000;
/** How long running calls may go on when the engine is gone: the response to a POST may still bring an id to record. */
export const afterEngineMs = 15_000;
/** How long the exit may wait for the last answer to be sent. */
const idleMs = 250;

/**
 * Makes the process exit after a signal, or when the engine is gone, once the running calls have ended or their time is
 * up. After a second signal it exits at once.
 *
 * @param isStdinOfEngine whether the end of stdin means that the engine is gone, as when it is killed
 */
export function exitWithEngine(
  server: Pick<ProviderServer, "cancel" | "drain" | "runningCalls">,
  clock: Clock,
  isStdinOfEngine: boolean,
): void {
  let hasSignal = false;
  const end = (graceMs: number, hasEngineFinished: boolean, isEngineGone: boolean): void => {
    const isIdle = server.runningCalls === 0;
    // Even if no call is running, the last answer has possibly not been sent yet.
    void Promise.race([server.drain(), clock.sleep(isIdle ? idleMs : graceMs)]).finally(exit);
    // An engine that has finished by itself, with no call running, has every answer and saves them.
    server.cancel(hasEngineFinished && isIdle, isEngineGone);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (hasSignal) exit();
    hasSignal = true;
    // Only the engine sends a SIGINT here, since a Ctrl-C at the terminal does not reach the plugin. So the engine has
    // finished. Some engines, such as 3.180, send no Cancel before it.
    end(afterSignalMs, signal === "SIGINT" && isStdinOfEngine, false);
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  if (isStdinOfEngine) {
    process.stdin.on("error", () => undefined);
    process.stdin.on("close", () => {
      if (!hasSignal) end(afterEngineMs, false, true);
    });
    process.stdin.resume();
  }
}

/** Unlike a kill, this also writes the compile cache. */
function exit(): never {
  process.exit(0);
}
