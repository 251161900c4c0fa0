/** JSON from outside: whatever it holds, reading it must not bring us down. */

export type Json = { ok: true; value: unknown } | { ok: false; why: string };

const decoder = new TextDecoder();

export function parseJson(body: Uint8Array): Json {
  const text = decoder.decode(body);
  if (!text.trim()) return { ok: false, why: "is empty" };
  try {
    return { ok: true, value: JSON.parse(text, withoutProto) as unknown };
  } catch (error) {
    // The parser's own message quotes the text, which may hold anything. The reviver's calls are nested.
    return { ok: false, why: error instanceof RangeError ? "is nested too deep" : "is not JSON" };
  }
}

/** A key that would change the prototype of an object it is copied to. */
function withoutProto(key: string, value: unknown): unknown {
  return key === "__proto__" ? undefined : value;
}
