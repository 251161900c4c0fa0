/** Records the calls of the model of the engine in the format of those of the real engine (recordedCalls/). */
import { InstanceUnfinished } from "../../provider/errors";
import type { PropertyMap } from "../../provider/propertyValue";
import type { Scope } from "../../provider/requests";
import { stampOf } from "../../provider/origin";
import type { LogLine } from "../engine/support/recordedCalls/callLog";
import type { Calls } from "./engine";

type Old = PropertyMap | undefined;
/** What a call has. A Check has `olds`, a Read `inputs` and `outputs`, and others have `oldInputs` and `oldOutputs`. */
type Request = { urn?: string; scope?: Scope; preview?: boolean } & Partial<
  Record<"olds" | "inputs" | "outputs" | "oldInputs" | "oldOutputs", Old>
>;

const methods = ["configure", "check", "diff", "create", "update", "read", "delete"] as const;

/** Each call writes one line to the log when it begins, and another when it ends. */
export function recorded(calls: Calls, process: number, log: LogLine[]): Calls {
  let count = 0;
  const begin = (method: string, request: Request = {}) => {
    const call = ++count;
    const name = `${method.charAt(0).toUpperCase()}${method.slice(1)}`;
    log.push({ process, event: "call", call, method: name, ...describe(request) });
    return (answer: LogLine["answer"], outputs?: Old) =>
      log.push({ process, event: "answer", call, answer: answer ?? "ok", stamp: stampOf(outputs) });
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
  const cancel: Calls["cancel"] = (...how) => {
    begin("cancel")("ok");
    calls.cancel(...how);
  };
  return { ...(Object.fromEntries(logged) as Calls), cancel };
}

function describe(request: Request): Partial<LogLine> {
  const { urn, scope, preview, olds, oldInputs = olds ?? request.inputs } = request;
  const { oldOutputs = request.outputs } = request;
  return {
    resource: urn?.split("::").at(-1),
    preview,
    idKind: scope?.kind ?? "known",
    scope: scope?.kind === "known" ? scope.id : undefined,
    inputs: presence(oldInputs),
    outputs: presence(oldOutputs),
    stamp: stampOf(oldOutputs),
  };
}

function presence(map: Old): NonNullable<LogLine["inputs"]> {
  if (!map) return "no";
  return Object.keys(map).length === 0 ? "empty" : "given";
}
