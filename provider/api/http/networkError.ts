/** Says in words what an error of undici or Node means (G9). `advice.ts` adds the next step. */
import { isLoopback } from "../../addresses";

/** How far a request had come: no byte was sent, at least one byte was sent, or a response had begun. */
export type Stage = "connecting" | "sent" | "answering";

/** The error codes of OpenSSL and Node for a certificate that does not prove the service's identity. */
const certificateCodes =
  /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY|DECODE|DECRYPT)|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)/;

/** The error codes of a failed TLS handshake. Some contain CERT, but don't say that the service's certificate is wrong. */
const opensslCodes = /^(EPROTO$|ERR_SSL_)/;

/** The message for each error code whose meaning is certain. `peer` names the service's host, and the proxy if any. */
const messages: Readonly<Record<string, (peer: string, hostname: string) => string>> = {
  ECONNREFUSED: (peer) => `the connection to ${peer} was refused`,
  ENOTFOUND: (_, hostname) => `the host name ${hostname} could not be found`,
  EAI_AGAIN: (_, hostname) => `the host name ${hostname} could not be looked up at the moment`,
  UND_ERR_CONNECT_TIMEOUT: (peer) => `the connection to ${peer} timed out`,
  ETIMEDOUT: (peer) => `the connection to ${peer} timed out`,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: () => "the answer was cut short",
  HPE_INVALID_EOF_STATE: () => "the answer was cut short",
  UND_ERR_HEADERS_OVERFLOW: () => "the headers of the answer are too long",
};

/** Returns what happened, as a part of a sentence. `hasProxy` is whether the connection may have used a proxy. */
export function networkErrorMessage(
  error: Error & { hostname?: string },
  baseUrl: URL,
  stage: Stage,
  hasProxy = false,
): string {
  const { host } = baseUrl;
  const code = codeOf(error);
  const message = messages[code];
  if (message) {
    const peer = hasProxy ? `${host}, or to the proxy in HTTPS_PROXY or HTTP_PROXY,` : host;
    return message(peer, error.hostname ?? baseUrl.hostname);
  }
  if (["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"].includes(code)) {
    return brokenConnection(baseUrl, stage);
  }
  if (code === "HPE_INVALID_CONSTANT") {
    return `the answer of ${host} is not HTTP${otherScheme(baseUrl)}`;
  }
  if (code.startsWith("UND_ERR_PRX_")) return `the proxy could not be used (${error.message})`;
  if (error.message.startsWith("Proxy response")) {
    return `the proxy refused to connect to ${host} (${error.message})`;
  }
  // The code is shown instead of OpenSSL's message, which contains names of OpenSSL's source files.
  if (opensslCodes.test(code)) {
    return `no TLS connection could be made with ${host} (${code})${otherScheme(baseUrl)}`;
  }
  if (isCertificateError(error)) return `the certificate of ${host} ${certificateProblem(code)}`;
  const text = error.message || error.name;
  return code && !text.includes(code) ? `${text} (${code})` : text;
}

/** Whether the certificate did not prove the service's identity. A retry would then fail as well. */
export function isCertificateError(error: Error): boolean {
  const code = codeOf(error);
  return certificateCodes.test(code) && !opensslCodes.test(code);
}

function brokenConnection(baseUrl: URL, stage: Stage): string {
  switch (stage) {
    case "connecting":
      return `the connection to ${baseUrl.host} broke while it was being made${otherScheme(baseUrl)}`;
    case "sent":
      // A TLS server closes a plain http connection without an answer.
      return `the connection broke before an answer came${isTls(baseUrl) ? "" : otherScheme(baseUrl)}`;
    case "answering":
      return "the connection broke in the middle of the answer";
  }
}

function certificateProblem(code: string): string {
  switch (code) {
    case "CERT_HAS_EXPIRED":
      return `has expired (${code}): it has to be renewed at the service, unless this machine's clock is wrong`;
    case "CERT_NOT_YET_VALID":
      return `is not valid yet (${code}): this machine's clock may be wrong`;
    case "ERR_TLS_CERT_ALTNAME_INVALID":
    case "HOSTNAME_MISMATCH":
      return `is for another host (${code}): compute:baseUrl has to name the host as the certificate does`;
    default:
      return `is not trusted (${code}); for a certificate authority of your own, set NODE_EXTRA_CA_CERTS to the file of its certificate`;
  }
}

/** A question about the scheme of compute:baseUrl, unless plain http is not allowed there. */
function otherScheme(baseUrl: URL): string {
  if (!isTls(baseUrl)) return " (does the service expect https?)";
  return isLoopback(baseUrl.hostname) ? " (does the service expect plain http?)" : "";
}

const isTls = ({ protocol }: URL) => protocol === "https:";

function codeOf(error: Error & { code?: unknown }): string {
  return typeof error.code === "string" ? error.code : "";
}
