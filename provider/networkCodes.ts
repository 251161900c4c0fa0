/** The error codes of connections that failed, in few words. */

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection broke",
  EPIPE: "connection broke",
  UND_ERR_SOCKET: "connection broke",
  ETIMEDOUT: "connection timed out",
  UND_ERR_CONNECT_TIMEOUT: "connection timed out",
  ENOTFOUND: "host name not found",
  EAI_AGAIN: "host name lookup failed",
  EHOSTUNREACH: "host unreachable",
  EHOSTDOWN: "host unreachable",
  ENETUNREACH: "network unreachable",
  ENETDOWN: "network unreachable",
  EACCES: "connection not permitted",
  EPERM: "connection not permitted",
};

/** Says what happened to a connection. Undefined for a code that is not a connection's. */
export function connectionTrouble(code: string): string | undefined {
  return words[code];
}
