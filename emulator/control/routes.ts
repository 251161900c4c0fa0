/**
 * The control API over HTTP (docs/testing.md), and the page at `/` that uses it. Only programs on this machine and the page
 * may call it. Its requests are not part of the service, so they are neither logged nor counted.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import * as z from "zod";
import { tokenPrefixes, type TokenKind } from "../../provider/api/serviceConstants";
import type { FaultScript } from "../faults/kinds";
import type { FaultHandle } from "../faults/script";
import { decodeSegment, parseTarget, readBody } from "../http/request";
import { sendResponse, type ServiceResponse } from "../http/response";
import { OptionError } from "../options";
import { sendOverviews } from "../page/events";
import { pageResponse } from "../page/page";
import type { Control } from "./control";

const prefix = "/control/";

/** Whether a URL belongs to the page or the control API. */
export function isControlPath(url = ""): boolean {
  return url.startsWith(prefix) || parseTarget(url).path === "/";
}

const insertedInstance = z.strictObject({
  name: z.string(),
  id: z.string().min(1).exactOptional(),
  tenant: z.string().exactOptional(),
  tokenKind: z.enum(Object.keys(tokenPrefixes) as TokenKind[]).exactOptional(),
  status: z.string().exactOptional(),
});
const instanceChange = z.strictObject({
  name: z.string().optional(),
  status: z.string().optional(),
});

/** Answers a request for the control API or the page. */
export async function handleControlRequest(
  control: Control,
  message: IncomingMessage,
  socket: ServerResponse,
): Promise<void> {
  let response: ServiceResponse;
  try {
    const refusal = refusalOf(message);
    if (refusal !== undefined) response = failed(403, refusal);
    else if (isFor(message, "GET", `${prefix}events`))
      return await sendOverviews(() => control.overview(), socket);
    else if (isFor(message, "GET", "/")) response = pageResponse();
    else response = callControl(control, message, await readJson(message));
  } catch (error) {
    if (error instanceof z.ZodError) response = failed(400, z.prettifyError(error));
    else if (error instanceof OptionError) response = failed(400, error.message);
    else throw error;
  }
  sendResponse(socket, response);
}

function isFor({ method, url = "" }: IncomingMessage, wantedMethod: string, path: string): boolean {
  return method === wantedMethod && parseTarget(url).path === path;
}

/**
 * Says why a request is refused, unless it is from a program on this machine or the emulator's page. The requests of other
 * pages have a foreign Origin or, if the owner of a domain has pointed it at this machine (DNS rebinding), a foreign Host.
 */
function refusalOf({ socket, headers }: IncomingMessage): string | undefined {
  const { host = "", origin } = headers;
  if (!/^(127\.|::1$|::ffff:127\.)/.test(socket.remoteAddress ?? ""))
    return "the page and the control API are open to this machine only";
  if (!/^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host))
    return "the page and the control API are open at localhost, 127.0.0.1 and [::1] only";
  if (origin !== undefined && origin !== `http://${host.toLowerCase()}`)
    return "other web pages may not use the control API";
  return undefined;
}

/** @throws {OptionError} for a body that is too large or not JSON */
async function readJson(message: IncomingMessage): Promise<unknown> {
  const body = await readBody(message);
  if (body === undefined) throw new OptionError("the body is too large");
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    throw new OptionError("the body is not JSON");
  }
}

function callControl(
  control: Control,
  { method = "", url = "" }: IncomingMessage,
  body: unknown,
): ServiceResponse {
  const segments = parseTarget(url).path.slice(prefix.length).split("/");
  const [name = "", id, ...rest] = segments.map((segment) => decodeSegment(segment) ?? segment);
  const route = `${method} ${[name, ...(id === undefined ? [] : ["{id}"]), ...rest].join("/")}`;
  const found = (isFound: boolean) =>
    isFound ? succeeded() : failed(404, `there is no ${name} ${id ?? ""}`);
  const fault = control.faults().find((fault) => fault.id === Number(id));
  switch (route) {
    case "GET instances":
      return succeeded(control.instances());
    case "POST instances":
      return succeeded(control.insert(insertedInstance.parse(body)));
    case "DELETE instances/{id}":
      return found(control.remove(id ?? ""));
    case "PATCH instances/{id}": {
      const change = instanceChange.parse(body);
      const isFound = control.has(id ?? "");
      if (change.name !== undefined) control.rename(id ?? "", change.name);
      if (change.status !== undefined) control.setStatus(id ?? "", change.status);
      return found(isFound);
    }
    case "POST finish-provisioning":
      control.finishProvisioning();
      return succeeded();
    case "GET requests":
      return succeeded(control.requests());
    case "DELETE requests":
      control.forgetRequests();
      return succeeded();
    case "GET faults":
      return succeeded(control.faults().map(describeFault));
    case "POST faults":
      return succeeded(describeFault(control.fault(body as FaultScript)));
    case "DELETE faults":
      control.clearFaults();
      return succeeded();
    case "DELETE faults/{id}":
      fault?.remove();
      return found(fault !== undefined);
    default:
      return failed(404, `the control API has no ${route}`);
  }
}

function describeFault({ id, kind, hits }: FaultHandle) {
  return { id, kind, hits };
}

function succeeded(json: unknown = {}): ServiceResponse {
  return { status: 200, json };
}

function failed(status: number, message: string): ServiceResponse {
  return { status, json: { message } };
}
