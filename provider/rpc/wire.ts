/** How Pulumi marks the values that JSON has no case for. */

/** A map with this key is not a map: what stands under it says which special value it is. */
export const signatureKey = "4dabf18193072939515e22adb298388d";

export const signature = {
  secret: "1b47061264138c4ac30d75fd1eb44270",
  output: "d0e6a833031e9bbcd3f4e8bde6ca49a4",
} as const;

/** The one we send. The engine's own programs send it too, whatever the type. */
export const unknownText = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** All that mean "known only after another resource has been made". */
export const unknownTexts: ReadonlySet<string> = new Set([
  unknownText,
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7", // boolean
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421", // number
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2", // array
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff", // object
  "030794c1-ac77-496b-92df-f27374a8bd58", // asset
  "e48ece36-62e2-4504-bad9-02848725956a", // archive
]);

/** Makes another text of a plain one that reads like a sentinel. */
const plainMark = "~";
const sentinelLength = unknownText.length;

/**
 * A plain text as it travels. The wire has no form for one that is equal to a sentinel, as a hostile
 * name or id may be: it goes with a mark (one more, if it has some already), which is taken off again
 * on its way back. Half a character has no form either, and becomes U+FFFD.
 */
export function textToWire(text: string): string {
  return isMarked(text) ? text + plainMark : text.toWellFormed();
}

/** The other way, for a text that is no sentinel. */
export function textFromWire(text: string): string {
  return text.length > sentinelLength && isMarked(text) ? text.slice(0, -1) : text;
}

/** A sentinel, with any number of marks. */
function isMarked(text: string): boolean {
  if (!unknownTexts.has(text.slice(0, sentinelLength))) return false;
  return [...text.slice(sentinelLength)].every((character) => character === plainMark);
}

/**
 * Deeper values are refused on both ways: google-protobuf recurses, and a stack overflow while a
 * reply is being written would lose the reply. A request of some thousand levels overflows the stack
 * of google-protobuf itself; grpc-js catches that, and answers INTERNAL.
 */
export const deepest = 200;
