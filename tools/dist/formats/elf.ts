/** Executables of Linux: 64 bits, little-endian. */
import { blobName, demand, type Format } from "./format";

const note = 4;

export const elf: Format = {
  processor(file) {
    demand(file.toString("latin1", 0, 6) === "\x7fELF\x02\x01", "no ELF of 64 bits");
    return ({ 62: "amd64", 183: "arm64" } as const)[file.readUInt16LE(0x12)];
  },

  /** Symbols and debugging data stand behind all that is loaded, which the segments tell. */
  slim(node) {
    const end = Math.max(...segments(node).map(({ offset, size }) => offset + size));
    const result = Buffer.from(node.subarray(0, end));
    // No table of sections: where it is, how long, and which of them has the names.
    result.fill(0, 0x28, 0x30);
    result.fill(0, 0x3c, 0x40);
    return result;
  },

  embedded(file) {
    for (const { type, offset, size } of segments(file)) {
      if (type !== note) continue;
      for (let at = offset; at < offset + size;) {
        const [nameSize, dataSize] = [file.readUInt32LE(at), file.readUInt32LE(at + 4)];
        const data = at + 12 + padded(nameSize);
        // A name ends with a zero.
        const name = file.toString("latin1", at + 12, at + 12 + nameSize - 1);
        if (name === blobName) return file.subarray(data, data + dataSize);
        at = data + padded(dataSize);
      }
    }
    return undefined;
  },
};

interface Segment {
  type: number;
  offset: number;
  size: number;
}

function segments(file: Buffer): Segment[] {
  const table = Number(file.readBigUInt64LE(0x20));
  const [size, count] = [file.readUInt16LE(0x36), file.readUInt16LE(0x38)];
  return Array.from({ length: count }, (_, i) => {
    const at = table + i * size;
    return {
      type: file.readUInt32LE(at),
      offset: Number(file.readBigUInt64LE(at + 0x08)),
      size: Number(file.readBigUInt64LE(at + 0x20)),
    };
  });
}

function padded(size: number): number {
  return Math.ceil(size / 4) * 4;
}
