/**
 * Reads the token from the file that COMPUTE_API_TOKEN_FILE names, when the settings are resolved, and again when the
 * service refuses the token. `configuration.ts` and `session/connection.ts` use it.
 */
import { readFileSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { Redactor } from "../redaction";
import { settingTypes } from "./settings";

/** The environment variable with the path of the file. */
export const tokenFileVariable = "COMPUTE_API_TOKEN_FILE";

/**
 * The maximum size of the file in bytes. All of its content would be hidden in messages, so a longer file is not read.
 */
const maxFileBytes = 16 * 1024;

/** The token in the file, or what is wrong with the file. The problem never shows a token. */
export type TokenFileContent = { token: string } | { problem: string };

/** Returns a problem with the file at `path`, which `problem` describes as a clause. */
export function tokenFileProblem(path: string, problem: string): { problem: string } {
  return { problem: `the file ${path} (${tokenFileVariable}) ${problem}` };
}

/** From now on, removes this token from messages (G8). */
export function hideToken(redactor: Redactor, token: string): void {
  redactor.hide(token);
  // The prefix is left out: it only says which kind of token this is, which is not a secret.
  redactor.hideParts(token.trim().replace(/^sk_[a-z]+_/, ""));
}

/**
 * Reads the token from the file at `path`, without the white space around it. The redactor hides
 * the token before this function returns.
 */
export function readTokenFile(path: string, redactor: Redactor): TokenFileContent {
  if (/sk_(live|test)_/i.test(path)) {
    hideToken(redactor, path);
    return {
      problem: `${tokenFileVariable} holds a token, but must be the path of a file that holds one; set COMPUTE_API_TOKEN to a token`,
    };
  }
  // The engine starts the plugin in the project's folder, and a person types commands in another one, so a relative path
  // would name two files. The message does not repeat the value, since it may be a token without its prefix.
  if (!isAbsolute(path)) return { problem: `${tokenFileVariable} must be an absolute path` };
  const problemWith = (problem: string) => tokenFileProblem(path, problem);
  let content: string;
  try {
    // Only regular files are read, because a pipe might block for ever, and can't be read a second time.
    const stat = statSync(path);
    if (!stat.isFile()) return problemWith("is not a regular file");
    if (stat.size > maxFileBytes) return problemWith("is too long to hold a token");
    content = readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return problemWith("does not exist");
    return problemWith(`can't be read (${code ?? "unknown error"})`);
  }
  const token = content.trim();
  if (token === "") return problemWith("is empty");
  hideToken(redactor, token);
  const parsed = settingTypes.apiToken.safeParse(token);
  if (parsed.success) return { token };
  const reason = parsed.error.issues.map((issue) => issue.message).join("; ");
  return problemWith(`does not hold a usable token: it ${reason}`);
}
