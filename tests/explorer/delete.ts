/** Decides what a Delete call does, by the real rules and by what each process of the run has seen. */
import { basename, dirname } from "node:path";
import type { DeleteOccasion, Engine, KnownInstance } from "../../provider/engine";
import type { Verdict } from "../../provider/evidence/witness";
import type { DeleteStep } from "../../provider/instance/delete";
import type { Disk } from "../../provider/ledger/disk";
import { propertyMap } from "../../provider/pulumi/propertyValue";
import { instanceOf, type RunScene, type StateEntry, type World } from "./world";

/** Returns how the Delete of this entry ends. */
export function stepOfDelete(scene: RunScene, entry: StateEntry): DeleteStep["kind"] {
  const { model, world, run } = scene;
  const occasion = occasionOf(scene, entry);
  const next = occasion.is === "replaced" ? occasion.next : undefined;
  const isListed = instanceOf(world, entry.id)?.alive === true;
  const { kind } = model.rules.decideDelete({
    keeper: keeperOf(occasion),
    need: next && needOf(world, next),
    deletePolicy: run.plan.deletePolicy ?? "destroy",
    isStateless: false,
    verdict: isListed ? listed : absent,
  });
  return kind;
}

function keeperOf(occasion: DeleteOccasion): string | undefined {
  if (occasion.is === "shared") return occasion.keeper;
  return occasion.is === "otherStack" ? occasion.stack : undefined;
}

/** What the listings prove. */
const listed = { kind: "listed", items: [{ id: "" }], proof: undefined } as unknown as Verdict;
const absent = { kind: "absent", proof: undefined } as unknown as Verdict;

/** What a replacement lacks, by the calls of the run and by a listing. */
function needOf(world: World, { id, isUnfinished }: KnownInstance) {
  const isReady = !isUnfinished && instanceOf(world, id)?.alive === true;
  return isReady ? undefined : { lack: `${id} is not ready`, command: "pulumi up" };
}

/** What the real rules say of a Delete in the process of its provider resource, after all that each process of the run has seen. */
function occasionOf({ model, run }: RunScene, entry: StateEntry): DeleteOccasion {
  const disk = diskInMemory();
  const processes = new Map<string, Engine>();
  const processOf = (provider: string) => {
    const known = processes.get(provider);
    if (known) return known;
    const ctx = { disk, engineAddress: () => run.session, env: {} };
    const process = new model.rules.Engine(ctx, "recorded", provider);
    processes.set(provider, process);
    return process;
  };
  for (const { provider, urn, what, id = "", isUnfinished = false, known = [] } of run.heard) {
    const process = processOf(provider);
    const instance = { id, isUnfinished, known };
    if (what === "check") process.check({ urn, olds: someInputs });
    else if (what === "check anew") process.check({ urn, olds: noInputs });
    else if (what === "diff") process.diff({ urn, news: someInputs }, instance);
    else process.hold(urn, instance);
  }
  return processOf(entry.provider).delete(entry);
}

const noInputs = propertyMap({});
const someInputs = propertyMap({ flavorId: "kvm-1" });

/** The disk of the run's folder, on which nothing fails. */
function diskInMemory(): Disk {
  const files = new Map<string, string>();
  const disk: Partial<Disk> = {
    list: (folder) =>
      [...files.keys()].filter((path) => dirname(path) === folder).map((path) => basename(path)),
    stat: () => undefined,
    makeFolder: () => undefined,
    append: (path, text) => void files.set(path, (files.get(path) ?? "") + text),
    read: (path) => files.get(path) ?? "",
  };
  return disk as Disk;
}
