/** Makes text that came over the wire fit for one line of a terminal. */
import { type HttpResponse, header } from "./exchange";

type Clean = (text: string) => string;

/** Enough to be sure of what stays after cleaning, little enough to be quick. */
const mostRead = 16_384;

/** Cleaned before it is cut, since half a secret would not be known for one. */
export function oneLine(text: string, most: number, redact: Clean): string {
  const line = redact(text.slice(0, mostRead).replace(/\s+/g, " ")).trim();
  return (line.length > most ? `${line.slice(0, most - 1)}…` : line).toWellFormed();
}

export function isHtml(answer: HttpResponse): boolean {
  const type = header(answer, "content-type") ?? "";
  return /html/i.test(type) || /^\s*<(!doctype|html|head|body)/i.test(start(answer));
}

/** The beginning of a body, in words; empty for an empty one. */
export function excerpt(answer: HttpResponse, redact: Clean): string {
  if (!isHtml(answer)) return oneLine(start(answer), 200, redact);
  const words = start(answer)
    .replace(/<(script|style)\b[^]*?<\/\1\s*>/gi, " ")
    .replace(/<[^>]*>?/g, " ");
  return `an HTML page: ${oneLine(words, 200, redact)}`;
}

function start(answer: HttpResponse): string {
  return answer.body.subarray(0, mostRead).toString("utf8");
}
