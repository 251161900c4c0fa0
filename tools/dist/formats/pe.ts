/** Executables of Windows: PE32+. */
import { blobName, demand, type Format } from "./format";

const rawData = 10;
/** In the optional header: which of its directories is where. */
const [resources, certificates] = [112 + 2 * 8, 112 + 4 * 8];

export const pe: Format = {
  processor(file) {
    const at = header(file);
    demand(file.toString("latin1", at, at + 4) === "PE\0\0", "no PE");
    return ({ 0x8664: "amd64", 0xaa64: "arm64" } as const)[file.readUInt16LE(at + 4)];
  },

  /** The publisher's signature of Node, which stands last, does not hold for what is made of it. */
  slim(node) {
    const at = header(node) + 24 + certificates;
    const [offset, size] = [node.readUInt32LE(at), node.readUInt32LE(at + 4)];
    if (size === 0) return node;
    demand(offset + size === node.length, "its signature is not the last of it");
    const result = Buffer.from(node.subarray(0, offset));
    result.fill(0, at, at + 8);
    return result;
  },

  embedded(file) {
    const address = file.readUInt32LE(header(file) + 24 + resources);
    if (address === 0) return undefined;
    const tree = fileOffset(file, address);
    const find = (folder: number | undefined, matches: (name: number | string) => boolean) =>
      folder === undefined
        ? undefined
        : entries(file, tree, folder).find(({ name }) => matches(name))?.at;
    const kind = find(tree, (name) => name === rawData);
    const item = find(kind, (name) => name === blobName);
    // One for each language; there is one.
    const leaf = find(item, () => true);
    if (leaf === undefined) return undefined;
    const start = fileOffset(file, file.readUInt32LE(leaf));
    return file.subarray(start, start + file.readUInt32LE(leaf + 4));
  },
};

function header(file: Buffer): number {
  demand(file.toString("latin1", 0, 2) === "MZ", "no executable for Windows");
  return file.readUInt32LE(0x3c);
}

/** What a folder of the tree of resources has: where to go on for each name or number. */
function entries(file: Buffer, tree: number, folder: number) {
  const count = file.readUInt16LE(folder + 12) + file.readUInt16LE(folder + 14);
  return Array.from({ length: count }, (_, i) => {
    const at = folder + 16 + i * 8;
    const offset = (position: number) => tree + (file.readUInt32LE(position) & 0x7fffffff);
    const isNamed = file.readUInt32LE(at) > 0x7fffffff;
    return {
      name: isNamed ? text(file, offset(at)) : file.readUInt32LE(at),
      at: offset(at + 4),
    };
  });
}

function text(file: Buffer, at: number): string {
  return file.toString("utf16le", at + 2, at + 2 + 2 * file.readUInt16LE(at));
}

/** Where in the file is what the program has at an address. */
function fileOffset(file: Buffer, address: number): number {
  const at = header(file);
  const table = at + 24 + file.readUInt16LE(at + 20);
  for (let i = 0; i < file.readUInt16LE(at + 6); i++) {
    const section = table + i * 40;
    const inside = address - file.readUInt32LE(section + 12);
    if (inside >= 0 && inside < file.readUInt32LE(section + 16)) {
      return file.readUInt32LE(section + 20) + inside;
    }
  }
  throw new Error(`the executable has nothing at ${address}`);
}
