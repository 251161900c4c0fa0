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
  /** Files with other parts have other digests. */
  readonly digest: string;
  readonly parts: ReadonlyMap<string, Buffer>;
  readonly #places: Readonly<Record<string, Place>>;

  /** @throws Error if the first line is no list of parts */
  constructor(content: Buffer) {
    const lineEnd = content.indexOf("\n");
    this.#places = JSON.parse(content.toString("latin1", 0, lineEnd)) as Record<string, Place>;
    const body = content.subarray(lineEnd + 1);
    const partAt = ([start, end]: Place) => body.subarray(start, end);
    this.parts = new Map(
      Object.entries(this.#places).map(([name, place]) => [name, partAt(place)]),
    );
    this.digest = crc32(content.subarray(0, lineEnd)).toString(16);
  }

  isDamaged(name: string): boolean {
    const part = this.parts.get(name);
    return part !== undefined && crc32(part) !== this.#places[name]?.[2];
  }
}
