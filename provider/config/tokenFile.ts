/**
 * Reads the token from the file that COMPUTE_API_TOKEN_FILE names, when the settings are resolved, and again when the
 * service refuses the token. `configuration.ts` and `session/connection.ts` use it.
 */
import { readFileSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { tokenKindOf } from "../api/serviceConstants";
import type { Redactor } from "../redaction";
import { settingTypes } from "./settings";

/** The environment variable with the path of the file. */
export const tokenFileVariable = "COMPUTE_API_TOKEN_FILE";

/** The token in the file, or what is wrong with the file. The problem never shows a token. */
export type TokenFileContent = { token: string } | { problem: string };

/** From now on, removes this token from messages (G8). */
export function hideToken(redactor: Redactor, token: string): void {
  redactor.hide(token);
  // The prefix is left out: it only says which kind of token this is, which is not a secret.
  redactor.hideParts(token.trim().replace(/^sk_[a-z]+_/, ""));
}

/**
 * Reads the token from the file at `path`, without the white space around it. When this function
 * returns, the redactor hides the token already.
 */
export function readTokenFile(path: string, redactor: Redactor): TokenFileContent {
  if (tokenKindOf(path.trim()) !== undefined) {
    hideToken(redactor, path);
    return {
      problem: `${tokenFileVariable} holds a token, but must be the path of a file that holds one; set COMPUTE_API_TOKEN to a token`,
    };
  }
  const describe = (problem: string) => ({ problem: `${tokenFileVariable} (${path}) ${problem}` });
  // The engine starts the plugin in the project's folder, and a person types commands in another one.
  if (!isAbsolute(path)) return describe("must be an absolute path");
  let content: string;
  try {
    // A pipe might block for ever, and can't be read anew.
    if (!statSync(path).isFile()) return describe("is not a regular file");
    content = readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return describe("does not exist");
    return describe(`can't be read (${code ?? "unknown error"})`);
  }
  const token = content.trim();
  if (token === "") return describe("is empty");
  hideToken(redactor, token);
  const parsed = settingTypes.apiToken.safeParse(token);
  if (parsed.success) return { token };
  const reason = parsed.error.issues.map((issue) => issue.message).join("; ");
  return describe(`does not hold a usable token: it ${reason}`);
}
