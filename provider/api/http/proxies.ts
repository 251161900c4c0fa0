/** Reads from the environment which proxy leads to the service. */
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
  if (isLoopback(hostname)) return undefined;
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
