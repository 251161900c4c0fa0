/** Measures whole runs of the engine with YAML, beside providers that answer at once without a service. */
import { dirname } from "node:path";
import { figure, seconds, takeTurns, type Figure } from "../figure";
import { install, noCheckpoints, yamlProject, type PluginPlace } from "../project";
import { startService, type EmulatorProcess } from "../emulatorProcess";
import type { Tools } from "../tools";

const goPeer = "a Go provider that answers at once";
const stockPeer = "a stock provider that answers at once";

export async function engine(tools: Tools, quick: boolean): Promise<Figure[]> {
  return [
    ...(await oneInstance(tools, quick ? 1 : 9)),
    ...(await manyInstances(tools, 100, quick ? 1 : 7)),
    ...(quick ? [] : await manyInstances(tools, 300, 3)),
  ];
}

async function oneInstance(tools: Tools, runs: number): Promise<Figure[]> {
  await using service = await startService();
  // waiting.ts measures the wait.
  const settings = { pollIntervalSeconds: 0.01 };
  using ours = await install(tools, tools.ours.folder);
  using single = await install(tools, tools.single.archive);
  using go = await install(tools, tools.go.executable);
  const measure = async (plugin: PluginPlace, service?: EmulatorProcess) => {
    using project = await yamlProject(tools, { count: 1, plugin, service, settings });
    return {
      preview: await seconds(() => project.run("preview")),
      up: await seconds(() => project.run("up", "--yes", "--skip-preview")),
    };
  };
  const samples = await takeTurns(runs, {
    ours: () => measure(tools.ours, service),
    single: () => measure({ folder: dirname(tools.single.executable) }, service),
    go: () => measure(tools.go),
    stock: () => measure(tools.stock),
    // The first round, which does not count, is also the first run of each installed plugin.
    oursInstalled: () => measure(ours, service),
    singleInstalled: () => measure(single, service),
    goInstalled: () => measure(go),
  });
  return (["preview", "up"] as const).flatMap((command) => {
    const what = `pulumi ${command} of one instance in YAML`;
    const installed = `${what}, installed`;
    const times = (peer: keyof typeof samples) => samples[peer].map((sample) => sample[command]);
    return [
      figure(what, "s", times("ours"), goPeer, times("go")),
      figure(what, "s", times("ours"), stockPeer, times("stock")),
      figure(installed, "s", times("oursInstalled"), goPeer, times("goInstalled")),
      figure(`the single executable: ${what}`, "s", times("single"), goPeer, times("go")),
      figure(
        `the single executable: ${installed}`,
        "s",
        times("singleInstalled"),
        goPeer,
        times("goInstalled"),
      ),
    ];
  });
}

/**
 * With and without the engine's snapshots, which take most of the time. The Go provider has the same inputs and outputs, and
 * needs no service; here the emulator runs on the same cores. With 400 instances and without snapshots, half of the CPU time
 * is the plugin's: a quarter of that gRPC and its messages, an eighth the garbage collection, a seventh the requests, and a
 * twentieth the ledger. A snapshot has 3.4 kB of each instance, and 2.9 kB of one of the Go provider, which has no hidden
 * outputs, and no null for an input that the program does not set.
 */
async function manyInstances(tools: Tools, count: number, runs: number): Promise<Figure[]> {
  const up = ["up", "--yes", "--skip-preview", "--parallel", String(count)];
  const measure = async (plugin: PluginPlace, env: object, service?: EmulatorProcess) => {
    const options = { count, plugin, env: { ...env }, service };
    using project = await yamlProject(tools, options);
    return await seconds(() => project.run(...up));
  };
  const measureOurs = async (env: object) => {
    await using service = await startService();
    return await measure(tools.ours, env, service);
  };
  const contestants = {
    ours: () => measureOurs({}),
    go: () => measure(tools.go, {}),
    oursBare: () => measureOurs(noCheckpoints),
    goBare: () => measure(tools.go, noCheckpoints),
  };
  const { ours, go, oursBare, goBare } = await takeTurns(runs, contestants, { warm: false });
  const what = `pulumi up of ${count} new instances`;
  return [
    figure(what, "s", ours, goPeer, go),
    figure(`${what}, without checkpoints`, "s", oursBare, goPeer, goBare),
  ];
}
