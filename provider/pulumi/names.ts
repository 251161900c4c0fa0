/** Pulumi's names: tokens (names of types and functions), kinds of changes, signatures of special values, strings of unknown ones. */

/** The only resource type of this provider. */
export const instanceToken = "compute:index:Instance";

/** The tokens of the functions of this provider. */
export const functionTokens = [
  "compute:index:getInstance",
  "compute:index:getInstances",
  "compute:index:getAccount",
] as const;
/** The token of a function. */
export type FunctionToken = (typeof functionTokens)[number];

/** How an input or a setting changes, and whether that replaces the resource, in the order of the engine's enum. */
export const diffKinds = [
  "add",
  "add-replace",
  "delete",
  "delete-replace",
  "update",
  "update-replace",
] as const;
/** A kind of change. */
export type DiffKind = (typeof diffKinds)[number];

/** The kinds of changes that replace the resource. */
export const replaceKinds: ReadonlySet<DiffKind> = new Set([
  "add-replace",
  "delete-replace",
  "update-replace",
]);

/** The key of the signature, which says which special value a map is. */
export const signatureKey = "4dabf18193072939515e22adb298388d";

/** The signatures of the special values that this provider opens. */
export const signatures = {
  secret: "1b47061264138c4ac30d75fd1eb44270",
  output: "d0e6a833031e9bbcd3f4e8bde6ca49a4",
} as const;

/** The string that this provider and Pulumi's SDKs send for an unknown value of any type. */
export const unknownText = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** All strings that stand for an unknown value (known only after another resource was created). */
export const unknownTexts: ReadonlySet<string> = new Set([
  unknownText,
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7", // boolean
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421", // number
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2", // array
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff", // object
  "030794c1-ac77-496b-92df-f27374a8bd58", // asset
  "e48ece36-62e2-4504-bad9-02848725956a", // archive
]);
