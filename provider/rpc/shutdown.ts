/** Ends the process after a signal, or when the engine is gone. */
import type { Clock } from "../clock";
import { endSignals } from "../process/executable";
import type { CancelReason } from "../pulumi/calls";
import type { ProviderServer } from "./server";

/** How long running calls may go on after a signal. The engine kills a plugin five seconds after SIGINT. */
export const afterSignalMs = 4000;
/** How long running calls may go on when the engine is gone: the response to a POST may still bring an id to record. */
export const afterEngineMs = 15_000;
/** How long the exit may wait until the last answer and the last messages are sent. */
export const idleMs = 1000;

/** The part of `process` that `exitWithEngine` uses. */
export interface PluginProcess {
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
  exit(code: number): void;
}

/** The server of the running calls, as far as its end is concerned. */
export type EndingServer = Pick<ProviderServer, "runningCalls" | "cancel" | "drain">;

/** A stream whose end means that the engine is gone, as when it is killed. */
export interface EngineStream {
  on(event: "error" | "close", listener: () => void): unknown;
  resume(): unknown;
}

/**
 * Makes the process exit after a signal, or when the engine is gone, once the running calls have ended or their time is
 * up. If both come, the time that is up first counts. After the same signal again, the process exits at once.
 *
 * @param engineStdin the process's stdin if an engine holds its other end
 */
export function exitWithEngine(
  server: EndingServer,
  clock: Clock,
  ownProcess: PluginProcess,
  engineStdin: EngineStream | undefined,
): void {
  // Unlike a kill, this also leaves the compiled code to later processes.
  const exit = (): void => ownProcess.exit(0);
  const end = (reason: CancelReason, graceMs: number): void => {
    // Even if no call is running, the last answer and the last messages may still be on their way.
    const maxMs = server.runningCalls === 0 ? idleMs : graceMs;
    void Promise.race([server.drain(), clock.sleep(maxMs)]).finally(exit);
    server.cancel(reason);
  };

  const received = new Set<NodeJS.Signals>();
  const onSignal = (signal: NodeJS.Signals): void => {
    // A supervisor may send SIGTERM and SIGHUP together.
    if (received.has(signal)) return exit();
    received.add(signal);
    // The engine sends SIGINT (on Windows SIGBREAK) only when it has finished, and some versions, such as 3.180, send no Cancel.
    const isEngines = signal === "SIGINT" || signal === "SIGBREAK";
    const hasFinished = isEngines && engineStdin && server.runningCalls === 0;
    end(hasFinished ? "finished" : "interrupted", afterSignalMs);
  };
  for (const signal of endSignals) ownProcess.on(signal, onSignal);

  engineStdin?.on("error", () => undefined);
  // Also after a signal: an answer that comes now reaches nobody.
  engineStdin?.on("close", () => end("engineGone", afterEngineMs));
  engineStdin?.resume();
}
