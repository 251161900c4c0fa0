/**
 * Reads the engine's calls to the plugin, and the answers, from the log that the engine writes with PULUMI_DEBUG_GRPC.
 * No values of properties are kept.
 */

/** A call or an answer. The simulation's model of the engine logs the same (recordCalls.ts). */
export interface LogLine {
  process: number;
  event: "call" | "answer";
  call: number;
  method?: string;
  /** The logical name of the resource: the last part of its URN. */
  resource?: string | undefined;
  preview?: boolean | undefined;
  /** Whether the call has an id. "unknown": Pulumi's unknown value, in a preview. */
  idKind?: "known" | "none" | "unknown";
  /** The id of the provider resource, in Configure. */
  scope?: string | undefined;
  /** Whether the call has old inputs, and then old outputs. New inputs are not logged. */
  inputs?: Existence;
  outputs?: Existence;
  /** The id of the session that made the outputs of the call or of the answer: their `__run` (provider/origin.ts). */
  stamp?: string | undefined;
  /** "lost": the engine or the plugin was gone first. "nothing there": a Read found no instance. */
  answer?: "ok" | "failed" | "unfinished" | "nothing there" | "lost";
}

type Existence = "no" | "empty" | "given";

interface Outputs {
  __run?: string;
}

/** An entry of the engine's log: a call, and then the same again with its answer. */
interface Entry {
  method: string;
  metadata: { kind?: string };
  progress: "request_started" | "response_completed";
  request: {
    urn?: string;
    id?: string;
    preview?: boolean;
    inputs?: object;
    oldInputs?: object;
    olds?: Outputs;
    properties?: Outputs;
  };
  response?: { id?: string; failures?: object[]; properties?: Outputs };
  errors?: string[];
}

const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** Reads the engine's log. A Handshake after a Cancel begins the next session. */
export function readCalls(log: string): LogLine[] {
  const lines: LogLine[] = [];
  const calls = new Map<string, number>();
  let count = 0;
  const session = { process: 0, isCanceled: false };
  for (const text of log.split("\n").filter(Boolean)) {
    const entry = JSON.parse(text) as Entry;
    if (entry.metadata.kind !== "resource") continue;
    const method = entry.method.replace("/pulumirpc.ResourceProvider/", "");
    const key = `${method} ${JSON.stringify(entry.request)}`;
    if (entry.progress === "response_completed") {
      const call = calls.get(key) ?? -1;
      const answer = describeAnswer(method, entry);
      lines.push({ process: session.process, event: "answer", call, ...answer });
      continue;
    }
    if (method === "Handshake" && session.isCanceled) {
      session.process++;
      session.isCanceled = false;
    }
    session.isCanceled ||= method === "Cancel";
    const call = ++count;
    calls.set(key, call);
    lines.push({ process: session.process, event: "call", call, ...describeCall(method, entry) });
  }
  return lines;
}

function describeCall(method: string, { request }: Entry): Partial<LogLine> {
  const { urn, id = "", preview, olds, properties } = request;
  const isCheck = method.startsWith("Check");
  const outputs = ["Read", "Delete"].includes(method) ? properties : olds;
  return {
    method,
    resource: urn?.split("::").pop(),
    preview,
    idKind: id === "" ? "none" : id === unknown ? "unknown" : "known",
    scope: method === "Configure" ? id : undefined,
    inputs: presence(isCheck ? olds : method === "Read" ? request.inputs : request.oldInputs),
    outputs: presence(outputs),
    stamp: outputs?.__run,
  };
}

/** The provider fails with the code Unknown if the instance exists, but is unfinished. */
function describeAnswer(
  method: string,
  { errors: [error] = [], response }: Entry,
): Partial<LogLine> {
  const code = /code = (\w+)/.exec(error ?? "")?.[1] ?? "";
  if (["Unavailable", "Canceled"].includes(code)) return { answer: "lost" };
  if (error !== undefined) return { answer: code === "Unknown" ? "unfinished" : "failed" };
  if (method === "Read" && !response?.id) return { answer: "nothing there" };
  const hasFailed = (response?.failures ?? []).length > 0;
  return { answer: hasFailed ? "failed" : "ok", stamp: response?.properties?.__run };
}

function presence(properties: object | undefined): Existence {
  if (!properties) return "no";
  return Object.keys(properties).length === 0 ? "empty" : "given";
}
