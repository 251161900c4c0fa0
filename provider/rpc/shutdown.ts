/** Ends the process after a signal, or when the engine is gone. `main.ts` sets this up. */
import type { Clock } from "../clock";
import type { ProviderServer } from "./server";

/** How long running calls may go on after a signal. The engine kills a plugin five seconds after SIGINT. */
export const afterSignalMs = 4000;
/**
 * How long running calls may go on when the engine is gone. Nobody waits for their answers any more, but the
 * response to a POST may still bring an id, which is then recorded in the ledger.
 */
export const afterEngineMs = 15_000;
/**
 * How long the exit may wait if no call is running. The last answer may still have to be sent, if the engine reads
 * slowly.
 */
const idleMs = 250;

/**
 * Makes the process exit after a signal, or when the engine is gone. The running calls are canceled, and the
 * process exits when they have ended or when their time is up. A second signal makes the process exit at once.
 *
 * @param isStdinOfEngine whether the end of stdin means that the engine is gone, as when it is killed
 */
export function exitWithEngine(
  server: Pick<ProviderServer, "cancel" | "drain" | "runningCalls">,
  clock: Clock,
  isStdinOfEngine: boolean,
): void {
  let hasSignal = false;
  /**
   * Ends the process. `isOrderly` says that the engine has received every answer unless a call is running, and will save
   * all answers in the state.
   */
  const end = (graceMs: number, ending: { isOrderly: boolean; isEngineGone: boolean }): void => {
    const isIdle = server.runningCalls === 0;
    // `drain` is called even if no call is running, because the last answer has possibly not been sent yet.
    void Promise.race([server.drain(), clock.sleep(isIdle ? idleMs : graceMs)]).finally(exit);
    server.cancel(isIdle && ending.isOrderly, ending.isEngineGone);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (hasSignal) exit();
    hasSignal = true;
    // An engine sends SIGINT when it has finished, and some engines (3.180) send no Cancel before it. A Ctrl-C at the
    // terminal reaches only the engine. So a SIGINT means that the engine has all answers. Another signal does not
    // mean that.
    end(afterSignalMs, { isOrderly: signal === "SIGINT" && isStdinOfEngine, isEngineGone: false });
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  if (isStdinOfEngine) {
    process.stdin.on("error", () => undefined);
    process.stdin.on("close", () => {
      if (!hasSignal) end(afterEngineMs, { isOrderly: false, isEngineGone: true });
    });
    process.stdin.resume();
  }
}

/** Exits at once, even if connections or timers are open. Unlike a kill, this also writes the compile cache. */
function exit(): never {
  process.exit(0);
}
