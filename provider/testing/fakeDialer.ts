/** A dialer without sockets. */
import { raceAbort } from "../abort";
import type { Dialer } from "../dialer";

/** What a try meets: an answer, nothing at all, or an error of the system with this code. */
type Outcome = "answer" | "silence" | "ECONNREFUSED" | "EHOSTUNREACH";

export class FakeDialer implements Dialer {
  /** Such as "203.0.113.9:22". */
  readonly tries: string[] = [];
  /** What the next try meets. */
  outcome: (target: string) => Outcome = () => "answer";

  async dial(address: string, port: number, signal: AbortSignal): Promise<void> {
    const target = `${address}:${port}`;
    this.tries.push(target);
    const outcome = this.outcome(target);
    if (outcome === "answer") return;
    if (outcome === "silence") return await raceAbort(new Promise(() => undefined), signal);
    throw Object.assign(new Error(`connect ${outcome} ${target}`), { code: outcome });
  }
}
