/** What a POST that failed says of whether an instance was made (G2). */
import type { RequestError } from "../../api/errors";

/** No connection at all, or one of the refusals that the document gives ("Errors"). */
export function surelyNotMade({ kind, status = 0 }: RequestError): boolean {
  return kind === "unreachable" || (kind === "answered" && [400, 401, 403, 429].includes(status));
}

/**
 * A refusal in HTTP's terms that the document does not give: 404, 409, 422 and the like. It leaves
 * the outcome open too (G2), since a gateway may have said it of a repeat of its own; but it is believed
 * once a complete listing, a poll interval later, still shows no instance.
 */
export function callsItOurFault({ kind, status = 0 }: RequestError): boolean {
  return kind === "answered" && status >= 400 && status < 500 && status !== 408;
}

/** An answered 500, 502 or 503: the one case in which a POST may be made again (G2). */
export function answeredBroken(failure: RequestError): boolean {
  return failure.kind === "answered" && [500, 502, 503].includes(failure.status ?? 0);
}
