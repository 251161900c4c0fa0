/** What the error codes of Node, undici and OpenSSL mean. */

/** Texts in few words, each for some codes. The first whose expression matches the code counts. */
const table = [
  [/^ECONNREFUSED$/, "connection refused"],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, "connection broke"],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, "connection timed out"],
  [/^ENOTFOUND$/, "host name not found"],
  [/^EAI_AGAIN$/, "host name lookup failed"],
  [/^EHOST(UNREACH|DOWN)$/, "host unreachable"],
  [/^ENET(UNREACH|DOWN)$/, "network unreachable"],
  [/^(EACCES|EPERM)$/, "connection not permitted"],
  [/^UND_ERR_PRX_/, "proxy failed"],
  [/^(UND_ERR_RES_CONTENT_LENGTH_MISMATCH|HPE_INVALID_EOF_STATE)$/, "answer cut short"],
  [/^UND_ERR_HEADERS_OVERFLOW$/, "answer with too long headers"],
  [/^HPE_INVALID_CONSTANT$/, "answer that is not HTTP"],
  [/^CERT_HAS_EXPIRED$/, "expired certificate"],
  [/^CERT_NOT_YET_VALID$/, "certificate not yet valid"],
  // Some of these codes contain CERT, but don't say that the service's certificate is wrong.
  [/^(EPROTO$|ERR_SSL_)/, "no TLS connection"],
  [
    /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY|DECODE|DECRYPT)|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)/,
    "bad certificate",
  ],
] as const satisfies readonly (readonly [RegExp, string])[];

/** What went wrong with a connection or an answer, in few words. */
export type NetworkTrouble = (typeof table)[number][1];

/** Returns what an error code means. Undefined for any code that is not in the table. */
export function networkTrouble(code: string): NetworkTrouble | undefined {
  return table.find(([codes]) => codes.test(code))?.[1];
}

const outOfTime: readonly (string | undefined)[] = [
  "expired certificate",
  "certificate not yet valid",
] satisfies NetworkTrouble[];

/** Whether it is not the time of a certificate by this machine's clock. */
export function isOutOfTime(trouble: string | undefined): boolean {
  return outOfTime.includes(trouble);
}

/** Whether a certificate was refused, so that nothing was sent, and another try would fail as well. */
export function isCertificateRefused(trouble: string | undefined): boolean {
  return isOutOfTime(trouble) || trouble === "bad certificate";
}
