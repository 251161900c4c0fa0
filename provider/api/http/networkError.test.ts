/** Tests the messages for network errors (G9), including errors that a test can't cause with sockets. */
import { expect, test } from "@jest/globals";
import { networkErrorMessage, shortNetworkError } from "./networkError";

const service = new URL("https://api.example.com/v2");
const local = new URL("http://127.0.0.1:8080/v2");
const connecting = { baseUrl: service, stage: "connecting" } as const;
const sent = { baseUrl: service, stage: "sent" } as const;
const errorWith = (code: string, message = "") => Object.assign(new Error(message), { code });

test.each([
  ["ECONNREFUSED", "connection refused (api.example.com)"],
  ["ENOTFOUND", "host name not found (api.example.com)"],
  ["EAI_AGAIN", "host name lookup failed (api.example.com)"],
  ["ETIMEDOUT", "connection timed out (api.example.com)"],
  ["UND_ERR_CONNECT_TIMEOUT", "connection timed out (api.example.com)"],
  ["HPE_INVALID_EOF_STATE", "answer cut short"],
  ["HPE_INVALID_CONSTANT", "answer that is not HTTP (api.example.com)"],
  ["UND_ERR_HEADERS_OVERFLOW", "answer with too long headers"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "no TLS connection with api.example.com"],
  ["CERT_HAS_EXPIRED", "expired certificate (api.example.com, CERT_HAS_EXPIRED)"],
  ["CERT_NOT_YET_VALID", "certificate not yet valid (api.example.com, CERT_NOT_YET_VALID)"],
  ["HOSTNAME_MISMATCH", "(HOSTNAME_MISMATCH): it is for another host; the address"],
  ["INVALID_PURPOSE", "bad certificate of api.example.com (INVALID_PURPOSE): it is not trusted"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "(SELF_SIGNED_CERT_IN_CHAIN): it is not trusted"],
])("%s: %s", (code, message) => {
  expect(networkErrorMessage(errorWith(code), sent)).toContain(message);
});

test("if no address of the host answers, the message says why for each", () => {
  const at = (address: string, code: string) => Object.assign(errorWith(code), { address });
  const only = at("2001:db8::7", "EACCES");
  const failures = [only, at("192.0.2.7", "ECONNREFUSED")];
  const all = Object.assign(new AggregateError(failures), { code: "ENETUNREACH" });
  expect(networkErrorMessage(all, connecting)).toBe(
    "no connection to api.example.com: 2001:db8::7: connection not permitted, 192.0.2.7: connection refused",
  );
  expect(networkErrorMessage(only, connecting)).toBe("connection not permitted (api.example.com)");
});

test("what may be the proxy's fault names it as well", () => {
  const messageOf = (code: string, address: string) =>
    networkErrorMessage(errorWith(code), {
      ...connecting,
      proxy: { variable: "HTTPS_PROXY", address, noProxy: "" },
    });
  const [tls, plain] = ["https://proxy.test:3128", "http://proxy.test:3128"];
  expect(messageOf("ERR_SSL_WRONG_VERSION_NUMBER", tls)).toBe(
    "no TLS connection with api.example.com or the proxy in HTTPS_PROXY (ERR_SSL_WRONG_VERSION_NUMBER)",
  );
  expect(messageOf("ECONNRESET", plain)).toContain(
    "(api.example.com, or the proxy in HTTPS_PROXY)",
  );
  expect(messageOf("SELF_SIGNED_CERT_IN_CHAIN", tls)).toContain("or the proxy in HTTPS_PROXY (");
  // Through a tunnel, the certificate is the service's.
  expect(messageOf("SELF_SIGNED_CERT_IN_CHAIN", plain)).not.toContain("proxy");
});

test("a message about a failed proxy names the proxy", () => {
  const [tls, refused] = [
    errorWith("UND_ERR_PRX_TLS", "why"),
    new Error("Proxy response (407) !== 200"),
  ];
  expect(networkErrorMessage(tls, connecting)).toBe("proxy failed (why)");
  expect(networkErrorMessage(refused, connecting)).toBe(
    "proxy failed (Proxy response (407) !== 200)",
  );
});

test("the message about a broken connection says how far the request had come", () => {
  const messageAt = (stage: "connecting" | "sent" | "answering") =>
    networkErrorMessage(errorWith("ECONNRESET"), { baseUrl: service, stage });
  expect(messageAt("connecting")).toContain("broke while it was being made");
  expect(messageAt("sent")).toBe("connection broke before an answer came");
  expect(messageAt("answering")).toContain("in the middle of the answer");
});

test("on this machine, a peer that does not speak as the address says may expect the other scheme", () => {
  const messageOf = (code: string, baseUrl: URL) =>
    networkErrorMessage(errorWith(code), { baseUrl, stage: "sent" });
  expect(messageOf("HPE_INVALID_CONSTANT", local)).toContain("(does the service expect https?)");
  const tls = new URL("https://127.0.0.1:8080/v2");
  expect(messageOf("ERR_SSL_WRONG_VERSION_NUMBER", tls)).toContain("expect plain http?");
  expect(messageOf("ERR_SSL_WRONG_VERSION_NUMBER", service)).not.toContain("expect");
});

test("an error with an unknown code keeps its own message and its code", () => {
  expect(networkErrorMessage(errorWith("EODD", "odd"), sent)).toBe("odd (EODD)");
  expect(networkErrorMessage(errorWith("", ""), sent)).toBe("Error");
});

test.each([
  ["ECONNREFUSED", "connection refused"],
  ["CERT_HAS_EXPIRED", "expired certificate"],
  ["CERT_UNTRUSTED", "bad certificate"],
  ["ERR_SSL_NO_CERTIFICATES", "no TLS connection"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "no TLS connection"],
  ["UND_ERR_PRX_TLS", "proxy failed"],
  // Then the stage says as much.
  ["EODD", undefined],
])("%s in few words: %s", (code, words) => {
  expect(shortNetworkError(errorWith(code))).toBe(words);
});
