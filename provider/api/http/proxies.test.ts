/** Tests which proxy is used for an address, and what is said about one that can't be used. */
import { expect, test } from "@jest/globals";
import { proxyFor } from "./proxies";

const HTTPS_PROXY = "http://proxy.test:3128";
const service = new URL("https://a.test/v2");
const addressFor = (host: string, noProxy: string) =>
  proxyFor(new URL(`https://${host}/v2`), { HTTPS_PROXY, NO_PROXY: noProxy })?.address;

test.each([
  ["10.1.2.3", "other.test, 10.0.0.0/8"],
  ["10.1.2.3", "0.0.0.0/0"],
  ["[fd00::7]", "10.0.0.0/8,fd00::/8"],
  ["[fd00::7]", "FD00:0::/8"],
])("%s is reached without the proxy if NO_PROXY is %s", (host, noProxy) => {
  expect(addressFor(host, noProxy)).toBeUndefined();
});

test.each([
  ["11.1.2.3", "10.0.0.0/8"],
  ["[fe00::7]", "fd00::/8"],
  // A range is not compared with what a name stands for, as in curl and Go.
  ["compute.test", "0.0.0.0/0"],
  // These are no ranges.
  ["10.1.2.3", "10.0.0.0/33, 10.0.0/8, /8, fd00::/129, compute.test/8"],
])("%s is reached through the proxy if NO_PROXY is %s", (host, noProxy) => {
  expect(addressFor(host, noProxy)).toBe(HTTPS_PROXY);
});

test.each([
  ["socks5h://user:canary@proxy.test", /is a SOCKS proxy, .*: give http:/],
  ["socks5://proxy.test:1080", /is a SOCKS proxy/],
  ["http://user:canary@:x", /is not the address of a proxy: give http:/],
  ["http://user:canary#a@proxy.test", /is not the address .*%23 for #/],
  ["http://user:canary%w@proxy.test", /is not the address .*%25 for %/],
  ["http://user:canary%ff@proxy.test", /is not the address .*%25 for %/],
  ["ftp://proxy.test", /is not the address of a proxy/],
])(
  "the message about a proxy %s names the variable and the cause, and not the value",
  (value, why) => {
    for (const name of ["HTTPS_PROXY", "http_proxy"]) {
      const attempt = () => proxyFor(service, { [name]: value });
      expect(attempt).toThrow(why);
      expect(attempt).toThrow(new RegExp(`^${name} `));
      expect(attempt).not.toThrow(/canary/);
    }
  },
);

test("the address of a proxy may lack http://, and be an address if it has no TLS", () => {
  const used = (value: string) => proxyFor(service, { HTTPS_PROXY: value })?.address;
  expect(used("10.0.0.1:3128")).toBe("http://10.0.0.1:3128");
  expect(used("https://proxy.test")).toBe("https://proxy.test");
  expect(used("http://user:p%25w@proxy.test")).toBe("http://user:p%25w@proxy.test");
});

test("HTTP_PROXY counts only without HTTPS_PROXY, and what is empty is not set", () => {
  const socks = { HTTP_PROXY: "socks5://proxy.test:1080" };
  expect(proxyFor(service, { ...socks, HTTPS_PROXY })?.variable).toBe("HTTPS_PROXY");
  const given = { HTTPS_PROXY: "", http_proxy: "proxy.test:3128" };
  expect(proxyFor(service, given)?.variable).toBe("http_proxy");
  expect(proxyFor(service, { HTTPS_PROXY: "" })).toBeUndefined();
});
