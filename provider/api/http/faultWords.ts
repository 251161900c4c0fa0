/** What the network did, in words a person can use (G9). */

const certificateCodes =
  /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY|DECODE|DECRYPT)|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)/;

export function faultWords(error: Error, host: string, answerBegun: boolean): string {
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
      return answerBegun
        ? "the connection broke in the middle of the answer"
        : "the connection broke before an answer came";
    case "UND_ERR_RES_CONTENT_LENGTH_MISMATCH":
    case "HPE_INVALID_EOF_STATE":
      return "the answer was cut short";
    case "UND_ERR_PRX_TLS":
    case "UND_ERR_PRX_CONN":
      return `the proxy could not be used (${error.message})`;
  }
  if (certificateCodes.test(code)) {
    return `the certificate of ${host} is not trusted (${code}); for a certificate authority of your own, set NODE_EXTRA_CA_CERTS`;
  }
  if (error.message.startsWith("Proxy response")) {
    return `the proxy refused to connect to ${host} (${error.message})`;
  }
  const what = error.message || error.name;
  return code && !what.includes(code) ? `${what} (${code})` : what;
}

function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : "";
}
