/**
 * Reads the engine's calls to the plugin, and the answers, from the log that the engine writes with PULUMI_DEBUG_GRPC.
 * No values of properties are kept.
 */

/** A call and its answer. The simulation's model of the engine logs the same (recordCalls.ts). */
export interface LoggedCall {
  process: number;
  method: string;
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
  /** The id of the session that made the outputs of the call: their `__run` (provider/origin.ts). */
  stamp?: string | undefined;
  /** "lost": the engine or the plugin was gone first. "nothing there": a Read found no instance. */
  answer: "ok" | "failed" | "unfinished" | "nothing there" | "lost";
  /** As `stamp`, of the outputs in the answer. */
  answerStamp?: string | undefined;
  /** Whether it was answered after Cancel. */
  isLate: boolean;
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
export function readCalls(log: string): LoggedCall[] {
  const calls: LoggedCall[] = [];
  const lastCalls = new Map<string, LoggedCall>();
  let process = 0;
  let isCanceled = false;
  for (const text of log.split("\n").filter(Boolean)) {
    const entry = JSON.parse(text) as Entry;
    if (entry.metadata.kind !== "resource") continue;
    const method = entry.method.replace("/pulumirpc.ResourceProvider/", "");
    const key = `${method} ${JSON.stringify(entry.request)}`;
    if (entry.progress === "response_completed") {
      const call = lastCalls.get(key);
      if (call?.process === process)
        Object.assign(call, describeAnswer(method, entry), { isLate: isCanceled });
      continue;
    }
    if (method === "Handshake" && isCanceled) {
      process++;
      isCanceled = false;
    }
    isCanceled ||= method === "Cancel";
    const call: LoggedCall = {
      process,
      method,
      ...describeCall(method, entry),
      answer: "lost",
      isLate: false,
    };
    lastCalls.set(key, call);
    calls.push(call);
  }
  return calls;
}

function describeCall(method: string, { request }: Entry): Partial<LoggedCall> {
  const { urn, id = "", preview, olds, properties } = request;
  const isCheck = method.startsWith("Check");
  const outputs = ["Read", "Delete"].includes(method) ? properties : olds;
  return {
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
): Partial<LoggedCall> {
  const code = /code = (\w+)/.exec(error ?? "")?.[1] ?? "";
  if (["Unavailable", "Canceled"].includes(code)) return { answer: "lost" };
  if (error !== undefined) return { answer: code === "Unknown" ? "unfinished" : "failed" };
  if (method === "Read" && !response?.id) return { answer: "nothing there" };
  const hasFailed = (response?.failures ?? []).length > 0;
  return { answer: hasFailed ? "failed" : "ok", answerStamp: response?.properties?.__run };
}

function presence(properties: object | undefined): Existence {
  if (!properties) return "no";
  return Object.keys(properties).length === 0 ? "empty" : "given";
}
