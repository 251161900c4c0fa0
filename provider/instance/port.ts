/** The wait for a port of an instance (the input `waitForPort`), and what its end says. */
import { deadline, TimedOut } from "../abort";
import type { ProviderContext } from "../context";
import { tcpDialer } from "../dialer";
import { networkTrouble } from "../networkCodes";
import type { Instance } from "./instance";

/** The pause between two tries. */
const pauseMs = 1000;
/** How long one try may last. A firewall that drops packets answers nothing at all. */
const trySeconds = 5;

/** A try that has failed. */
export interface FailedTry {
  /** The address that was tried. Undefined if the service has shown none. */
  address?: string;
  /** The system's code, such as ECONNREFUSED. */
  code?: string | undefined;
}

/** A port that is awaited. */
export interface AwaitedPort {
  number: number;
  /** The last try. Undefined before the end of the first. */
  failed?: FailedTry | undefined;
}

/** Returns the address at which a port is tried: the public one or else the private one. */
export function addressOf({ ipv4, privateIpv4 }: Instance): string | undefined {
  return ipv4 ?? privateIpv4;
}

/**
 * Tries the port until it answers.
 *
 * @param address Returns the address for the next try.
 * @param onFailed Called after each try that failed.
 * @throws the reason of `signal`, and any error of `onFailed`
 */
export async function waitUntilAnswered(
  { clock, dialer = tcpDialer }: ProviderContext,
  port: number,
  address: () => string | undefined,
  signal: AbortSignal,
  onFailed: (failed: FailedTry) => void,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const failed = await tryOnce(address());
    if (!failed) return;
    onFailed(failed);
    await clock.sleep(pauseMs, signal);
  }

  async function tryOnce(target: string | undefined): Promise<FailedTry | undefined> {
    if (target === undefined) return {};
    using ending = deadline(clock, trySeconds, signal);
    try {
      await dialer.dial(target, port, ending.signal);
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      const isSilent = error instanceof TimedOut;
      const code = isSilent ? "ETIMEDOUT" : (error as NodeJS.ErrnoException).code;
      return { address: target, code };
    }
  }
}

/** Says in few words how far the wait for a port is, for the Info column. */
export function portStatus({ number, failed }: AwaitedPort): string {
  return failed ? `port ${number}: ${failureOf(failed)}` : `awaiting port ${number}`;
}

/** Says in few words why a try has failed. */
export function failureOf({ address, code }: FailedTry): string {
  if (address === undefined) return "no address yet";
  return networkTrouble(code ?? "") ?? code ?? "no connection";
}

/** Says which port of which instance is awaited, and at which address. */
export function describePort({ number, failed }: AwaitedPort, { id, ipv4 }: Instance): string {
  const address = failed?.address;
  const port = `port ${number} of instance ${id}`;
  if (address === undefined) return port;
  return address === ipv4 ? `${port} at ${address}` : `${port} at its private address ${address}`;
}
