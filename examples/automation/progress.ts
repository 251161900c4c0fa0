/** One line for each thing that happens, from the engine's events. */
import type { EngineEvent } from "@pulumi/pulumi/automation/index.js";

/** Undefined for what a person need not see. */
export function progressOf(event: EngineEvent): string | undefined {
  const { resourcePreEvent, resOutputsEvent, diagnosticEvent } = event;
  if (resourcePreEvent) return stepOf(resourcePreEvent.metadata, "…");
  if (resOutputsEvent) return stepOf(resOutputsEvent.metadata, "done");
  if (diagnosticEvent && /^(info|warning|error|info#err)$/.test(diagnosticEvent.severity)) {
    const text = diagnosticEvent.message.replaceAll(/<\{%.*?%\}>/g, "").trim();
    return text === "" ? undefined : text;
  }
  return undefined;
}

function stepOf({ op, urn, type }: { op: string; urn: string; type: string }, how: string) {
  // The rest is bookkeeping.
  if (!type.startsWith("compute:") || op === "same") return undefined;
  return `${op} ${urn.split("::").at(-1)} ${how}`;
}
