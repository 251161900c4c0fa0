/**
 * A service, or a proxy before it, may repeat a request in an error page. User data is a secret (G8),
 * so what of it comes back is blotted out, however much of it was cut off.
 */
import { blot } from "../../text";
import type { CreateBody } from "../contract";

/** Shorter matches are chance, and show nothing. */
const shortest = 8;

export function hideUserData(body: CreateBody, clean: (text: string) => string) {
  const encoded = body.user_data;
  if (!encoded) return clean;
  const lines = Buffer.from(encoded, "base64")
    .toString("utf8")
    .split(/\r?\n/)
    .map((line) => line.trim().replace(/\s+/g, " "))
    .filter((line) => line.length >= shortest);
  return (text: string): string => {
    let shown = clean(text).replace(/[A-Za-z0-9+/=]{8,}/g, (run) =>
      encoded.includes(run) ? blot : run,
    );
    for (const line of lines) shown = shown.replaceAll(line, blot);
    return shown;
  };
}
