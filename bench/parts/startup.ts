/** Measures the time and memory of a start of the plugin, and the size of the single executable. */
import { readFileSync, statSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { figure, takeTurns, type Figure } from "../figure";
import { inputsOf, startPlugin, urnOf } from "../plugin";
import { goPeer, stockPeer, type Tools } from "../tools";

const barePeer = "an HTTP/2 server on Node with nothing in it";
const single = "the single executable";

export async function startup(tools: Tools, quick: boolean): Promise<Figure[]> {
  const samples = await takeTurns(quick ? 3 : 21, {
    ours: () => start(tools.ours),
    single: () => start(tools.single),
    go: () => start(tools.go),
    stock: () => start(tools.stock),
    bare: () => start(tools.bare),
  });
  type Peer = keyof typeof samples;
  const times = (peer: Peer) => samples[peer].map((sample) => sample.answerMs);
  const memory = (peer: Peer) => samples[peer].map((sample) => sample.memoryMB);
  const remembered = "memory after the first Check";
  const what = "start until the first answer";
  const launcher = "the launcher, with the Node of the checkout";
  return [
    figure(what, "ms", times("ours"), barePeer, times("bare")),
    figure(what, "ms", times("ours"), goPeer, times("go")),
    figure(what, "ms", times("ours"), stockPeer, times("stock")),
    figure(remembered, "MB", memory("ours"), goPeer, memory("go")),
    figure(remembered, "MB", memory("ours"), stockPeer, memory("stock")),
    figure(`${single}: ${what}`, "ms", times("single"), launcher, times("ours")),
    figure(`${single}: ${what}`, "ms", times("single"), goPeer, times("go")),
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
  const megabytes = (file: string) => [statSync(file).size / 1e6];
  const download = [gzipSync(goExecutable).length / 1e6];
  const installed = [goExecutable.length / 1e6];
  return [
    figure(`${single}: size to download`, "MB", megabytes(ours.archive), goPeer, download),
    figure(`${single}: size on disk`, "MB", megabytes(ours.executable), goPeer, installed),
  ];
}
