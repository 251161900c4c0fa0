/** Reads the token from the file of COMPUTE_API_TOKEN_FILE, first at the start, and again when it is refused. */
import { readFileSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { outputTextProblem } from "../pulumi/outputText";
import type { Redactor } from "../redaction";
import { isTokenPrefix, schemeBefore, settingTypes } from "./settings";

/** The environment variable with the path of the file. */
export const tokenFileVariable = "COMPUTE_API_TOKEN_FILE";

/** A longer file is no token, and to hide it would hide too much of the messages. */
const maxFileBytes = 16 * 1024;

/** The token, or what is wrong with the file. The problem never shows a token. */
export type TokenFileContent = { token: string } | { problem: string };

/** `problem` is a clause about the file. */
export function tokenFileProblem(path: string, problem: string): { problem: string } {
  return { problem: `the file ${path} (${tokenFileVariable}) ${problem}` };
}

/**
 * Hides the token in messages from now on (G8). A token that ends after its prefix has nothing to hide. The text of an Output is
 * not hidden either, because the message about it has the same words.
 */
export function hideToken(redactor: Redactor, token: string): void {
  if (isTokenPrefix(token.trim()) || outputTextProblem(token) !== undefined) return;
  redactor.hide(token);
  redactor.hide(token.replace(schemeBefore, ""));
  // The prefix says only the token kind, so messages show it.
  for (const part of token.trim().split(/\bsk_[a-z]+_/i)) redactor.hideParts(part);
}

/** Reads the token, without the white space around it, and hides it in messages. */
export function readTokenFile(path: string, redactor: Redactor): TokenFileContent {
  // The plugin runs in the project's folder, and a person types commands in any other. The message does not repeat the value,
  // since it may be a token.
  if (!isAbsolute(path))
    return {
      problem: `${tokenFileVariable} must be the absolute path of a file that holds the token; the token itself belongs in COMPUTE_API_TOKEN`,
    };
  const problemWith = (problem: string) => tokenFileProblem(path, problem);
  let token: string;
  try {
    // A pipe might block for ever, and can't be read a second time.
    const stat = statSync(path);
    if (!stat.isFile()) return problemWith("is not a regular file");
    if (stat.size > maxFileBytes) return problemWith("is too long to hold a token");
    token = readFileSync(path, "utf8").trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return problemWith("does not exist");
    return problemWith(`can't be read (${code ?? "unknown error"})`);
  }
  if (token === "") return problemWith("is empty");
  hideToken(redactor, token);
  const parsed = settingTypes.apiToken.safeParse(token);
  if (parsed.success) return { token };
  const reason = parsed.error.issues.map((issue) => issue.message).join("; ");
  return problemWith(`does not hold a usable token: it ${reason}`);
}
