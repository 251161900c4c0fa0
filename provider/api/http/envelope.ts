/** The error envelope of the document ("Errors"), read tolerantly. */
import { tolerant } from "../contract";
import type { ServiceError } from "../errors";
import type { HttpResponse } from "./exchange";
import { parseJson } from "./json";
import { oneLine } from "./text";

type Clean = (text: string) => string;

/** Undefined when the body is no envelope. Every field is fit to be shown. */
export function readEnvelope(answer: HttpResponse, redact: Clean): ServiceError | undefined {
  const json = parseJson(answer.body);
  const read = json.ok ? tolerant.error.safeParse(json.value) : undefined;
  if (!read?.success) return undefined;
  const { code, message, doc_url, request_id } = read.data.error;
  return {
    code: shown(code, 100),
    message: shown(message, 1000),
    docUrl: shown(doc_url, 300),
    requestId: shown(request_id, 100),
  };

  function shown(text: string | undefined, most: number): string | undefined {
    return (text && oneLine(text, most, redact)) || undefined;
  }
}
