/** What each start of the plugin costs, and a whole preview and up of one resource. */
import { once } from "node:events";
import { spawn } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { gzipSync } from "node:zlib";
import { figure, type Figure, type PartResult } from "../figure";
import { inputsOf, Plugin, urnOf } from "../plugin";
import { Project } from "../project";
import { startService } from "../service";
import { seconds, takeTurns } from "../statistics";
import type { PluginFiles, Tools } from "../tools";

const goPeer = "a Go provider on pulumi-go-provider";
const single = "the single executable";
const launcher = "the launcher, with the Node of the checkout";
const stockPeer = "the server of @pulumi/pulumi/provider";
/** The same, with no service to ask. */
const goAtOnce = "a Go provider that answers at once";
const stockAtOnce = "a stock provider that answers at once";

export async function startup(tools: Tools, quick: boolean): Promise<PartResult> {
  return {
    figures: [
      ...(await starts(tools, quick ? 3 : 21)),
      ...sizes(tools),
      ...(await runs(tools, quick ? 1 : 9)),
    ],
    missing: [],
  };
}

interface Start {
  portMs: number;
  answerMs: number;
  checkMs: number;
  memoryMB: number;
}

async function starts(tools: Tools, runs: number): Promise<Figure[]> {
  const samples = await takeTurns(runs, {
    ours: () => start(tools.ours),
    single: () => start(tools.single),
    go: () => start(tools.go),
    stock: () => start(tools.stock),
    node: emptyNode,
  });
  const compare = (what: string, key: keyof Start, aims: { go?: number; stock?: number } = {}) => {
    const unit: Figure["unit"] = key === "memoryMB" ? "MB" : "ms";
    const values = (peer: readonly Start[]) => peer.map((sample) => sample[key]);
    const each = (against: string, peer: readonly Start[], aim?: number) =>
      figure({
        ...{ what, unit, against, ours: values(samples.ours), theirs: values(peer) },
        ...(aim === undefined ? {} : { aim }),
      });
    return [each(goPeer, samples.go, aims.go), each(stockPeer, samples.stock, aims.stock)];
  };
  return [
    figure({
      ...{ what: "start until the port is printed", unit: "ms", against: "an empty Node program" },
      ours: samples.ours.map(({ portMs }) => portMs),
      theirs: samples.node,
    }),
    ...compare("start until the port is printed", "portMs"),
    ...compare("start until the first answer", "answerMs", { go: 3, stock: 1 / 6 }),
    ...compare("start until the first Check is answered", "checkMs"),
    ...compare("memory after the first Check", "memoryMB"),
    ...(
      [
        [launcher, samples.ours],
        [goPeer, samples.go],
      ] as const
    ).map(([against, peer]) =>
      figure({
        ...{ what: `${single}: start until the first answer`, unit: "ms", against },
        ours: samples.single.map(({ answerMs }) => answerMs),
        theirs: peer.map(({ answerMs }) => answerMs),
      }),
    ),
  ];
}

/** What a person downloads and keeps. */
function sizes({ single: ours, go }: Tools): Figure[] {
  const megabytes = (bytes: number) => [bytes / 1e6];
  const peer = readFileSync(go.executable);
  return [
    figure({
      ...{ what: `${single}: size to download`, unit: "MB", against: goPeer },
      ours: megabytes(statSync(ours.archive).size),
      theirs: megabytes(gzipSync(peer).length),
    }),
    figure({
      ...{ what: `${single}: size on disk`, unit: "MB", against: goPeer },
      ours: megabytes(statSync(ours.executable).size),
      theirs: megabytes(peer.length),
    }),
  ];
}

async function start({ executable }: Pick<PluginFiles, "executable">): Promise<Start> {
  const spawned = performance.now();
  await using plugin = await Plugin.start(executable);
  const { portMs, answerMs } = plugin;
  await plugin.client.check({ urn: urnOf("web"), news: inputsOf("web") });
  return { portMs, answerMs, checkMs: performance.now() - spawned, memoryMB: plugin.memoryMB };
}

/** From the spawn to the first word on stdout: no provider on Node can be quicker. */
async function emptyNode(): Promise<number> {
  const spawned = performance.now();
  const child = spawn(process.execPath, ["-e", "process.stdout.write('0\\n')"]);
  const ended = once(child, "exit");
  await once(child.stdout, "data");
  const ms = performance.now() - spawned;
  await ended;
  return ms;
}

/** A stack of one resource in YAML. Ours makes its requests and looks for the instance all the same. */
async function runs(tools: Tools, count: number): Promise<Figure[]> {
  await using service = await startService({ provisioningSeconds: "0" });
  const measured = async (pluginFolder: string, mine: boolean) => {
    using project = await Project.yaml(tools, {
      ...{ count: 1, pluginFolder },
      ...(mine && { service }),
    });
    // The wait is measured elsewhere.
    if (mine) await project.run("config", "set", "compute:pollIntervalSeconds", "0.01");
    return {
      preview: await seconds(() => project.run("preview")),
      up: await seconds(() => project.run("up", "--yes", "--skip-preview")),
    };
  };
  const samples = await takeTurns(count, {
    ours: () => measured(tools.ours.folder, true),
    single: () => measured(dirname(tools.single.executable), true),
    go: () => measured(tools.go.folder, false),
    stock: () => measured(tools.stock.folder, false),
  });
  return (["preview", "up"] as const).flatMap((command) => {
    const what = `pulumi ${command} of one instance in YAML`;
    const of = (runs: typeof samples.go) => runs.map((sample) => sample[command]);
    const [ours, go, stock] = [of(samples.ours), of(samples.go), of(samples.stock)];
    const unit = "s" as const;
    return [
      figure({ what, unit, ours, against: goAtOnce, theirs: go, aim: 1.4 }),
      figure({ what, unit, ours, against: stockAtOnce, theirs: stock, aim: 1 / 3 }),
      figure({
        ...{ what: `${single}: ${what}`, unit, ours: of(samples.single) },
        ...{ against: goAtOnce, theirs: go, aim: 1.4 },
      }),
    ];
  });
}
