/**
 * The control API over HTTP, for an emulator that runs as a process of its own (`--control`). JSON in,
 * JSON out; not part of the service, neither logged nor counted, open to this machine only.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import * as z from "zod";
import { tokenPrefixes, type TokenKind } from "../../provider/api/contract";
import type { FaultScript } from "../faults/kinds";
import type { FaultHandle } from "../faults/script";
import { jsonAnswer, type Answer } from "../http/answers";
import { decoded, parseTarget, readBody } from "../http/request";
import { send } from "../http/send";
import { OptionError } from "../options";
import { scopes } from "../tokens";
import type { Control } from "./control";

const prefix = "/control/";
export const isControlPath = (url: string | undefined) => url?.startsWith(prefix) === true;

const inserted = z.strictObject({
  name: z.string(),
  id: z.string().min(1).exactOptional(),
  tenant: z.string().exactOptional(),
  tokenKind: z.enum(Object.keys(tokenPrefixes) as TokenKind[]).exactOptional(),
  status: z.string().exactOptional(),
});
const change = z.strictObject({ name: z.string().optional(), status: z.string().optional() });
const token = z.strictObject({
  token: z.string(),
  state: z.enum(["valid", "revoked", "expired"]).optional(),
  expiresAt: z.number().optional(),
  scopes: z.array(z.enum(scopes)).optional(),
  tenant: z.string().optional(),
});
const accountBody = z.union([
  z.strictObject({ json: z.unknown() }),
  z.strictObject({ text: z.string(), contentType: z.string().exactOptional() }),
  z.null(),
]);

export async function controlRoute(
  control: Control,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let answer: Answer;
  try {
    answer = isLocal(message)
      ? perform(control, message, await readJson(message))
      : problem(403, "control is open to this machine only");
  } catch (error) {
    if (error instanceof z.ZodError) answer = problem(400, z.prettifyError(error));
    else if (error instanceof OptionError) answer = problem(400, error.message);
    else throw error;
  }
  send(response, answer);
}

/** A browser's page on this machine is not welcome either: it sends its origin. */
function isLocal({ socket, headers }: IncomingMessage): boolean {
  const from = socket.remoteAddress ?? "";
  return /^(127\.|::1$|::ffff:127\.)/.test(from) && headers.origin === undefined;
}

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

function perform(control: Control, { method, url }: IncomingMessage, body: unknown): Answer {
  const [what = "", id, action] = parseTarget(url ?? "")
    .path.slice(prefix.length)
    .split("/")
    .map((part) => decoded(part) ?? part);
  const of = id === undefined ? "" : action === undefined ? "/{id}" : `/{id}/${action}`;
  const done = jsonAnswer(200, {});
  const found = (yes: boolean) => (yes ? done : problem(404, `there is no ${what} ${id ?? ""}`));
  switch (`${method ?? ""} ${what}${of}`) {
    case "GET instances":
      return jsonAnswer(200, control.instances());
    case "POST instances":
      return jsonAnswer(200, control.insert(inserted.parse(body)));
    case "DELETE instances/{id}":
      return found(control.remove(id ?? ""));
    case "PATCH instances/{id}":
      return found(alter(control, id ?? "", change.parse(body)));
    case "POST settle":
      control.settle();
      return done;
    case "GET requests":
      return jsonAnswer(200, control.requests());
    case "DELETE requests":
      control.forgetRequests();
      return done;
    case "GET counts":
      return jsonAnswer(200, control.counts());
    case "GET faults":
      return jsonAnswer(200, control.faults().map(seen));
    case "POST faults":
      // `fault` itself checks what it is given.
      return jsonAnswer(200, seen(control.fault(body as FaultScript)));
    case "DELETE faults":
      control.clearFaults();
      return done;
    case "DELETE faults/{id}":
      return found(withFault(control, id, (fault) => fault.remove()));
    case "POST faults/{id}/release":
      return found(withFault(control, id, (fault) => fault.release()));
    case "POST tokens": {
      const { token: text, ...declaration } = token.parse(body);
      control.declareToken(text, declaration);
      return done;
    }
    case "PUT account":
      control.setAccount(accountBody.parse(body) ?? undefined);
      return done;
    default:
      return problem(404, `control has no ${method ?? ""} ${what}${of}`);
  }
}

function alter(control: Control, id: string, { name, status }: z.output<typeof change>): boolean {
  if (control.instance(id) === undefined) return false;
  if (name !== undefined) control.rename(id, name);
  if (status !== undefined) control.setStatus(id, status);
  return true;
}

function withFault(
  control: Control,
  id: string | undefined,
  use: (fault: FaultHandle) => void,
): boolean {
  const fault = control.scripted(Number(id));
  if (fault !== undefined) use(fault);
  return fault !== undefined;
}

function seen({ id, kind, hits }: FaultHandle) {
  return { id, kind, hits };
}

function problem(status: number, message: string): Answer {
  return jsonAnswer(status, { message });
}
