import type { Clock } from "../clock";
import type { Provider } from "../requests";
import type { ProviderServer } from "./server";

/** The engine kills a plugin five seconds after SIGINT. */
export const afterSignalMs = 4000;
/** Nobody waits any more, but a POST under way may still bring its id, for the ledger. */
export const afterEngineMs = 15_000;
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
  const end = (patienceMs: number, how: { orderly: boolean; engineGone: boolean }): void => {
    ending = true;
    const isIdle = server.running === 0;
    // Drained when idle too, which takes no time: the last answer may still be on its way out.
    void Promise.race([server.drain(), clock.sleep(isIdle ? idleMs : patienceMs)]).finally(exit);
    provider.cancel(isIdle && how.orderly, how.engineGone);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (ending) exit();
    // The goodbye of an engine that sends no Cancel before it (3.180); Ctrl-C reaches the engine alone. Any
    // other signal, or the end of stdin, may well be the death of an engine that saved nothing.
    const orderly = signal === "SIGINT" && engineOwnsStdin;
    end(afterSignalMs, { orderly, engineGone: false });
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  if (engineOwnsStdin) {
    process.stdin.on("error", () => undefined);
    process.stdin.on("close", () => {
      if (!ending) end(afterEngineMs, { orderly: false, engineGone: true });
    });
    process.stdin.resume();
  }
}

/** Not by letting the event loop run dry: this also writes the compile cache. */
function exit(): never {
  process.exit(0);
}
