/**
 * What fits in a message for a person. An error's text travels in HTTP/2 trailers, percent-encoded
 * and twice (as text and in the status details), and those are not made for pages of text.
 */
export const longestText = 4096;

/** `text`, cut to so many UTF-16 units with an ellipsis, never through the middle of a character. */
export function truncate(text: string): string {
  if (text.length <= longestText) return text;
  return `${text.slice(0, longestText - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
