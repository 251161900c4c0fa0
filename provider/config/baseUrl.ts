/** The base address of the service, in the one form that is compared, stored and joined with paths. */
import { isLoopback } from "../api/http/loopback";

/** `https://host/v2` (without a trailing slash), or what is wrong with it. */
export function normaliseBaseUrl(value: string): string | { problem: string } {
  const url = URL.parse(value.trim());
  if (!url || !["http:", "https:"].includes(url.protocol)) {
    return { problem: "must be an address such as https://api.example.com/v2" };
  }
  if (url.username || url.password) {
    return { problem: "must not hold a user name or password; the token is a setting of its own" };
  }
  if (url.search || url.hash) return { problem: "must not have a query or a fragment" };
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    // G8: the token would cross the network in clear.
    return { problem: "must be https (plain http only for an address on this machine)" };
  }
  const path = url.pathname.replace(/\/+$/, "");
  if (!path.endsWith("/v2")) {
    return { problem: "must end in /v2, the version segment of the service's paths" };
  }
  return url.origin + path;
}
