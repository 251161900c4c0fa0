/** What the network did, in words a person can use (G9). */
import type { Address } from "./address";

/** How far a request had come. */
export type Stage = "connecting" | "sent" | "answering";

/** Codes of OpenSSL and Node for a certificate that does not prove who the service is. */
const certificateCodes =
  /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY|DECODE|DECRYPT)|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)/;

const opensslCodes = /^(EPROTO$|ERR_SSL_)/;

export function networkErrorMessage(error: Error, address: Address, stage: Stage): string {
  const { host } = address;
  const code = codeOf(error);
  switch (code) {
    case "ECONNREFUSED":
      return `the connection to ${host} was refused`;
    case "ENOTFOUND":
      return `the host of ${host} could not be found`;
    case "EAI_AGAIN":
      return `the host of ${host} could not be looked up just now`;
    case "UND_ERR_CONNECT_TIMEOUT":
    case "ETIMEDOUT":
      return `no connection to ${host}: it timed out`;
    case "ECONNRESET":
    case "EPIPE":
    case "UND_ERR_SOCKET":
      return broken(address, stage);
    case "UND_ERR_RES_CONTENT_LENGTH_MISMATCH":
    case "HPE_INVALID_EOF_STATE":
      return "the answer was cut short";
    case "HPE_INVALID_CONSTANT":
      return `what ${host} answered is not HTTP${otherScheme(address)}`;
    case "UND_ERR_HEADERS_OVERFLOW":
      return "the headers of the answer are too long";
    case "UND_ERR_PRX_TLS":
    case "UND_ERR_PRX_CONN":
      return `the proxy could not be used (${error.message})`;
  }
  // OpenSSL's own message tells of its source files.
  if (opensslCodes.test(code)) {
    return `no TLS connection could be made with ${host} (${code})${otherScheme(address)}`;
  }
  if (isCertificateError(error)) {
    return `the certificate of ${host} ${certificateFault(code)}`;
  }
  if (error.message.startsWith("Proxy response")) {
    return `the proxy refused to connect to ${host} (${error.message})`;
  }
  const what = error.message || error.name;
  return code && !what.includes(code) ? `${what} (${code})` : what;
}

export function isCertificateError(error: Error): boolean {
  const code = codeOf(error);
  return certificateCodes.test(code) && !opensslCodes.test(code);
}

function broken(address: Address, stage: Stage): string {
  switch (stage) {
    case "connecting":
      return `the connection to ${address.host} broke while it was being made${otherScheme(address)}`;
    case "sent":
      // A TLS listener hangs up on what is no TLS, without a word.
      return `the connection broke before an answer came${isTls(address) ? "" : otherScheme(address)}`;
    case "answering":
      return "the connection broke in the middle of the answer";
  }
}

function certificateFault(code: string): string {
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

/** A slip that shows in no other way than a broken connection. Plain http is for loopback only. */
function otherScheme(address: Address): string {
  if (!isTls(address)) return " (is it an https address?)";
  return address.loopback ? " (is it a plain http address?)" : "";
}

const isTls = ({ origin }: Address) => origin.startsWith("https:");

function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : "";
}
