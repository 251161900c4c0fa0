/** What the build asks of a format of executables. */
type Processor = "amd64" | "arm64";

export interface Format {
  /** What it is for. Throws where it is no such executable at all. */
  processor(file: Buffer): Processor | undefined;
  /**
   * Node without what is of no use in a plugin. Before the plugin is put into it: after that it can't be
   * done. By hand, since each system's own `strip` knows its own format alone, and no two versions of
   * one write the same.
   */
  slim(node: Buffer): Buffer;
  /** What Node finds in itself at its start: the plugin. */
  embedded(file: Buffer): Buffer | undefined;
}

export function demand(holds: boolean, problem: string): asserts holds {
  if (!holds) throw new Error(`the executable is not as it must be: ${problem}`);
}

export const blobName = "NODE_SEA_BLOB";
