/** How the process ends: with a signal, or with the engine. */
import type { Clock } from "../clock";
import type { ProviderServer } from "./server";

/** How long running calls get after a signal. The engine kills a plugin five seconds after SIGINT. */
export const afterSignalMs = 4000;
/**
 * How long running calls get when the engine is gone. Nobody waits any more, but a POST under way may
 * still bring its id, for the ledger.
 */
export const afterEngineMs = 15_000;
/** With no call running, only a peer that does not read can delay the exit. */
const idleMs = 250;

/**
 * Exits at a signal, or when the engine is gone: at once with no call running, else when the running calls
 * have been cancelled and answered. A second signal does not wait.
 *
 * `isStdinOfEngine`: the end of stdin is the end of the engine, which says nothing when it is killed.
 */
export function exitWithEngine(
  server: Pick<ProviderServer, "cancel" | "drain" | "runningCalls">,
  clock: Clock,
  isStdinOfEngine: boolean,
): void {
  let isEnding = false;
  const end = (patienceMs: number, how: { isOrderly: boolean; isEngineGone: boolean }): void => {
    isEnding = true;
    const isIdle = server.runningCalls === 0;
    // Drained when idle too, which takes no time: the last answer may still be on its way out.
    void Promise.race([server.drain(), clock.sleep(isIdle ? idleMs : patienceMs)]).finally(exit);
    server.cancel(isIdle && how.isOrderly, how.isEngineGone);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isEnding) exit();
    // An engine sends SIGINT when it is done; some (3.180) send no Cancel before it. A Ctrl-C at the
    // terminal reaches the engine alone. After other signals, the engine may not have saved the answers.
    end(afterSignalMs, { isOrderly: signal === "SIGINT" && isStdinOfEngine, isEngineGone: false });
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  if (isStdinOfEngine) {
    process.stdin.on("error", () => undefined);
    process.stdin.on("close", () => {
      if (!isEnding) end(afterEngineMs, { isOrderly: false, isEngineGone: true });
    });
    process.stdin.resume();
  }
}

/** At once, not when nothing is left to wait for. A regular exit also writes the compile cache. */
function exit(): never {
  process.exit(0);
}
