/** Measures whole runs of the engine with YAML, beside providers that answer at once without a service. */
import { dirname } from "node:path";
import { figure, seconds, takeTurns, type Figure } from "../figure";
import { noCheckpoints, yamlProject } from "../project";
import { startService, type EmulatorProcess } from "../service";
import type { Tools } from "../tools";

const goPeer = "a Go provider that answers at once";
const stockPeer = "a stock provider that answers at once";

export async function engine(tools: Tools, quick: boolean): Promise<Figure[]> {
  return [
    ...(await oneInstance(tools, quick ? 1 : 9)),
    ...(await manyInstances(tools, quick ? 100 : 300, quick ? 1 : 3)),
  ];
}

async function oneInstance(tools: Tools, runs: number): Promise<Figure[]> {
  await using service = await startService();
  const measure = async (pluginFolder: string, service?: EmulatorProcess) => {
    using project = await yamlProject(tools, { count: 1, pluginFolder, service });
    // waiting.ts measures the wait.
    if (service) await project.run("config", "set", "compute:pollIntervalSeconds", "0.01");
    return {
      preview: await seconds(() => project.run("preview")),
      up: await seconds(() => project.run("up", "--yes", "--skip-preview")),
    };
  };
  const samples = await takeTurns(runs, {
    ours: () => measure(tools.ours.folder, service),
    single: () => measure(dirname(tools.single.executable), service),
    go: () => measure(tools.go.folder),
    stock: () => measure(tools.stock.folder),
  });
  return (["preview", "up"] as const).flatMap((command) => {
    const what = `pulumi ${command} of one instance in YAML`;
    const times = (peer: keyof typeof samples) => samples[peer].map((it) => it[command]);
    const [ours, go, stock] = [times("ours"), times("go"), times("stock")];
    const unit = "s";
    return [
      figure({ what, unit, ours, against: goPeer, theirs: go }),
      figure({ what, unit, ours, against: stockPeer, theirs: stock }),
      figure({
        ...{ what: `the single executable: ${what}`, unit, ours: times("single") },
        ...{ against: goPeer, theirs: go },
      }),
    ];
  });
}

/** With and without the engine's snapshots, which take most of the time. */
async function manyInstances(tools: Tools, count: number, runs: number): Promise<Figure[]> {
  const up = ["up", "--yes", "--skip-preview", "--parallel", String(count)];
  const measure = async (
    pluginFolder: string,
    env: NodeJS.ProcessEnv,
    service?: EmulatorProcess,
  ) => {
    using project = await yamlProject(tools, { count, pluginFolder, env, service });
    if (service) await project.run("config", "set", "compute:pollIntervalSeconds", "0.05");
    return await seconds(() => project.run(...up));
  };
  const measureOurs = async (env: NodeJS.ProcessEnv) => {
    await using service = await startService();
    return await measure(tools.ours.folder, env, service);
  };
  const measurePeer = (env: NodeJS.ProcessEnv) => measure(tools.go.folder, env);
  const samples = await takeTurns(
    runs,
    {
      ours: () => measureOurs({}),
      go: () => measurePeer({}),
      oursBare: () => measureOurs(noCheckpoints),
      goBare: () => measurePeer(noCheckpoints),
    },
    { warm: false },
  );
  const what = `pulumi up of ${count} new instances`;
  const unit = "s";
  return [
    figure({ what, unit, ours: samples.ours, against: goPeer, theirs: samples.go }),
    figure({
      ...{ what: `${what}, without checkpoints`, unit, against: goPeer },
      ...{ ours: samples.oursBare, theirs: samples.goBare },
    }),
  ];
}
