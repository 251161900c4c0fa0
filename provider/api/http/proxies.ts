/** Reads from the environment which proxy leads to the service. */
import { BlockList, isIP } from "node:net";
import { isLoopback } from "../../addresses";
import type { ClientOptions } from "../options";

/** The proxy that leads to the service. */
export interface Proxy {
  /** The variable that has its address. */
  variable: string;
  address: string;
  /** NO_PROXY. undici looks for the host's name in it. */
  noProxy: string;
}

/**
 * Reads HTTPS_PROXY, or else HTTP_PROXY, and NO_PROXY. The lower-case name of a variable wins, as in curl. A loopback address
 * is reached without a proxy, which would connect to its own machine. Only such an address may be plain http.
 *
 * @throws Error if the variable is not the address of a proxy that undici can use
 */
export function proxyFor({ hostname }: URL, env: ClientOptions["env"]): Proxy | undefined {
  const set = (name: string) => [name.toLowerCase(), name].find((form) => env[form]);
  const variable = set("HTTPS_PROXY") ?? set("HTTP_PROXY");
  const noProxy = env[set("NO_PROXY") ?? ""] ?? "";
  const value = env[variable ?? ""];
  if (variable === undefined || !value) return undefined;
  if (isLoopback(hostname) || isInRange(hostname, noProxy)) return undefined;
  const address = value.includes("://") ? value : `http://${value}`;
  const problem = problemOf(address);
  if (problem !== undefined) throw new Error(`${variable} ${problem}`);
  return { variable, address, noProxy };
}

/** Says why undici can't use the address of a proxy, as a clause. The value may hold a password, so the clause does not repeat it. */
function problemOf(address: string): string | undefined {
  if (/^socks/i.test(address))
    return "is a SOCKS proxy, which can't be used: give http://HOST:PORT";
  try {
    const { protocol, username, password } = new URL(address);
    decodeURIComponent(username + password);
    if (["http:", "https:"].includes(protocol)) return undefined;
  } catch {
    // It is no address, or its password has a % that encodes nothing.
  }
  return "is not the address of a proxy: give http://HOST:PORT (in a password, %23 for #, %25 for % and %40 for @)";
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
