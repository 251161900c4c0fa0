/** Turns a log of calls into readable strings: the calls of each session, in order. */
import type { LogLine } from "./callLog";

/** One string for each session, such as `Configure (new id) · Read web (no inputs, no outputs) → failed`. */
export type Sessions = string[];

const separator = " · ";

/** Splits each session into its calls, for a comparison. */
export const callsOf = (sessions: Sessions) => sessions.map((calls) => calls.split(separator));

/** A call with its description, and whether it was answered after Cancel. */
type Call = LogLine & { text: string; afterCancel?: boolean };

/** The calls about the provider itself. Between two of them, the calls about resources come in any order. */
const ofTheProvider = ["Attach", "CheckConfig", "DiffConfig", "Configure", "Cancel"];
/** Calls that are left out, because every engine and language host makes them in any operation. */
const ignored = ["Handshake", "GetPluginInfo", "GetSchema", "/grpc.health.v1.Health/Check"];

/**
 * Describes the sessions in these lines, except those without a call other than Cancel. `before` is the log of earlier
 * operations on the same stack.
 */
export function sessionsOf(lines: readonly LogLine[], before: readonly LogLine[]): Sessions {
  const scopes = scopesOf(before);
  const processes = [...new Set(lines.map((line) => line.process))];
  return processes
    .map((process) => {
      const session = lines.filter((line) => line.process === process);
      const calls = describeSession(session, scopes);
      for (const scope of scopesOf(session)) scopes.add(scope);
      return calls;
    })
    .filter((calls) => calls.some((call) => call !== "Cancel"))
    .map((calls) => calls.join(separator));
}

function scopesOf(lines: readonly LogLine[]): Set<string | undefined> {
  return new Set(lines.map(({ scope }) => scope));
}

/** What distinguishes the values of a session from those of other sessions. */
interface Context {
  /** The stamps that this session has made. A stamp is the id of the session that made the outputs. */
  ownStamps: ReadonlySet<string | undefined>;
  /** The scopes of all earlier sessions. A scope is the id of the provider resource. */
  scopes: ReadonlySet<string | undefined>;
}

function describeSession(lines: readonly LogLine[], scopes: Context["scopes"]): string[] {
  const calls: Call[] = [];
  const context = { ownStamps: ownStamps(lines), scopes };
  let canceled = false;
  for (const line of lines) {
    if (line.event === "call" && !ignored.includes(line.method ?? "")) {
      canceled ||= line.method === "Cancel";
      calls.push({ ...line, text: describe(line, context) });
    } else if (line.event === "answer" && line.answer !== "lost") {
      const call = calls.find((it) => it.call === line.call);
      if (call) Object.assign(call, { answer: line.answer, afterCancel: canceled });
    }
  }
  for (const call of calls) call.text += outcome(call);
  // The engine may have several processes of the plugin, and each Ctrl-C cancels all of them.
  return inOrder(calls).filter((text, index, all) => text !== "Cancel" || all[index - 1] !== text);
}

/** Returns the stamps in answers to calls that had none, because this session has made those stamps. */
function ownStamps(lines: readonly LogLine[]): ReadonlySet<string | undefined> {
  const sent = (answer: LogLine) =>
    lines.find(({ event, call }) => event === "call" && call === answer.call)?.stamp;
  return new Set(
    lines.filter((line) => line.event === "answer" && !sent(line)).flatMap((it) => it.stamp ?? []),
  );
}

const idDescriptions = { known: "id", none: "no id", unknown: "id unknown" };

function describe(line: LogLine, context: Context): string {
  const { method = "", resource, preview = false, inputs = "no", outputs = "no" } = line;
  const id = idDescriptions[line.idKind ?? "none"];
  const details: string[] = [];
  if (preview) details.push("preview");
  if (method === "Configure") {
    const isKnown = context.scopes.has(line.scope);
    details.push(id === "id" ? (isKnown ? "id of an earlier session" : "new id") : id);
  }
  if (method === "Check") details.push(inputs === "given" ? "old inputs" : "no old inputs");
  if (method === "Read") details.push(inputs === "given" ? "inputs" : `${inputs} inputs`);
  if (["Read", "Diff", "Update", "Delete"].includes(method)) {
    details.push(outputs === "given" ? `outputs ${origin(line, context)}` : `${outputs} outputs`);
    if (id !== "id") details.push(id);
  }
  const name = ofTheProvider.includes(method) || resource === undefined ? "" : ` ${resource}`;
  return `${method}${name}${details.length > 0 ? ` (${details.join(", ")})` : ""}`;
}

function origin({ stamp }: LogLine, { ownStamps: own }: Context): string {
  if (stamp === undefined) return "without a stamp";
  return own.has(stamp) ? "of this session" : "of another session";
}

/**
 * Describes the outcome. Empty for a Cancel, and for a success, except for a Create, Update, Delete or Read that
 * succeeded after Cancel.
 */
function outcome({ method = "", answer, afterCancel = false }: Call): string {
  const isLate = afterCancel && ["Create", "Update", "Delete", "Read"].includes(method);
  if (method === "Cancel" || (answer === "ok" && !isLate)) return "";
  // A killed process logs no answer.
  return ` → ${answer ?? "lost"}${isLate ? ", after Cancel" : ""}`;
}

/**
 * Keeps the calls about the provider in place. Sorts the calls between them by resource, because resources run at once.
 */
function inOrder(calls: readonly Call[]): string[] {
  const stretches: Call[][] = [[]];
  for (const call of calls) {
    if (ofTheProvider.includes(call.method ?? "")) stretches.push([call], []);
    else stretches.at(-1)?.push(call);
  }
  return stretches.flatMap((stretch) => {
    const names = [...new Set(stretch.map(({ resource }) => resource ?? ""))].sort();
    return names.flatMap((name) =>
      stretch.filter(({ resource = "" }) => resource === name).map(({ text }) => text),
    );
  });
}

/** Returns the call without its resource and outcome. It is the key of a sentence in recordedCalls.json. */
export function kindOf(text: string): string {
  const [call = ""] = text.split(" → ");
  return call.replace(/^(\w+) [^(]+?(?= \(|$)/, "$1");
}

/** Returns only the outcome of a described call. Undefined for a plain success. */
export function answerOf(text: string): string | undefined {
  return text.split(" → ")[1];
}
