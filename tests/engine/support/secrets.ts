/** The search for secrets in everything a command prints and leaves on disk (G8). */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Turn up nowhere but at the service: every token and user data in these tests holds one. */
export const canaries = { token: "canarytoken5e1f", userData: "canary-user-data-9b3c" } as const;

const forms = Object.values(canaries).flatMap((canary) => [
  canary,
  canary.toUpperCase(),
  ...base64Forms(canary),
]);

const programs = ["Pulumi.yaml", "index.js"];

/** Throws when `text` holds a canary, as it is or in Base64. */
export function refuseSecrets(where: string, text: string): void {
  for (const secret of forms) {
    const at = text.indexOf(secret);
    if (at >= 0) {
      const around = text.slice(Math.max(0, at - 80), at + 40);
      throw new Error(`G8 broken: ${where} shows a secret: …${around}…`);
    }
  }
}

/** Every file below but programs, which the test wrote. Symbolic links are not followed. */
export function refuseSecretsOnDisk(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || programs.includes(entry.name)) continue;
    const file = join(entry.parentPath, entry.name);
    refuseSecrets(file, readFileSync(file, "latin1"));
  }
}

/** What Base64 makes of a text that stands 0, 1 or 2 bytes after a multiple of three. */
function base64Forms(text: string): string[] {
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.from("-".repeat(offset) + text).toString("base64");
    // Characters at both ends hold bits of what stands beside.
    return encoded.replace(/=+$/, "").slice([0, 2, 3][offset], -1);
  });
}
