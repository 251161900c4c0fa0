/** Pulumi's names: the tokens of what the provider has, and the parts of a URN. */

/** The token of the one resource type. */
export const instanceToken = "compute:index:Instance";

/** The tokens of the functions. */
export const functionTokens = [
  "compute:index:getInstance",
  "compute:index:getInstances",
  "compute:index:getAccount",
] as const;
/** The token of a function that the provider has. */
export type FunctionToken = (typeof functionTokens)[number];

/** The project in a URN, which is `urn:pulumi:STACK::PROJECT::TYPES::NAME`. */
export function projectOf(urn: string): string {
  return urn.split("::")[1] ?? "";
}

/** Whether two URNs name the same resource of a project, whatever the stack is called (`stack rename`). */
export function isSameResource(one: string, other: string): boolean {
  return withoutStack(one) === withoutStack(other);
}

function withoutStack(urn: string): string {
  return urn.split("::").slice(1).join("::");
}
