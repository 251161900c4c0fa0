/**
 * Reads the engine's calls to the plugin, and the answers, from the log that the engine writes with PULUMI_DEBUG_GRPC.
 * Of properties, only names are kept.
 */
import { unknownTexts } from "../../../../provider/pulumi/names";

/** A call and its answer. The simulation's model of the engine logs the same (recordCalls.ts). */
export interface LoggedCall {
  process: number;
  method: string;
  urn?: string | undefined;
  /** In Configure, the id of the provider resource. "unknown": Pulumi's unknown value, in a preview. */
  id?: string | undefined;
  preview?: boolean | undefined;
  /** Whether the call has old inputs, and then old outputs. Of the new inputs, only some names are logged. */
  inputs?: Existence;
  outputs?: Existence;
  /** The id of the session that made the old outputs: their `__run` (provider/origin.ts). */
  stamp?: string | undefined;
  /** The names of the new inputs that differ from the old ones, and of those that are unknown. */
  changed?: string[];
  unknown?: string[];
  ignoreChanges?: string[] | undefined;
  /** "lost": the engine or the plugin was gone first. "nothing there": a Read found no instance. */
  answer: "ok" | "failed" | "unfinished" | "nothing there" | "lost" | "update" | "replace";
  /** As `stamp`, of the outputs in the answer. */
  answerStamp?: string | undefined;
  /** As `id`, of the answer. */
  answerId?: string | undefined;
  /** Whether it was answered after Cancel. */
  isLate: boolean;
}

type Existence = "no" | "empty" | "given";

type Properties = Record<string, unknown> & { __run?: string };

/**
 * An entry of the engine's log: a call, and then the same again with its answer. Of a stream (List), each message has an entry, without
 * `progress`, and only the first of them has a request.
 */
interface Entry {
  method: string;
  metadata: { kind?: string };
  progress?: "request_started" | "response_completed";
  request?: {
    urn?: string;
    id?: string;
    preview?: boolean;
    ignoreChanges?: string[];
  } & Partial<Record<"inputs" | "oldInputs" | "olds" | "news" | "properties", Properties>>;
  response?: {
    id?: string;
    failures?: object[];
    properties?: Properties;
    changes?: string;
    replaces?: string[];
  };
  errors?: string[];
}

/** Reads the engine's log. A Handshake after a Cancel begins the next session. */
export function readCalls(log: string): LoggedCall[] {
  const calls: LoggedCall[] = [];
  const lastCalls = new Map<string, LoggedCall>();
  let process = 0;
  let isCanceled = false;
  for (const text of log.split("\n").filter(Boolean)) {
    const entry = JSON.parse(text) as Entry;
    if (entry.metadata.kind !== "resource" || !entry.request) continue;
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
      answer: entry.progress === undefined ? "ok" : "lost",
      isLate: false,
    };
    lastCalls.set(key, call);
    calls.push(call);
  }
  return calls;
}

function describeCall(method: string, { request = {} }: Entry): Partial<LoggedCall> {
  const { urn, id = "", preview, olds, properties, ignoreChanges } = request;
  const isCheck = method.startsWith("Check");
  const outputs = ["Read", "Delete"].includes(method) ? properties : olds;
  const inputs = isCheck ? olds : method === "Read" ? request.inputs : request.oldInputs;
  const isAboutInstance = ["Check", "Diff", "Create", "Update"].includes(method);
  const news = (isAboutInstance && (method === "Create" ? properties : request.news)) || {};
  return {
    urn,
    id: unknownTexts.has(id) ? "unknown" : id || undefined,
    preview,
    inputs: presence(inputs),
    outputs: presence(isCheck ? undefined : outputs),
    stamp: outputs?.__run,
    changed: ["Diff", "Update"].includes(method) ? namesOfChanges(inputs ?? {}, news) : [],
    unknown: Object.keys(news).filter((name) => hasUnknown(news[name])),
    ignoreChanges,
  };
}

/** The provider fails with the code Unknown if the instance exists, but is unfinished. */
function describeAnswer(
  method: string,
  { errors: [error] = [], response = {} }: Entry,
): Partial<LoggedCall> {
  const code = /code = (\w+)/.exec(error ?? "")?.[1] ?? "";
  if (["Unavailable", "Canceled"].includes(code)) return { answer: "lost" };
  if (error !== undefined) return { answer: code === "Unknown" ? "unfinished" : "failed" };
  const { id, failures = [], properties, changes, replaces = [] } = response;
  if (method === "Read" && !id) return { answer: "nothing there" };
  if (failures.length > 0) return { answer: "failed" };
  const difference = replaces.length > 0 ? "replace" : "update";
  const isDifferent = method === "Diff" && changes === "DIFF_SOME";
  return {
    answer: isDifferent ? difference : "ok",
    answerStamp: properties?.__run,
    answerId: id,
  };
}

function presence(properties: object | undefined): Existence {
  if (!properties) return "no";
  return Object.keys(properties).length === 0 ? "empty" : "given";
}

function namesOfChanges(olds: Properties, news: Properties): string[] {
  const isChanged = (name: string) => JSON.stringify(olds[name]) !== JSON.stringify(news[name]);
  return [...new Set([...Object.keys(olds), ...Object.keys(news)])].filter(isChanged).sort();
}

const hasUnknown = (value: unknown) =>
  [...unknownTexts].some((text) => JSON.stringify(value).includes(text));
