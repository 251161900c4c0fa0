/** The messages for errors of the network (G9), also for those that a test can't bring about with sockets. */
import { expect, test } from "@jest/globals";
import { isCertificateError, networkErrorMessage } from "./networkError";

const service = new URL("https://api.example.com/v2");
const local = new URL("http://127.0.0.1:8080/v2");
const fault = (code: string, message = "") => Object.assign(new Error(message), { code });

test.each([
  ["ECONNREFUSED", "the connection to api.example.com was refused"],
  ["ENOTFOUND", "the host of api.example.com could not be found"],
  ["EAI_AGAIN", "the host of api.example.com could not be looked up just now"],
  ["ETIMEDOUT", "no connection to api.example.com: it timed out"],
  ["UND_ERR_CONNECT_TIMEOUT", "no connection to api.example.com: it timed out"],
  ["HPE_INVALID_EOF_STATE", "the answer was cut short"],
  ["HPE_INVALID_CONSTANT", "what api.example.com answered is not HTTP"],
  ["UND_ERR_HEADERS_OVERFLOW", "the headers of the answer are too long"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "no TLS connection could be made with api.example.com"],
  ["CERT_HAS_EXPIRED", "has expired (CERT_HAS_EXPIRED): it has to be renewed at the service"],
  ["CERT_NOT_YET_VALID", "is not valid yet (CERT_NOT_YET_VALID): this machine's clock"],
  ["HOSTNAME_MISMATCH", "is for another host (HOSTNAME_MISMATCH): compute:baseUrl"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "is not trusted (SELF_SIGNED_CERT_IN_CHAIN)"],
])("%s: %s", (code, words) => {
  expect(networkErrorMessage(fault(code), service, "sent")).toContain(words);
});

test("a proxy's fault is told as the proxy's", () => {
  const [tls, refused] = [
    fault("UND_ERR_PRX_TLS", "why"),
    new Error("Proxy response (407) !== 200"),
  ];
  expect(networkErrorMessage(tls, service, "connecting")).toBe("the proxy could not be used (why)");
  expect(networkErrorMessage(refused, service, "connecting")).toContain(
    "the proxy refused to connect to",
  );
});

test("how far the request had come is told where the connection broke", () => {
  const words = (stage: "connecting" | "sent" | "answering", where = service) =>
    networkErrorMessage(fault("ECONNRESET"), where, stage);
  expect(words("connecting")).toContain("broke while it was being made");
  expect(words("sent")).toBe("the connection broke before an answer came");
  expect(words("sent", local)).toContain("(is it an https address?)");
  expect(words("answering")).toContain("in the middle of the answer");
});

test("a fault of no known code keeps its own words, and its code", () => {
  expect(networkErrorMessage(fault("EODD", "odd"), service, "sent")).toBe("odd (EODD)");
  expect(networkErrorMessage(fault("", ""), service, "sent")).toBe("Error");
});

test("only a certificate's fault is one that lasts", () => {
  expect(isCertificateError(fault("CERT_HAS_EXPIRED"))).toBe(true);
  expect(isCertificateError(fault("ERR_SSL_NO_CERTIFICATES"))).toBe(false);
  expect(isCertificateError(new Error("no code"))).toBe(false);
});
