/** The innermost link: puts a call on the wire. */
import type { ClientOptions } from "../client";
import type { Address } from "./address";
import type { Connections } from "./connections";
import type { Send } from "./exchange";
import { transfer } from "./transfer";

type Options = Pick<ClientOptions, "token" | "userAgent" | "requestTimeoutMs" | "clock">;

export function send(address: Address, connections: Connections, options: Options): Send {
  const { clock, requestTimeoutMs: timeoutMs } = options;
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
        timeoutMs,
        clock,
      });
    } finally {
      void own?.destroy();
    }
  };
}
