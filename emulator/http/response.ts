/**
 * The responses of the emulated service. Endpoints return a `ServiceResponse` or throw a `ServiceError`, and
 * emulatedService.ts checks each response against its schema. Quoted phrases are from the service's document.
 */
import type { ServerResponse } from "node:http";
import * as z from "zod";
import { instanceStatuses, pageLimit, requestIdPrefix } from "../../provider/api/serviceConstants";

/** A response before it is sent. */
export interface ServiceResponse {
  status: number;
  headers?: Readonly<Record<string, string>> | undefined;
  /** A response without `json` and `text` has no body. */
  json?: unknown;
  /** Sent unchanged. */
  text?: string;
  /** The default is `application/json`. */
  contentType?: string | undefined;
  /** What `json` must match, if the document shows it. */
  schema?: z.ZodType;
  /** False if a fault answers in place of the service, which then neither does nor refuses what the request asks for. */
  acted?: false;
}

/** An item of "GET /v2/instances". In this schema and the next ones, a field that the document does not show is an error. */
const itemSchema = z.strictObject({
  id: z.string().min(1),
  name: z.string(),
  status: z.enum(instanceStatuses),
  ipv4_public: z.ipv4(),
});
/** An item of a listing. The status is a documented one, or any string that a fault or the control API has set. */
export type ListedInstance = Omit<z.infer<typeof itemSchema>, "status"> & { status: string };

/** The body of "GET /v2/instances". */
export const listSchema = z.strictObject({
  object: z.literal("list"),
  data: z.array(itemSchema).max(pageLimit.max),
  has_more: z.boolean(),
});

/** The body of the 202 to "POST /v2/instances". */
export const acceptedSchema = z.strictObject({
  id: z.string().min(1),
  name: z.string(),
  status: z.literal("PROVISIONING"),
  created_at: z.iso.datetime(),
  networks: z.array(
    z.strictObject({
      type: z.string(),
      ipv4: z.ipv4(),
      mac_address: z
        .string()
        .regex(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i)
        .optional(),
    }),
  ),
});
/** The body of the 202. */
export type AcceptedBody = z.infer<typeof acceptedSchema>;

const errorSchema = z.strictObject({
  error: z.strictObject({
    code: z.string().min(1),
    message: z.string().min(1),
    doc_url: z.string().regex(/\/errors#.+$/),
    request_id: z.string().startsWith(requestIdPrefix),
  }),
});

/**
 * An error that the caller sees. "The only `code` value that is shown is `invalid_parameter`", so the other codes are
 * invented, as are the statuses that section "Errors" does not list.
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

/** The 400 of section "Errors". */
export function invalidParameter(message: string): ServiceError {
  return new ServiceError(400, "invalid_parameter", message);
}

/** A response with the "Error envelope". */
export function errorResponse(
  { status, code, message, headers }: ServiceError,
  requestId: string,
): ServiceResponse {
  const doc_url = `https://docs.compute.example/errors#${code}`;
  const json = { error: { code, message, doc_url, request_id: requestId } };
  return { status, headers, json, schema: errorSchema };
}

/** The body as it is sent, or "" if there is none. */
export function bodyText({ text, json }: ServiceResponse): string {
  return text ?? (json === undefined ? "" : JSON.stringify(json));
}

/** The headers of a response, to which Node's server adds some more. */
export function headersOf(response: ServiceResponse, bodyBytes: number): Record<string, string> {
  const hasBody = response.text !== undefined || response.json !== undefined;
  return {
    ...response.headers,
    ...(hasBody && { "Content-Type": response.contentType ?? "application/json" }),
    ...(response.status !== 204 && { "Content-Length": String(bodyBytes) }),
  };
}

/** Sends a response, and returns the status. */
export function sendResponse(out: ServerResponse, response: ServiceResponse): number {
  const text = bodyText(response);
  out.writeHead(response.status, headersOf(response, Buffer.byteLength(text)));
  out.end(text);
  return response.status;
}
