/** A file of several parts: the bundle of the plugin, and the code that V8 has compiled from it. */
import { crc32 } from "node:zlib";

/** Where a part begins and ends, from the end of the first line on, and its checksum. */
type Place = readonly [start: number, end: number, checksum: number];

/** Returns the content of a file with these parts. The first line lists them, as JSON. */
export function joinParts(parts: ReadonlyMap<string, Buffer>): Buffer {
  const places: Record<string, Place> = {};
  let end = 0;
  for (const [name, part] of parts) {
    const start = end;
    end += part.length;
    places[name] = [start, end, crc32(part)];
  }
  return Buffer.concat([Buffer.from(`${JSON.stringify(places)}\n`), ...parts.values()]);
}

/** A file that was read. */
export class PartsFile {
  /** Tells this file from those with other parts. */
  readonly digest: string;
  readonly #places: Readonly<Record<string, Place>>;
  readonly #parts: Buffer;

  /** @throws Error if the first line is no list of parts */
  constructor(content: Buffer) {
    const lineEnd = content.indexOf("\n");
    this.#places = JSON.parse(content.toString("latin1", 0, lineEnd)) as Record<string, Place>;
    this.#parts = content.subarray(lineEnd + 1);
    this.digest = crc32(content.subarray(0, lineEnd)).toString(16);
  }

  /** Returns the parts by their names. */
  all(): Map<string, Buffer> {
    const part = ([start, end]: Place) => this.#parts.subarray(start, end);
    return new Map(Object.entries(this.#places).map(([name, place]) => [name, part(place)]));
  }

  /** Undefined if the file has no such part. */
  get(name: string): Buffer | undefined {
    const place = this.#places[name];
    return place && this.#parts.subarray(place[0], place[1]);
  }

  isDamaged(name: string): boolean {
    const part = this.get(name);
    return part !== undefined && crc32(part) !== this.#places[name]?.[2];
  }
}
