/** JSON from outside: whatever it holds, reading it and walking it later must not bring us down. */

export type Json = { ok: true; value: unknown } | { ok: false; why: string };

/** Far beyond any answer of the document, far below what overflows a stack. */
const deepest = 64;

const decoder = new TextDecoder();

export function parseJson(body: Uint8Array): Json {
  const text = decoder.decode(body);
  if (!text.trim()) return { ok: false, why: "is empty" };
  if (isTooDeep(text)) return { ok: false, why: "is nested too deep" };
  try {
    return { ok: true, value: JSON.parse(text, withoutProto) as unknown };
  } catch {
    // The parser's own message quotes the text, which may hold anything.
    return { ok: false, why: "is not JSON" };
  }
}

/** A key that would change the prototype of an object it is copied to. */
function withoutProto(key: string, value: unknown): unknown {
  return key === "__proto__" ? undefined : value;
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (inString) {
      if (character === "\\") at++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "{" || character === "[") {
      if (++depth > deepest) return true;
    } else if (character === "}" || character === "]") depth--;
  }
  return false;
}
