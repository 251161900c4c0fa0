import { systemDisk, type Disk, type OpenFile } from "../ledger/disk";

/** The system's disk, but for what `change` gives of each file that is made on it. */
export function diskWith(change: (file: OpenFile) => Partial<OpenFile>): Disk {
  const create = (path: string) => {
    const file = systemDisk.create(path);
    return { ...file, ...change(file) };
  };
  return { ...systemDisk, create };
}
