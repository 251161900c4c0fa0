/** Measures the time and memory of a start of the plugin, and the size of the single executable. */
import { readFileSync, statSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { figure, takeTurns, type Figure } from "../figure";
import { inputsOf, startPlugin, urnOf } from "../plugin";
import type { Tools } from "../tools";

const goPeer = "a Go provider on pulumi-go-provider";
const stockPeer = "the server of @pulumi/pulumi/provider";
const single = "the single executable";

export async function startup(tools: Tools, quick: boolean): Promise<Figure[]> {
  const samples = await takeTurns(quick ? 3 : 21, {
    ours: () => start(tools.ours),
    single: () => start(tools.single),
    go: () => start(tools.go),
    stock: () => start(tools.stock),
  });
  type Peer = keyof typeof samples;
  const answer = (what: string, ours: Peer, against: string, peer: Peer) =>
    figure({
      ...{ what, unit: "ms", ours: samples[ours].map((it) => it.answerMs) },
      ...{ against, theirs: samples[peer].map((it) => it.answerMs) },
    });
  const memory = (against: string, peer: Peer) =>
    figure({
      ...{ what: "memory after the first Check", unit: "MB", against },
      ours: samples.ours.map((it) => it.memoryMB),
      theirs: samples[peer].map((it) => it.memoryMB),
    });
  const what = "start until the first answer";
  return [
    answer(what, "ours", goPeer, "go"),
    answer(what, "ours", stockPeer, "stock"),
    memory(goPeer, "go"),
    memory(stockPeer, "stock"),
    answer(`${single}: ${what}`, "single", "the launcher, with the Node of the checkout", "ours"),
    answer(`${single}: ${what}`, "single", goPeer, "go"),
    ...sizes(tools),
  ];
}

async function start({ executable }: { executable: string }) {
  await using plugin = await startPlugin(executable);
  await plugin.client.check({ urn: urnOf("web"), news: inputsOf("web") });
  return { answerMs: plugin.answerMs, memoryMB: plugin.memoryMB() };
}

/** Compares the archive that a person downloads, and the installed executable. */
function sizes({ single: ours, go }: Tools): Figure[] {
  const goExecutable = readFileSync(go.executable);
  return [
    figure({
      ...{ what: `${single}: size to download`, unit: "MB", against: goPeer },
      ours: [statSync(ours.archive).size / 1e6],
      theirs: [gzipSync(goExecutable).length / 1e6],
    }),
    figure({
      ...{ what: `${single}: size on disk`, unit: "MB", against: goPeer },
      ours: [statSync(ours.executable).size / 1e6],
      theirs: [goExecutable.length / 1e6],
    }),
  ];
}
