/** The innermost link: puts a call on the wire. */
import type { Clock } from "../../clock";
import type { Address } from "./address";
import type { Connections } from "./connections";
import type { Send } from "./exchange";
import { transfer } from "./transfer";

export interface SendOptions {
  address: Address;
  connections: Connections;
  token: string;
  userAgent: string;
  requestTimeoutMs: number;
  clock: Clock;
}

export function send({ address, connections, ...options }: SendOptions): Send {
  const headers = {
    authorization: `Bearer ${options.token}`,
    accept: "application/json",
    "accept-encoding": "identity",
    "user-agent": options.userAgent,
  };
  return async (call) => {
    const own = call.method === "POST" ? connections.fresh() : undefined;
    try {
      return await transfer(own ?? connections.kept, call, {
        address,
        headers: call.body ? { ...headers, "content-type": "application/json" } : headers,
        timeoutMs: options.requestTimeoutMs,
        clock: options.clock,
      });
    } finally {
      void own?.destroy();
    }
  };
}
