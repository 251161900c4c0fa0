/** Says in words what an error of undici or Node means (G9). `advice.ts` adds the next step. */
import { isLoopback } from "../../addresses";
import { connectionTrouble } from "../../networkCodes";
import type { Proxy } from "./proxies";

/** How far a request had come: no byte was sent, at least one byte was sent, or a response had begun. */
export type Stage = "connecting" | "sent" | "answering";

/** The error codes of OpenSSL and Node for a certificate that does not prove the service's identity. */
const certificateCodes =
  /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY|DECODE|DECRYPT)|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)/;

/** The error codes of a failed TLS handshake. Some contain CERT, but don't say that the service's certificate is wrong. */
const opensslCodes = /^(EPROTO$|ERR_SSL_)/;

/** No route leads to the address, or a firewall of this machine lets none. */
const unreachable = /^(E(NET|HOST)(UNREACH|DOWN)|EACCES|EPERM)$/;

/** An error of undici or Node. */
type NetworkError = Error & { hostname?: string; errors?: readonly unknown[] };

/** How far a request came, and on its way to where. */
interface Reached {
  baseUrl: URL;
  stage: Stage;
  /** The proxy that the connection may have used. */
  proxy?: Proxy | undefined;
}

/** Texts, each for some error codes. The first that matches the code counts. */
type Wordings = readonly [RegExp, string][];

/** Returns what happened, as a part of a sentence. */
export function networkErrorMessage(error: NetworkError, reached: Reached): string {
  const code = codeOf(error);
  const { host } = reached.baseUrl;
  // Node tries one address of the host after the other.
  const tried = (error.errors ?? (unreachable.test(code) ? [error] : [])).map(attemptAt);
  if (tried.length > 0)
    return `no connection to ${peerOf(reached)} could be made: ${tried.join(", ")}`;
  const wordings: Wordings = [
    ...connectionWordings(error, reached),
    ...answerWordings(reached),
    ...tlsWordings(code, reached),
  ];
  const [, message] = wordings.find(([codes]) => codes.test(code)) ?? [];
  if (message !== undefined) return message;
  if (error.message.startsWith("Proxy response")) {
    return `the proxy refused to connect to ${host} (${error.message})`;
  }
  const text = error.message || error.name;
  return code && !text.includes(code) ? `${text} (${code})` : text;
}

function peerOf({ baseUrl: { host }, proxy }: Reached): string {
  return proxy ? `${host}, or to the proxy in ${proxy.variable},` : host;
}

/** Who has a certificate: the service and, if TLS leads to it, the proxy. */
function tlsPeerOf({ baseUrl: { host }, proxy }: Reached): string {
  return proxy?.address.startsWith("https:") ? `${host} or the proxy in ${proxy.variable}` : host;
}

/** Asks whether the address has the wrong scheme. */
function otherScheme({ baseUrl }: Reached): string {
  // Elsewhere than on loopback, plain http is not allowed.
  const httpInstead = isLoopback(baseUrl.hostname) ? " (does the service expect plain http?)" : "";
  return httpsInstead(baseUrl) || httpInstead;
}

function httpsInstead({ protocol }: URL): string {
  return protocol === "http:" ? " (does the service expect https?)" : "";
}

function connectionWordings({ hostname, message }: NetworkError, reached: Reached): Wordings {
  const { baseUrl, stage } = reached;
  const peer = peerOf(reached);
  const lookedUp = hostname ?? baseUrl.hostname;
  const broken: Record<Stage, string> = {
    connecting: `the connection to ${peer} broke while it was being made${otherScheme(reached)}`,
    // A TLS server closes a plain http connection without an answer.
    sent: `the connection broke before an answer came${httpsInstead(baseUrl)}`,
    answering: "the connection broke in the middle of the answer",
  };
  return [
    [/^ECONNREFUSED$/, `the connection to ${peer} was refused`],
    [/^ENOTFOUND$/, `the host name ${lookedUp} could not be found`],
    [/^EAI_AGAIN$/, `the host name ${lookedUp} could not be looked up at the moment`],
    [/^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/, `the connection to ${peer} timed out`],
    [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, broken[stage]],
    [/^UND_ERR_PRX_/, `the proxy could not be used (${message})`],
  ];
}

function answerWordings(reached: Reached): Wordings {
  const { host } = reached.baseUrl;
  return [
    [/^(UND_ERR_RES_CONTENT_LENGTH_MISMATCH|HPE_INVALID_EOF_STATE)$/, "the answer was cut short"],
    [/^UND_ERR_HEADERS_OVERFLOW$/, "the headers of the answer are too long"],
    [/^HPE_INVALID_CONSTANT$/, `the answer of ${host} is not HTTP${otherScheme(reached)}`],
  ];
}

function tlsWordings(code: string, reached: Reached): Wordings {
  const certificate = `the certificate of ${tlsPeerOf(reached)}`;
  return [
    // The code is shown instead of OpenSSL's message, which contains names of OpenSSL's source files.
    [
      opensslCodes,
      `no TLS connection could be made with ${tlsPeerOf(reached)} (${code})${otherScheme(reached)}`,
    ],
    [
      /^CERT_HAS_EXPIRED$/,
      `${certificate} has expired (${code}): it has to be renewed at the service, unless this machine's clock is wrong`,
    ],
    [
      /^CERT_NOT_YET_VALID$/,
      `${certificate} is not valid yet (${code}): this machine's clock may be wrong`,
    ],
    [
      /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
      `${certificate} is for another host (${code}): compute:baseUrl has to name the host as the certificate does`,
    ],
    [
      certificateCodes,
      `${certificate} is not trusted (${code}); for a certificate authority of your own, set NODE_EXTRA_CA_CERTS to the file of its certificate`,
    ],
  ];
}

/** Returns what happened in few words. Undefined if the stage says as much. */
export function shortNetworkError(error: Error): string | undefined {
  const code = codeOf(error);
  if (isCertificateError(error)) return "bad certificate";
  if (opensslCodes.test(code)) return "no TLS connection";
  if (code.startsWith("UND_ERR_PRX_") || error.message.startsWith("Proxy response")) {
    return "proxy failed";
  }
  return connectionTrouble(code);
}

/** Says why the connection to one address failed: "192.0.2.7: connection refused". */
function attemptAt(failure: unknown): string {
  const error = Object(failure) as Error & { address?: string };
  const code = codeOf(error);
  return `${error.address ?? "an address"}: ${connectionTrouble(code) ?? (code || error.message)}`;
}

/** Whether the certificate did not prove the service's identity. A retry would then fail as well. */
export function isCertificateError(error: Error): boolean {
  const code = codeOf(error);
  return certificateCodes.test(code) && !opensslCodes.test(code);
}

function codeOf(error: Error & { code?: unknown }): string {
  return typeof error.code === "string" ? error.code : "";
}
