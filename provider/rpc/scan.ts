/**
 * Walks a message's bytes before google-protobuf reads them, which trusts what it is sent: it reads
 * four gigabytes that are not there where a length says so, takes a text that is cut in the middle of
 * a character for a longer one, and loses its place. One pass, nothing is copied.
 */
import { isUtf8 } from "node:buffer";
import { InvalidMessage } from "./decode";
import { value, type Kind, type Shape } from "./shape";
import { deepest } from "./wire";

const wireTypes = { varint: 0, eightBytes: 1, delimited: 2, fourBytes: 5 } as const;

/** Bytes of the longest varint, and of the longest that is a tag or a length. */
const longest = { varint: 10, size: 5 } as const;

/** Throws `InvalidMessage` for what is not, from end to end, a message of this shape. */
export function scan(bytes: Uint8Array, shape: Shape): void {
  new Scanner(bytes).message(shape, bytes.length, 0);
}

class Scanner {
  #at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  message(shape: Shape, end: number, depth: number): void {
    while (this.#at < end) {
      const tag = this.#varint(end, longest.size);
      const [field, wireType] = [Math.floor(tag / 8), tag % 8];
      const kind = shape.fields.get(field);
      const isWrong = kind === undefined ? shape.closed : wireTypeOf(kind) !== wireType;
      if (isWrong || field === 0 || tag >= 2 ** 32)
        this.#refuse(`has a field ${field} of another type than it should`);
      this.#field(wireType, kind, end, depth);
    }
  }

  #field(wireType: number, kind: Kind | undefined, end: number, depth: number): void {
    switch (wireType) {
      case wireTypes.varint:
        this.#varint(end, longest.varint);
        return;
      case wireTypes.eightBytes:
        return this.#pass(8, end);
      case wireTypes.fourBytes:
        return this.#pass(4, end);
      case wireTypes.delimited:
        return this.#delimited(kind, end, depth);
      default:
        this.#refuse("has a group or a field of no type");
    }
  }

  #delimited(kind: Kind | undefined, end: number, depth: number): void {
    const length = this.#varint(end, longest.size);
    const start = this.#at;
    this.#pass(length, end);
    if (kind === "text" && !isUtf8(this.bytes.subarray(start, this.#at))) {
      this.#refuse("has a text that is not UTF-8");
    }
    if (typeof kind !== "object") return;
    const deeper = kind === value ? depth + 1 : depth;
    if (deeper > deepest) {
      throw new InvalidMessage(`a property is nested more than ${deepest} levels deep`);
    }
    this.#at = start;
    this.message(kind, start + length, deeper);
  }

  #pass(length: number, end: number): void {
    if (length > end - this.#at)
      this.#refuse(`has a field of ${length} bytes, which are not there`);
    this.#at += length;
  }

  #varint(end: number, most: number): number {
    let result = 0;
    for (let count = 0; count < most && this.#at < end; count++) {
      const byte = this.bytes[this.#at++] ?? 0;
      result += (byte % 128) * 128 ** count;
      if (byte < 128) return result;
    }
    return this.#refuse("has a number without an end");
  }

  #refuse(what: string): never {
    throw new InvalidMessage(`the message ${what}, near byte ${this.#at} of ${this.bytes.length}`);
  }
}

function wireTypeOf(kind: Kind): number {
  if (kind === "varint") return wireTypes.varint;
  return kind === "double" ? wireTypes.eightBytes : wireTypes.delimited;
}
