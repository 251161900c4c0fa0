import type { Clock } from "../clock";
import type { Provider } from "../requests";
import type { ProviderServer } from "./server";

/** The engine kills a plugin five seconds after SIGINT. */
const afterSignalMs = 4000;
/** Nobody waits any more, but a POST under way may still bring its id, for the ledger. */
const afterEngineMs = 15_000;
/** With no call running, only a peer that does not read can hold this up. */
const idleMs = 250;

export interface ShutdownDependencies {
  provider: Provider;
  server: ProviderServer;
  clock: Clock;
  /** Whether the end of stdin is the end of the engine, which says no goodbye when it is killed. */
  engineOwnsStdin: boolean;
}

/**
 * Ends the process with a signal or with the engine: at once when no call is running, else when those
 * running have been cancelled and answered. A second signal does not wait.
 */
export function endWith({ provider, server, clock, engineOwnsStdin }: ShutdownDependencies): void {
  let ending = false;
  const end = (patienceMs: number, engineGone: boolean): void => {
    ending = true;
    const patience = server.running === 0 ? idleMs : patienceMs;
    // Drained when idle too, which takes no time: the last answer may still be on its way out.
    void Promise.race([server.drain(), clock.sleep(patience)]).finally(exit);
    // A signal, or the end of stdin, may well be the death of an engine that saved nothing.
    provider.cancel(false, engineGone);
  };
  const onSignal = (): void => {
    if (ending) exit();
    end(afterSignalMs, false);
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  if (engineOwnsStdin) {
    process.stdin.on("error", () => undefined);
    process.stdin.on("close", () => {
      if (!ending) end(afterEngineMs, true);
    });
    process.stdin.resume();
  }
}

/** Not by letting the event loop run dry: this also writes the compile cache. */
function exit(): never {
  process.exit(0);
}
