/** Records the calls of the model of the engine in the format of those of the real engine (recordedCalls/). */
import { InstanceUnfinished } from "../../provider/errors";
import { Instance } from "../../provider/instance/instance";
import { propertyMap, type PropertyMap } from "../../provider/pulumi/propertyValue";
import type { LoggedCall } from "../engine/support/recordedCalls/callLog";
import type { Calls } from "./engine";

type Old = PropertyMap | undefined;
/** What a call has. A Check has `olds`, a Read `inputs` and `outputs`, and others have `oldInputs` and `oldOutputs`. */
type Request = { urn?: string; scope?: string | undefined; preview?: boolean } & Partial<
  Record<"olds" | "inputs" | "outputs" | "oldInputs" | "oldOutputs", Old>
>;

const methods = ["configure", "check", "diff", "create", "update", "read", "delete"] as const;

/** Each call is added to the log when it begins, and gets its answer there when it ends. */
export function recorded(calls: Calls, process: number, log: LoggedCall[]): Calls {
  let isCanceled = false;
  const begin = (method: string, request: Request = {}) => {
    const name = `${method.charAt(0).toUpperCase()}${method.slice(1)}`;
    const described = { process, method: name, ...describe(request) };
    const call: LoggedCall = { ...described, answer: "lost", isLate: false };
    log.push(call);
    return (answer: LoggedCall["answer"], outputs?: Old) =>
      Object.assign(call, { answer, answerStamp: stampOf(outputs), isLate: isCanceled });
  };
  const logged = methods.map((method) => [
    method,
    async (request: Request) => {
      const end = begin(method, request);
      try {
        const reply = await (calls[method] as (request: Request) => Promise<unknown>)(request);
        const { outputs } = (reply ?? {}) as { outputs?: Old };
        end(method === "read" && !reply ? "nothing there" : "ok", outputs);
        return reply;
      } catch (error) {
        if (error instanceof InstanceUnfinished) end("unfinished", error.state.outputs);
        else end("failed");
        throw error;
      }
    },
  ]);
  const cancel: Calls["cancel"] = (reason) => {
    isCanceled = true;
    begin("cancel")("ok");
    calls.cancel(reason);
  };
  return { ...(Object.fromEntries(logged) as Calls), cancel };
}

function describe(request: Request): Partial<LoggedCall> {
  const { urn, scope, preview, olds, oldInputs = olds ?? request.inputs } = request;
  const { oldOutputs = request.outputs } = request;
  return {
    urn,
    preview,
    id: "scope" in request ? (scope ?? "unknown") : "known",
    inputs: presence(oldInputs),
    outputs: presence(oldOutputs),
    stamp: stampOf(oldOutputs),
  };
}

function stampOf(outputs: Old = propertyMap({})): string | undefined {
  return new Instance({ urn: "", id: "", inputs: propertyMap({}), outputs }).stamp;
}

function presence(map: Old): NonNullable<LoggedCall["inputs"]> {
  if (!map) return "no";
  return Object.keys(map).length === 0 ? "empty" : "given";
}
