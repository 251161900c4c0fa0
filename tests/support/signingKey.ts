/** Keys of a test, which sign what it serves. */
import { mkdirSync } from "node:fs";
import { captured } from "../../tools/support/command";

/** Makes a key in a home of its own. Returns how gpg is called there. */
export async function signingKey(home: string, name: string, passphrase = "") {
  mkdirSync(home, { mode: 0o700 });
  const options = ["--homedir", home, "--batch", "--quiet", "--pinentry-mode=loopback"];
  const gpg = (...args: string[]) =>
    captured("gpg", [...options, `--passphrase=${passphrase}`, ...args]);
  await gpg("--quick-generate-key", name, "ed25519", "sign", "never");
  return gpg;
}
