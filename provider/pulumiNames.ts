/** Pulumi's names: the tokens of what the provider has, the parts of a URN, and the texts of unknown values. */

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

/** The unknown value as the provider sends it. Pulumi's SDKs send this text too, whatever the type. */
export const unknownText = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** All texts that mean "known only after another resource has been made". */
export const unknownTexts: ReadonlySet<string> = new Set([
  unknownText,
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7", // boolean
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421", // number
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2", // array
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff", // object
  "030794c1-ac77-496b-92df-f27374a8bd58", // asset
  "e48ece36-62e2-4504-bad9-02848725956a", // archive
]);
