/** The parts of a URN: `urn:pulumi:STACK::PROJECT::TYPES::NAME`. */

export function projectOf(urn: string): string {
  return urn.split("::")[1] ?? "";
}

/** Whether two URNs name the same resource of a project, whatever the stack is called (`stack rename`). */
export function sameResource(one: string, other: string): boolean {
  return withoutStack(one) === withoutStack(other);
}

function withoutStack(urn: string): string {
  return urn.split("::").slice(1).join("::");
}
