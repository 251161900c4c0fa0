/** Executables of macOS: Mach-O of 64 bits, and their signature. */
import { createHash } from "node:crypto";
import { blobName, demand, type Format } from "./format";

const [segmentCommand, signatureCommand] = [0x19, 0x1d];

export const macho: Format = {
  processor(file) {
    demand(file.readUInt32LE(0) === 0xfeedfacf, "no Mach-O of 64 bits");
    return ({ 0x01000007: "amd64", 0x0100000c: "arm64" } as const)[file.readUInt32LE(4)];
  },

  /** As it is: its tables are interwoven, and it is signed anew at the end anyway. */
  slim: (node) => node,

  embedded(file) {
    const segment = commands(file).find(
      ({ type, at }) => type === segmentCommand && text(file, at + 8, 16) === "NODE_SEA",
    );
    // Its only section.
    const section = segment && segment.at + 72;
    if (section === undefined || text(file, section, 16) !== `__${blobName}`) return undefined;
    const [size, offset] = [
      Number(file.readBigUInt64LE(section + 40)),
      file.readUInt32LE(section + 48),
    ];
    return file.subarray(offset, offset + size);
  },
};

/** Throws unless the signature is there, names no publisher, and holds for each byte of the file. */
export function checkSignature(file: Buffer): void {
  const command = commands(file).find(({ type }) => type === signatureCommand);
  demand(command !== undefined, "it is not signed");
  const [start, size] = [file.readUInt32LE(command.at + 8), file.readUInt32LE(command.at + 12)];
  demand(start + size === file.length, "something stands behind the signature");
  const directory = codeDirectory(file.subarray(start));

  const adHoc = 0x2;
  const sha256 = 2;
  demand((directory.readUInt32BE(12) & adHoc) !== 0, "it is not signed ad hoc");
  demand(directory.readUInt8(37) === sha256, "its signature is not made of SHA-256");
  demand(directory.readUInt32BE(32) === start, "its signature is of another length of it");
  const [hashes, count] = [directory.readUInt32BE(16), directory.readUInt32BE(28)];
  const page = 2 ** directory.readUInt8(39);
  demand(count === Math.ceil(start / page), "its signature leaves pages out");
  for (let i = 0; i < count; i++) {
    const content = file.subarray(i * page, Math.min(start, (i + 1) * page));
    const wanted = directory.subarray(hashes + i * 32, hashes + (i + 1) * 32);
    demand(
      createHash("sha256").update(content).digest().equals(wanted),
      "it was changed after signing",
    );
  }
}

/** In the signature, which is a list of blobs; its numbers are big-endian. */
function codeDirectory(signature: Buffer): Buffer {
  demand(signature.readUInt32BE(0) === 0xfade0cc0, "its signature is none");
  for (let i = 0; i < signature.readUInt32BE(8); i++) {
    const blob = signature.subarray(signature.readUInt32BE(12 + i * 8 + 4));
    if (blob.readUInt32BE(0) === 0xfade0c02) return blob;
  }
  throw new Error("the signature has no code directory");
}

function commands(file: Buffer) {
  const found: { type: number; at: number }[] = [];
  for (let at = 32; found.length < file.readUInt32LE(16); at += file.readUInt32LE(at + 4)) {
    found.push({ type: file.readUInt32LE(at), at });
  }
  return found;
}

function text(file: Buffer, at: number, size: number): string {
  return file.toString("latin1", at, at + size).replace(/\0+$/, "");
}
