/** Says in words what an error of undici or Node means (G9). `advice.ts` adds the next step. */
import { isLoopback } from "../../addresses";
import { networkTrouble, type NetworkTrouble } from "../../networkCodes";
import type { Proxy } from "./proxies";

/** How far a request had come: no byte was sent, at least one byte was sent, or a response had begun. */
export type Stage = "connecting" | "sent" | "answering";

/** An error of undici or Node. */
type NetworkError = Error & { hostname?: string; errors?: readonly unknown[] };

/** How far a request came, and on its way to where. */
interface Reached {
  baseUrl: URL;
  stage: Stage;
  /** The proxy that the connection may have used. */
  proxy?: Proxy | undefined;
}

/** Returns what happened in few words. Undefined if the error has no code that is known. */
export function shortNetworkError(error: Error): NetworkTrouble | undefined {
  // This error has no code.
  if (error.message.startsWith("Proxy response")) return "proxy failed";
  return networkTrouble(networkCode(error));
}

/** What follows the few words in a sentence. What is not here says with whom the connection was to be. */
const details: Readonly<
  Partial<Record<NetworkTrouble, (reached: Reached, code: string, error: NetworkError) => string>>
> = {
  "host name not found": hostName,
  "host name lookup failed": hostName,
  "connection broke": (reached) => ` ${whereItBroke[reached.stage](reached)}`,
  "proxy failed": (_, _code, { message }) => ` (${message})`,
  "answer cut short": () => "",
  "answer with too long headers": () => "",
  "answer that is not HTTP": (reached) => ` (${reached.baseUrl.host})${otherScheme(reached)}`,
  // The code is shown instead of OpenSSL's message, which contains names of OpenSSL's source files.
  "no TLS connection": (reached, code) =>
    ` with ${tlsPeerOf(reached)} (${code})${otherScheme(reached)}`,
  "expired certificate": (reached, code) => ` (${tlsPeerOf(reached)}, ${code})`,
  "certificate not yet valid": (reached, code) => ` (${tlsPeerOf(reached)}, ${code})`,
  "bad certificate": (reached, code) =>
    ` of ${tlsPeerOf(reached)} (${code}): ${certificateProblems[code] ?? untrusted}`,
};

const whereItBroke: Readonly<Record<Stage, (reached: Reached) => string>> = {
  connecting: (reached) => `while it was being made (${peerOf(reached)})${otherScheme(reached)}`,
  sent: () => "before an answer came",
  answering: () => "in the middle of the answer",
};

const isForOther =
  "it is for another host; the address has to name the host as the certificate does";
const certificateProblems: Readonly<Record<string, string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: isForOther,
  HOSTNAME_MISMATCH: isForOther,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    "it is not trusted: the service does not send the certificate of its issuer, and this machine lacks it; the service has to send it, or NODE_EXTRA_CA_CERTS has to name its file",
};
const untrusted =
  "it is not trusted; add the certificate of its authority to those of this system, or set NODE_EXTRA_CA_CERTS to its file";

/** Returns what happened, as a part of a sentence. */
export function networkErrorMessage(error: NetworkError, reached: Reached): string {
  const code = networkCode(error);
  // Node tries one address of the host after the other.
  if (error.errors)
    return `no connection to ${peerOf(reached)}: ${error.errors.map(attemptAt).join(", ")}`;
  const trouble = shortNetworkError(error);
  if (trouble !== undefined)
    return trouble + (details[trouble]?.(reached, code, error) ?? ` (${peerOf(reached)})`);
  const text = error.message || error.name;
  return code && !text.includes(code) ? `${text} (${code})` : text;
}

function hostName({ baseUrl }: Reached, _: string, error: NetworkError): string {
  return ` (${error.hostname ?? baseUrl.hostname})`;
}

function peerOf({ baseUrl: { host }, proxy }: Reached): string {
  return proxy ? `${host}, or the proxy in ${proxy.variable}` : host;
}

/** Whose certificate it may be: the service's or, if the proxy has an https address, the proxy's. */
function tlsPeerOf({ baseUrl: { host }, proxy }: Reached): string {
  return proxy?.address.startsWith("https:") ? `${host} or the proxy in ${proxy.variable}` : host;
}

/** Asks whether the address has the wrong scheme. Elsewhere than on loopback, only https is allowed. */
function otherScheme({ baseUrl: { hostname, protocol } }: Reached): string {
  if (!isLoopback(hostname)) return "";
  return ` (does the service expect ${protocol === "http:" ? "https" : "plain http"}?)`;
}

/** Says why the connection to one address failed: "192.0.2.7: connection refused". */
function attemptAt(failure: unknown): string {
  const error = Object(failure) as Error & { address?: string };
  const code = networkCode(error);
  return `${error.address ?? "an address"}: ${networkTrouble(code) ?? (code || error.message)}`;
}

function networkCode(error: Error & { code?: unknown }): string {
  return typeof error.code === "string" ? error.code : "";
}
