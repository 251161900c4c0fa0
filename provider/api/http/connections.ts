/** The connections requests go over: direct or through the proxy the environment names. */
import { Agent, EnvHttpProxyAgent, type Dispatcher } from "undici";
import type { ClientOptions } from "../client";
import type { Address } from "./address";

type Options = Pick<ClientOptions, "env" | "requestTimeoutMs" | "connect">;

export class Connections {
  /** Keep-alive connections, for requests that may be repeated when an idle one turns out dead. */
  readonly kept: Dispatcher;
  readonly #open: () => Dispatcher;

  constructor(address: Address, options: Options) {
    this.#open = options.connect ?? agents(address, options);
    this.kept = this.#open();
  }

  /**
   * A dispatcher without any connection yet: its first request opens one. A POST never goes out on
   * an idle kept-alive socket, whose reset would look like an open answer (G2).
   */
  fresh(): Dispatcher {
    return this.#open();
  }

  close(): Promise<void> {
    return this.kept.close();
  }
}

function agents(address: Address, { env, requestTimeoutMs }: Options): () => Dispatcher {
  const options = {
    // HTTP/2 repeats requests by itself after a GOAWAY; a POST must never be (G2).
    allowH2: false,
    connectTimeout: Math.min(10_000, requestTimeoutMs),
  };
  // Loopback is this machine: a proxy would look for the service on its own.
  const proxy = address.loopback ? {} : proxyFrom(env);
  // Variables are passed as empty strings where they are not set, or undici would read process.env.
  return proxy.httpProxy || proxy.httpsProxy
    ? () => new EnvHttpProxyAgent({ ...options, ...proxy })
    : () => new Agent(options);
}

interface ProxySettings {
  httpProxy?: string;
  httpsProxy?: string;
  noProxy?: string;
}

/** As curl has it, the small-letter form wins. Without HTTPS_PROXY, HTTP_PROXY serves for https too. */
function proxyFrom(env: ClientOptions["env"]): ProxySettings {
  const read = (name: string) => env[name.toLowerCase()] || env[name] || "";
  return {
    httpProxy: proxyAddress("HTTP_PROXY", read("HTTP_PROXY")),
    httpsProxy: proxyAddress("HTTPS_PROXY", read("HTTPS_PROXY")),
    noProxy: read("NO_PROXY"),
  };
}

function proxyAddress(variable: string, value: string): string {
  if (!value) return "";
  const address = value.includes("://") ? value : `http://${value}`;
  // The value may hold a password: it is not repeated.
  if (!URL.canParse(address)) throw new Error(`${variable} is not the address of a proxy`);
  return address;
}
