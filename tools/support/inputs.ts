/** Products that are made when what they are made of has changed. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { hashOf, readIfThere, writeWhole } from "./files";
import { withLock } from "./lock";
import { say } from "./main";
import { root } from "./paths";

/** Something made from files, and made again when one of them changes. */
export interface Product {
  name: string;
  /** The product, as paths from the root. It is made again when one of them is gone. */
  outputs: readonly string[];
  /** Where it is remembered what the product was made from. */
  stamp: string;
  /** Makes it, and returns the paths from the root of all that it was made from. */
  make(): Promise<readonly string[]>;
}

interface Stamp {
  inputs: readonly string[];
  fingerprint: string;
}

/** Makes the product unless it is there and up to date. Says whether there was anything to do. */
export async function ensureProduct(product: Product): Promise<boolean> {
  if (isFresh(product)) return false;
  const onWait = () => say(`Waiting for another run, which is building ${product.name} …`);
  return withLock(product.name.replaceAll("/", "-"), onWait, async () => {
    if (isFresh(product)) return false;
    const inputs = [...(await product.make())].sort();
    const stamp: Stamp = { inputs, fingerprint: fingerprintOf(inputs) };
    writeWhole(join(root, product.stamp), JSON.stringify(stamp));
    return true;
  });
}

function isFresh({ outputs, stamp }: Product): boolean {
  const text = readIfThere(join(root, stamp));
  if (text === undefined || outputs.some((path) => lookOf(path) === "")) return false;
  const { inputs, fingerprint } = JSON.parse(text) as Stamp;
  return fingerprintOf(inputs) === fingerprint;
}

/** By size and time, not content: hundreds of files are looked at in a few milliseconds. */
function fingerprintOf(paths: readonly string[]): string {
  // Moved to another directory or started with another Node, the product is another one, too.
  return hashOf([root, process.execPath, ...paths.flatMap((path) => [path, lookOf(path)])]);
}

function lookOf(path: string): string {
  const stat = statSync(join(root, path), { throwIfNoEntry: false });
  return stat === undefined ? "" : `${stat.size} ${stat.mtimeMs}`;
}
