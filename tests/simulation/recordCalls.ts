/** Records the calls of the model of the engine in the format of those of the real engine (recordedCalls/). */
import { InstanceUnfinished } from "../../provider/errors";
import type { PropertyMap } from "../../provider/propertyValue";
import type { ReadResponse } from "../../provider/requests";
import { stampOf } from "../../provider/origin";
import type { LogLine } from "../engine/support/recordedCalls/callLog";
import type { Calls } from "./engine";

/** Each call writes one line to the log when it begins, and another when it ends. */
export function recorded(calls: Calls, process: number, log: LogLine[]): Calls {
  let count = 0;
  const begin = (line: Partial<LogLine>) => {
    const call = ++count;
    log.push({ process, event: "call", call, ...line });
    return (answer: LogLine["answer"], outputs?: PropertyMap) =>
      log.push({ process, event: "answer", call, answer: answer ?? "ok", ...stampIn(outputs) });
  };
  async function logged<T>(
    line: Partial<LogLine>,
    call: () => Promise<T>,
    outputsOf: (value: T) => PropertyMap | undefined = () => undefined,
  ): Promise<T> {
    const end = begin(line);
    try {
      const value = await call();
      end(value === undefined && line.method === "Read" ? "nothing there" : "ok", outputsOf(value));
      return value;
    } catch (error) {
      if (error instanceof InstanceUnfinished) end("unfinished", error.state.outputs);
      else end("failed");
      throw error;
    }
  }
  return {
    configure(request) {
      const scope = request.scope ?? "";
      const idKind = scope === "" ? "unknown" : "known";
      return logged({ method: "Configure", idKind, scope }, () => calls.configure(request));
    },
    check: (request) =>
      logged(
        { method: "Check", resource: nameOf(request.urn), inputs: presence(request.olds) },
        () => calls.check(request),
      ),
    diff: (request) =>
      logged({ method: "Diff", ...describeOld(request) }, () => calls.diff(request)),
    create: (request) =>
      logged(
        { method: "Create", resource: nameOf(request.urn), preview: request.preview },
        () => calls.create(request),
        ({ outputs }) => outputs,
      ),
    update: (request) =>
      logged({ method: "Update", ...describeOld(request), preview: request.preview }, () =>
        calls.update(request),
      ),
    read(request) {
      const { urn, inputs: oldInputs, outputs: oldOutputs } = request;
      return logged(
        { method: "Read", ...describeOld({ urn, oldInputs, oldOutputs }) },
        () => calls.read(request),
        (reply: ReadResponse) => reply?.outputs,
      );
    },
    delete: (request) =>
      logged({ method: "Delete", ...describeOld(request) }, () => calls.delete(request)),
    cancel(...how) {
      begin({ method: "Cancel" })("ok");
      calls.cancel(...how);
    },
  };
}

interface Existing {
  urn: string;
  oldInputs: PropertyMap | undefined;
  oldOutputs: PropertyMap | undefined;
}

function describeOld({ urn, oldInputs, oldOutputs }: Existing): Partial<LogLine> {
  return {
    ...{ resource: nameOf(urn), idKind: "known", ...stampIn(oldOutputs) },
    ...{ inputs: presence(oldInputs), outputs: presence(oldOutputs) },
  };
}

function nameOf(urn: string): string {
  return urn.split("::").at(-1) ?? "";
}

function presence(map: PropertyMap | undefined): NonNullable<LogLine["inputs"]> {
  if (!map) return "no";
  return Object.keys(map).length === 0 ? "empty" : "given";
}

function stampIn(outputs: PropertyMap | undefined): { stamp?: string } {
  const stamp = stampOf(outputs);
  return stamp === undefined ? {} : { stamp };
}
