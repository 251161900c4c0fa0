/** Reads from the environment which proxy leads to the service. */
import { BlockList, isIP } from "node:net";
import { isLoopback } from "../../addresses";
import type { ClientOptions } from "../options";

/** In the form of undici's `EnvHttpProxyAgent`. What is not set is an empty string. */
export interface Proxies {
  httpProxy: string;
  httpsProxy: string;
  noProxy: string;
}

/**
 * Reads the proxies and NO_PROXY. The lower-case name of a variable wins, as in curl. A loopback address is reached
 * without a proxy, which would connect to its own machine.
 *
 * @throws Error if a proxy variable is not the address of a proxy that undici can use
 */
export function proxiesOf({ hostname }: URL, env: ClientOptions["env"]): Proxies {
  const set = (name: string) => [name.toLowerCase(), name].find((form) => env[form]);
  const read = (name: string) => env[set(name) ?? ""] ?? "";
  const noProxy = read("NO_PROXY");
  if (isLoopback(hostname) || isInRange(hostname, noProxy)) {
    return { httpProxy: "", httpsProxy: "", noProxy: "" };
  }
  function readAddress(name: string): string {
    const value = read(name);
    const address = value === "" || value.includes("://") ? value : `http://${value}`;
    // The value may hold a password, so the message does not repeat it.
    if (address && !isUsable(address)) {
      const forms = "http://HOST:PORT, or https://NAME:PORT with a host name, not an IP address";
      throw new Error(`${set(name)} is not the address of a proxy that can be used: ${forms}`);
    }
    return address;
  }
  return {
    httpProxy: readAddress("HTTP_PROXY"),
    httpsProxy: readAddress("HTTPS_PROXY"),
    noProxy,
  };
}

/** Node's TLS refuses an IP address as the name of a proxy. SOCKS fails, since undici speaks TLS to its proxy. */
function isUsable(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === "http:" || (protocol === "https:" && isIP(withoutBrackets(hostname)) === 0);
}

/** Whether the host is an address in a range of NO_PROXY (10.0.0.0/8), which undici doesn't know. Names are not looked up. */
function isInRange(hostname: string, noProxy: string): boolean {
  const host = withoutBrackets(hostname);
  const family = isIP(host);
  if (family === 0) return false;
  const ranges = new BlockList();
  for (const entry of noProxy.split(/[,\s]+/)) {
    const [, network = "", bits] = /^(.+)\/(\d+)$/.exec(entry) ?? [];
    const [version, maxBits] =
      isIP(network) === 4 ? (["ipv4", 32] as const) : (["ipv6", 128] as const);
    if (isIP(network) > 0 && Number(bits) <= maxBits)
      ranges.addSubnet(network, Number(bits), version);
  }
  return ranges.check(host, family === 4 ? "ipv4" : "ipv6");
}

/** A URL has an IPv6 address in brackets. */
function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}
