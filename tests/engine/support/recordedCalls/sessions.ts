/** Turns a log of calls into readable strings: the calls of each session, in order. */
import type { LoggedCall } from "./callLog";

/** One string for each session, such as `Configure (new id) · Read web (no inputs, no outputs) → failed`. */
export type Sessions = string[];

const separator = " · ";

/** Splits each session into its calls, for a comparison. */
export const callsOf = (sessions: Sessions) => sessions.map((calls) => calls.split(separator));

/** The calls about the provider itself. Between two of them, the calls about resources come in any order. */
const ofTheProvider = ["Attach", "CheckConfig", "DiffConfig", "Configure", "Cancel"];
/** Calls that are left out, because every engine and language host makes them in any operation. */
const ignored = ["Handshake", "GetPluginInfo", "GetSchema", "/grpc.health.v1.Health/Check"];

/**
 * Describes the sessions of these calls, except those without a call other than Cancel. `before` has the calls of
 * earlier operations on the same stack.
 */
export function sessionsOf(logged: readonly LoggedCall[], before: readonly LoggedCall[]): Sessions {
  const earlier = [...before];
  return Object.values(Object.groupBy(logged, ({ process }) => process))
    .map((calls = []) => {
      const scopes = new Set(earlier.map(({ scope }) => scope));
      earlier.push(...calls);
      return describeSession(calls, scopes);
    })
    .filter((calls) => calls.some((call) => call !== "Cancel"))
    .map((calls) => calls.join(separator));
}

/** What distinguishes the values of a session from those of other sessions. */
interface Context {
  /** The stamps that this session has made. A stamp is the id of the session that made the outputs. */
  ownStamps: ReadonlySet<string | undefined>;
  /** The scopes of all earlier sessions. A scope is the id of the provider resource. */
  scopes: ReadonlySet<string | undefined>;
}

function describeSession(logged: readonly LoggedCall[], scopes: Context["scopes"]): string[] {
  // If a call had no stamp, this session has made the stamp in its answer.
  const made = logged.flatMap(({ stamp, answerStamp = [] }) => (stamp ? [] : answerStamp));
  const context = { ownStamps: new Set(made), scopes };
  const calls = inOrder(logged.filter(({ method }) => !ignored.includes(method)));
  const texts = calls.map((call) => describe(call, context) + outcome(call));
  // The engine may have several processes of the plugin, and each Ctrl-C cancels all of them.
  return texts.filter((text, index) => text !== "Cancel" || texts[index - 1] !== text);
}

const idDescriptions = { known: "id", none: "no id", unknown: "id unknown" };

function describe(call: LoggedCall, context: Context): string {
  const { method, resource, preview = false, inputs = "no", outputs = "no" } = call;
  const id = idDescriptions[call.idKind ?? "none"];
  const details: string[] = [];
  if (preview) details.push("preview");
  if (method === "Configure") {
    const isKnown = context.scopes.has(call.scope);
    details.push(id === "id" ? (isKnown ? "id of an earlier session" : "new id") : id);
  }
  if (method === "Check") details.push(inputs === "given" ? "old inputs" : "no old inputs");
  if (method === "Read") details.push(inputs === "given" ? "inputs" : `${inputs} inputs`);
  if (["Read", "Diff", "Update", "Delete"].includes(method)) {
    details.push(outputs === "given" ? `outputs ${origin(call, context)}` : `${outputs} outputs`);
    if (id !== "id") details.push(id);
  }
  const name = ofTheProvider.includes(method) || resource === undefined ? "" : ` ${resource}`;
  return `${method}${name}${details.length > 0 ? ` (${details.join(", ")})` : ""}`;
}

function origin({ stamp }: LoggedCall, { ownStamps: own }: Context): string {
  if (stamp === undefined) return "without a stamp";
  return own.has(stamp) ? "of this session" : "of another session";
}

/**
 * Describes the outcome. Empty for a Cancel, and for a success, except for a Create, Update, Delete or Read that
 * succeeded after Cancel.
 */
function outcome({ method, answer, isLate }: LoggedCall): string {
  const isLateSuccess = isLate && ["Create", "Update", "Delete", "Read"].includes(method);
  if (method === "Cancel" || (answer === "ok" && !isLateSuccess)) return "";
  // A killed process logs no answer.
  return ` → ${answer}${isLateSuccess && answer !== "lost" ? ", after Cancel" : ""}`;
}

/**
 * Keeps the calls about the provider in place. Sorts the calls between them by resource, because resources run at once.
 */
function inOrder(calls: readonly LoggedCall[]): LoggedCall[] {
  const stretches: LoggedCall[][] = [[]];
  for (const call of calls) {
    if (ofTheProvider.includes(call.method)) stretches.push([call], []);
    else stretches.at(-1)?.push(call);
  }
  const byResource = ({ resource: a = "" }: LoggedCall, { resource: b = "" }: LoggedCall) =>
    a < b ? -1 : Number(a > b);
  return stretches.flatMap((stretch) => stretch.sort(byResource));
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
