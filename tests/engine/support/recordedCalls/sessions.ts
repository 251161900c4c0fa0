/** Turns conversations into readable strings, which the recorded calls and those of the simulation's model are compared by. */
import type { Call } from "./conversation";

/** The calls about the provider itself. Between two of them, the calls about resources come in any order. */
const ofTheProvider = ["Attach", "CheckConfig", "DiffConfig", "Configure", "Cancel"];

/** Returns a string for each call of each session, such as `Read web (no inputs, no outputs) → failed`. */
export function sessionsOf(calls: readonly Call[]): string[][] {
  return Object.values(Object.groupBy(calls, ({ process }) => process)).map((session = []) =>
    inOrder(session).map((call) => describe(call) + outcome(call)),
  );
}

function describe({ call, urn, id, preview, oldInputs, oldOutputs }: Call): string {
  const details: string[] = [];
  if (preview) details.push("preview");
  if (call === "Configure") details.push(id ?? "no id");
  if (call === "Check") details.push(oldInputs === "given" ? "old inputs" : "no old inputs");
  if (call === "Read") details.push(oldInputs === "given" ? "inputs" : "no inputs");
  if (["Read", "Diff", "Update", "Delete"].includes(call)) {
    details.push(outputsIn[oldOutputs ?? "no"]);
    if (id === undefined || id === "unknown") details.push(id ? "id unknown" : "no id");
  }
  const name =
    ofTheProvider.includes(call) || urn === undefined ? "" : ` ${urn.split("::").at(-1)}`;
  return `${call}${name}${details.length > 0 ? ` (${details.join(", ")})` : ""}`;
}

/** Absent and empty are one thing. */
const outputsIn = {
  no: "no outputs",
  empty: "no outputs",
  unstamped: "outputs without a stamp",
  "this session": "outputs of this session",
  "another session": "outputs of another session",
};

/** Describes the outcome. Empty for a success in time. */
function outcome({ answer, late }: Call): string {
  const isSuccess = answer === undefined || ["update", "replace"].includes(answer);
  if (isSuccess && !late) return "";
  // A killed process logs no answer.
  return ` → ${answer ?? "ok"}${late && answer !== "lost" ? ", after Cancel" : ""}`;
}

/**
 * Keeps the calls about the provider in place. Sorts the calls between them by resource, because resources run at once.
 */
function inOrder(calls: readonly Call[]): Call[] {
  const stretches: Call[][] = [[]];
  for (const call of calls) {
    if (ofTheProvider.includes(call.call)) stretches.push([call], []);
    else stretches.at(-1)?.push(call);
  }
  const byResource = ({ urn: a = "" }: Call, { urn: b = "" }: Call) => (a < b ? -1 : Number(a > b));
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
