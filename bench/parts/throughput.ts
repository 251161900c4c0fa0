/** Many creates at once: the time and the memory of each, and nothing that grows with their number. */
import { figure, type Figure, type PartResult } from "../figure";
import { inputsOf, Plugin, urnOf } from "../plugin";
import { noCheckpoints, Project } from "../project";
import { startService, token } from "../service";
import { seconds, takeTurns } from "../statistics";
import type { Tools } from "../tools";

/** The wait is measured elsewhere: the first look comes at once. */
const quickLook = 0.05;

export async function throughput(tools: Tools, quick: boolean): Promise<PartResult> {
  const sizes = quick ? [100, 1000] : [100, 300, 1000];
  return {
    figures: [
      ...(await creates(tools, sizes, quick ? 1 : 7)),
      ...(await engineRuns(tools, quick ? 100 : 300, quick ? 1 : 3)),
    ],
    missing: [],
  };
}

interface Creates {
  msEach: number;
  /** Memory that came with the creates, of each. */
  kBEach: number;
}

async function creates(tools: Tools, sizes: readonly number[], runs: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  const perInstance = new Map<number, number[]>();
  for (const size of sizes) {
    const samples = await takeTurns(runs, {
      ours: () => ourCreates(tools, size),
      go: () => goCreates(tools, size),
      limit: () => barePosts(size),
    });
    const what = `${size} creates at once over gRPC, each`;
    const ours = samples.ours.map(({ msEach }) => msEach);
    perInstance.set(size, ours);
    figures.push(
      figure({
        ...{ what, unit: "ms", ours, theirs: samples.limit },
        against: "a bare client sending the same POSTs",
      }),
      figure({
        ...{ what, unit: "ms", ours, theirs: samples.go.map(({ msEach }) => msEach) },
        against: "a Go provider that answers at once",
      }),
      figure({
        ...{ what: `${size} creates at once: memory of each`, unit: "kB" },
        ours: samples.ours.map(({ kBEach }) => kBEach),
        against: "a Go provider that answers at once",
        theirs: samples.go.map(({ kBEach }) => kBEach),
      }),
    );
  }
  const [fewest = 0, most = 0] = [sizes[0], sizes.at(-1)];
  figures.push(
    figure({
      ...{ what: `time of each create among ${most}`, unit: "ms" },
      ours: perInstance.get(most) ?? [],
      against: `of each among ${fewest}, by the same provider`,
      theirs: perInstance.get(fewest) ?? [],
      // Nothing quadratic.
      aim: 1,
    }),
  );
  return figures;
}

async function ourCreates(tools: Tools, size: number): Promise<Creates> {
  await using service = await startService({ provisioningSeconds: "0" });
  await using plugin = await Plugin.start(tools.ours.executable);
  await plugin.configure(service, { pollIntervalSeconds: quickLook });
  return await createAll(plugin, size);
}

async function goCreates(tools: Tools, size: number): Promise<Creates> {
  await using plugin = await Plugin.start(tools.go.executable);
  return await createAll(plugin, size);
}

async function createAll(plugin: Plugin, size: number): Promise<Creates> {
  // Another one first: what is loaded for the first call is not of each.
  const create = (name: string) =>
    plugin.client.create({ urn: urnOf(name), inputs: inputsOf(name) });
  await create("first");
  const before = plugin.memoryMB;
  const names = Array.from({ length: size }, (_, n) => `web-${n}`);
  const wall = await seconds(() => Promise.all(names.map(create)));
  return {
    msEach: (wall * 1000) / size,
    // Less than one can't be told from nothing.
    kBEach: Math.max(1, ((plugin.memoryMB - before) * 1024) / size),
  };
}

async function barePosts(size: number): Promise<number> {
  await using service = await startService({ provisioningSeconds: "0" });
  const post = async (name: string) => {
    const response = await fetch(`${service.url}/instances`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ name, flavor_id: "standard-2", image_id: "d", vpc_id: "v" }),
    });
    if (response.status !== 202) throw new Error(`POST answered ${response.status}`);
    await response.text();
  };
  await post("first");
  const names = Array.from({ length: size }, (_, n) => `web-${n}`);
  return ((await seconds(() => Promise.all(names.map(post)))) * 1000) / size;
}

/** Whole runs of the real engine, whose snapshots are most of the time unless it takes none. */
async function engineRuns(tools: Tools, count: number, runs: number): Promise<Figure[]> {
  const up = ["up", "--yes", "--skip-preview", "--parallel", String(count)];
  const ours = async (env: NodeJS.ProcessEnv) => {
    await using service = await startService({ provisioningSeconds: "0" });
    const pluginFolder = tools.ours.folder;
    using project = await Project.yaml(tools, { count, pluginFolder, service });
    await project.run("config", "set", "compute:pollIntervalSeconds", String(quickLook));
    return await seconds(() => project.runWith(env, ...up));
  };
  const floor = async (env: NodeJS.ProcessEnv) => {
    using project = await Project.yaml(tools, { count, pluginFolder: tools.go.folder });
    return await seconds(() => project.runWith(env, ...up));
  };
  const samples = await takeTurns(
    runs,
    {
      ours: () => ours({}),
      floor: () => floor({}),
      oursBare: () => ours(noCheckpoints),
      floorBare: () => floor(noCheckpoints),
    },
    { warm: false },
  );
  const against = "a Go provider that answers at once";
  const what = `pulumi up of ${count} new instances`;
  return [
    figure({ what, unit: "s", ours: samples.ours, against, theirs: samples.floor }),
    figure({
      ...{ what: `${what}, without checkpoints`, unit: "s", against },
      ours: samples.oursBare,
      theirs: samples.floorBare,
    }),
  ];
}
