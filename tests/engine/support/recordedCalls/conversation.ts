/**
 * Conversations: the calls of the real engine in one command, in order, with what a provider can see of each call. The files
 * in provider/testing/conversations have one each. They are recorded by tests/engine/recordedCalls.test.ts.
 */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { root } from "../../../../tools/support/paths";
import { isBefore } from "../stack";
import type { LoggedCall } from "./callLog";

export interface Conversation {
  /** The version of the engine. */
  engine: string;
  /** What was done: a command, and what happened meanwhile. */
  command: string;
  calls: Call[];
}

/** A call. What is the usual case is left out: a call of an `up` that succeeds in time, without unknown values. */
export interface Call {
  /** 1, 2 …: `pulumi up` has a process for its preview, and another one for the update. */
  process: number;
  call: string;
  urn?: string | undefined;
  /** i-1, i-2 …, or "unknown". In Configure "new scope", "earlier scope" or "unknown". Undefined if the call has none. */
  id?: string | undefined;
  preview?: boolean | undefined;
  /** `olds` of a Check, `inputs` of a Read, and `oldInputs` of others. Undefined if they are not sent. */
  oldInputs?: "empty" | "given" | undefined;
  /** `properties` of a Read or Delete, and `olds` of others. Who made them is known by their stamp. */
  oldOutputs?: "empty" | "unstamped" | "this session" | "another session" | undefined;
  /** The names of the new inputs that are unknown. */
  unknown?: string[] | undefined;
  /** The names of the new inputs that differ from `oldInputs`. */
  changed?: string[] | undefined;
  ignoreChanges?: string[] | undefined;
  /** Undefined for a success, and for a Diff that finds no difference. */
  answer?: Exclude<LoggedCall["answer"], "ok"> | undefined;
  /** Whether a Create, Update, Delete or Read is answered after Cancel. */
  late?: boolean | undefined;
  /** What the call is about. A person has to write it, and to check it in the engine's source. */
  is?: string | undefined;
}

/** Calls that are left out, because every engine and language host makes them in any operation. */
const ignored = ["Handshake", "GetPluginInfo", "GetSchema", "/grpc.health.v1.Health/Check"];

/** A session with no other calls is left out. The engine may send its Cancel before its Configure, or meanwhile. */
const racing = ["Configure", "Cancel"];

/** The calls for which it counts whether Cancel came first. */
const changing = ["Create", "Update", "Delete", "Read"];

/** The calls that are about different things, and so have an `is`. */
const ambiguous = ["Configure", "Check", "Diff", "Read", "Create", "Update", "Delete"];

/** Returns the calls as a conversation has them. `before` has the calls of earlier commands on the same stack. */
export function conversationOf(
  logged: readonly LoggedCall[],
  before: readonly LoggedCall[] = [],
): Call[] {
  const told = logged.filter(({ method }) => !ignored.includes(method));
  const sessions = Object.values(Object.groupBy(told, ({ process }) => process))
    .map((calls = []) => calls)
    .filter((calls) => calls.some(({ method }) => !racing.includes(method)));
  const ids = namesOfIds(told);
  const earlier = [...before];
  return sessions.flatMap((calls, index) => {
    // If a call had no stamp, this session has made the stamp in its answer. The log has no answer of a create that has failed with an
    // id, so the Update by which an error hook repeats it shows the stamp.
    const failed = new Set(calls.flatMap(({ method, urn }) => (method === "Create" ? urn : [])));
    const isRepeated = ({ method, urn }: LoggedCall) => method === "Update" && failed.has(urn);
    const own = new Set(
      calls.flatMap((call) =>
        isRepeated(call) ? (call.stamp ?? []) : call.stamp ? [] : (call.answerStamp ?? []),
      ),
    );
    const scopes = new Set(earlier.filter(isConfigure).map(({ id }) => id));
    earlier.push(...calls);
    return calls
      .map((call) => {
        const { id = "", stamp } = call;
        const scope = scopes.has(id) ? "earlier scope" : "new scope";
        const name = isConfigure(call) && id !== "unknown" ? scope : ids.get(id);
        const maker = stamp && own.has(stamp) ? "this session" : "another session";
        return describe({ ...call, process: index + 1, id: name }, stamp ? maker : "unstamped");
      })
      .filter(isNoRepeatedCancel);
  });
}

const isConfigure = ({ method }: LoggedCall) => method === "Configure";

/** The engine may have several processes of the plugin, and each Ctrl-C cancels all of them. */
function isNoRepeatedCancel({ call }: Call, index: number, calls: readonly Call[]): boolean {
  return call !== "Cancel" || calls[index - 1]?.call !== call;
}

/** Returns a name for the id of each instance, in the order of their appearance. */
function namesOfIds(calls: readonly LoggedCall[]): Map<string, string> {
  const ids = calls
    .filter((call) => !isConfigure(call))
    .flatMap(({ id, answerId }) => [id, answerId].filter((known) => known !== undefined));
  const known = [...new Set(ids)].filter((id) => id !== "unknown");
  return new Map([["unknown", "unknown"], ...known.map((id, n) => [id, `i-${n + 1}`] as const)]);
}

function describe(logged: LoggedCall, maker: Call["oldOutputs"]): Call {
  const { process, method, inputs = "no", outputs = "no", answer, isLate, ...rest } = logged;
  const none = { no: undefined, empty: "empty" } as const;
  const names = (list: readonly string[] = []) => (list.length > 0 ? [...list] : undefined);
  const call: Call = {
    process,
    call: method,
    urn: rest.urn,
    id: rest.id,
    preview: rest.preview || undefined,
    oldInputs: { ...none, given: "given" as const }[inputs],
    oldOutputs: { ...none, given: maker }[outputs],
    unknown: names(rest.unknown),
    changed: names(rest.changed),
    ignoreChanges: names(rest.ignoreChanges),
    answer: answer === "ok" || method === "Cancel" ? undefined : answer,
    late: (isLate && changing.includes(method)) || undefined,
  };
  // What is undefined is left out, as in JSON.
  return JSON.parse(JSON.stringify(call)) as Call;
}

const folder = join(root, "provider", "testing", "conversations");

/** The file of a conversation: `up --replace` is in up-replace.json. In older/ are those of older engines whose Reads differ. */
function fileOf(command: string, isOlder: boolean): string {
  const words = command.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return join(folder, isOlder ? "older" : "", `${words.join("-")}.json`);
}

const read = (file: string) => JSON.parse(readFileSync(file, "utf8")) as Conversation;

/** Returns the conversation with an engine of today. @throws if the command has none */
export const readConversation = (command: string) => read(fileOf(command, false));

/** Whether the engine at hand makes other calls than an engine of today. */
export const isOtherEngine = isBefore("3.274.0");

export const allConversations = () =>
  globSync("**/*.json", { cwd: folder }).map((file) => read(join(folder, file)));

/**
 * Writes a conversation, with a line for each call. Of an older engine, only one whose Reads differ is written: 3.180 sends no Cancel.
 * The `is` of a call that was recorded before stays.
 */
export function writeConversation({ engine, command, calls }: Conversation): void {
  const file = fileOf(command, isOtherEngine);
  const reads = (all: readonly Call[]) =>
    withoutOccasions(all).filter(({ call }) => call === "Read");
  if (isOtherEngine && isDeepStrictEqual(reads(readConversation(command).calls), reads(calls)))
    return;
  const before = existsSync(file) ? read(file).calls : [];
  const known = before.map(({ is, ...call }) => ({ is, text: JSON.stringify(call) }));
  const lines = calls.map((call) => {
    // Equal calls may be about different things, so each recorded call explains one.
    const index = known.findIndex(({ text }) => text === JSON.stringify(call));
    const [same] = index < 0 ? [] : known.splice(index, 1);
    const is = ambiguous.includes(call.call) ? (same?.is ?? "") : undefined;
    return `\n  ${JSON.stringify({ ...call, is })}`;
  });
  const head = `"engine": ${JSON.stringify(engine)}, "command": ${JSON.stringify(command)}`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `{ ${head}, "calls": [${lines.join(",")}\n] }\n`);
}

/** Returns a conversation's calls without their `is`. */
export const withoutOccasions = (calls: readonly Call[]): Call[] =>
  calls.map(({ is: _, ...call }) => call);

/** Returns the calls without an `is` that need one, each with its command. */
export const unexplained = (): string[] =>
  allConversations().flatMap(({ command, calls }) =>
    calls.filter(({ is }) => is === "").map((call) => `${command}: ${JSON.stringify(call)}`),
  );
