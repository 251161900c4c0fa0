/**
 * What goes back to a caller. Handlers return an `Answer` or throw a `ServiceError`; one place turns
 * the latter into the error envelope, and checks every answer against the strict wire contract.
 */
import type * as z from "zod";
import { errorForm } from "./strict";

export interface Answer {
  status: number;
  headers?: Readonly<Record<string, string>>;
  /** A JSON value, or text that is sent as it stands (`undefined`: no body at all). */
  json?: unknown;
  text?: string;
  contentType?: string;
  /** The strict form that `json` has to have; absent where the document shows none. */
  form?: z.ZodType;
}

export function jsonAnswer(status: number, json: unknown, form?: z.ZodType): Answer {
  return form === undefined ? { status, json } : { status, json, form };
}

/** The exact text of the body, also what cuts and drips work on. */
export function bodyText(answer: Answer): string {
  return answer.text ?? (answer.json === undefined ? "" : JSON.stringify(answer.json));
}

/**
 * An error that the caller gets to see. "The only `code` value that is shown is `invalid_parameter`",
 * so the other codes, and the statuses that "Errors" does not have, are the emulator's own.
 */
export class ServiceError extends Error {
  override name = "ServiceError";
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

export const invalidParameter = (message: string) =>
  new ServiceError(400, "invalid_parameter", message);
export const unauthorized = (code: string, message: string) =>
  new ServiceError(401, code, message, { "WWW-Authenticate": "Bearer" });
export const forbidden = (message: string) => new ServiceError(403, "missing_scope", message);
export const notFound = (message: string) => new ServiceError(404, "not_found", message);
export const methodNotAllowed = (method: string, path: string, allowed: readonly string[]) =>
  new ServiceError(405, "method_not_allowed", `${method} is not possible on ${path}.`, {
    Allow: allowed.join(", "),
  });
export const tooLarge = (limitBytes: number) =>
  new ServiceError(413, "body_too_large", `The body is larger than ${String(limitBytes)} bytes.`);
export const rateLimited = () =>
  new ServiceError(429, "rate_limit_exceeded", "The rate limit has been exceeded.");

/** The `{docs_url}` of the document's errors. */
const docsUrl = "https://docs.compute.example";

export function envelope(
  error: { status: number; code: string; message: string; headers?: Answer["headers"] },
  requestId: string,
): Answer {
  const { code, message } = error;
  return {
    status: error.status,
    headers: error.headers ?? {},
    json: {
      error: {
        code,
        message,
        doc_url: `${docsUrl}/errors#${code}`,
        request_id: requestId,
      },
    },
    form: errorForm,
  };
}

/** Why an answer breaks the contract, or undefined. */
export function contractBreach(answer: Answer): string | undefined {
  const result = answer.form?.safeParse(answer.json);
  if (result === undefined || result.success) return undefined;
  return result.error.issues
    .map((issue) => `${issue.path.join(".") || "body"}: ${issue.message}`)
    .join("; ");
}
