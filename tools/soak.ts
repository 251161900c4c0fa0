/**
 * `npm run soak -- [MINUTES]`: creates, refreshes and destroys instances in waves with the built plugin, for ten
 * minutes by default. It prints the plugin's memory and open files (on Linux only), and at the end whether it leaks
 * any. It needs `ps`.
 */
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { inputsOf, startPlugin, urnOf, type Plugin } from "../bench/plugin";
import { startService } from "../bench/service";
import { ensureBuilt } from "./build";
import { runTool, say, ToolError } from "./support/main";

const destroyPath = "/v2/instances/{id}";
const waveSize = 40;
const sampleEveryMs = 3000;
/** The smallest of these is about the memory after a garbage collection. */
const samplesPerLine = 10;
/** Longer than the plugin keeps an unused connection. */
const restMs = 30_000;

/** How much more memory the last third of the lines may have than the second. */
const maxGrowth = 0.1;
/** The ledger, and the connection to the engine's log. */
const maxKeptOpen = 5;
/** For each instance, one kept connection and one for its POST, which never shares one (G2); and some files. */
const maxOpen = 2 * waveSize + 50;

async function main(minutes: string): Promise<void> {
  const durationMs = Number(minutes) * 60_000;
  if (!(durationMs > 0)) throw new ToolError(`MINUTES must be a number above 0, not "${minutes}".`);
  const executable = await ensureBuilt();
  await using service = await startService({
    "provisioning-seconds": "0-2",
    "destroy-path": destroyPath,
  });
  await using plugin = await startPlugin(executable);
  await plugin.configure(service, { destroyPath, pollIntervalSeconds: 0.5 });
  const openFirst = openFiles(plugin);
  const end = performance.now() + durationMs;
  let created = 0;
  const waves = async () => {
    while (performance.now() < end) created += await wave(plugin);
  };
  const lines: { memory: number; open: number }[] = [];
  const watch = async () => {
    say("  memory MB  open files  instances");
    while (performance.now() < end) {
      const line = { memory: Infinity, open: 0 };
      for (let sample = 0; sample < samplesPerLine && performance.now() < end; sample++) {
        await wait(sampleEveryMs);
        line.memory = Math.min(line.memory, plugin.memoryMB());
        line.open = Math.max(line.open, openFiles(plugin));
      }
      lines.push(line);
      const cells = [line.memory.toFixed(1), line.open, created];
      say(cells.map((cell) => String(cell).padStart(11)).join(""));
    }
  };
  await Promise.all([waves(), watch()]);
  await wait(restMs);

  const posts = (await service.control.counts())["POST /v2/instances"] ?? 0;
  const remaining = (await service.control.instances()).length;
  const openLast = openFiles(plugin);
  say(`Instances created ${created}, POSTs ${posts}, left at the service ${remaining}`);
  say(`Open files before ${openFirst}, after ${openLast}`);
  const failures: string[] = [];
  if (remaining > 0 || posts !== created)
    failures.push("the service counted other instances or POSTs than the waves made");
  if (openLast > openFirst + maxKeptOpen) failures.push("files stay open at rest");
  if (lines.some(({ open }) => open > maxOpen)) failures.push("open files pile up");
  if (lines.length < 6)
    say("The run was too short to judge the memory, which takes three minutes.");
  else {
    const grown = growth(lines.map(({ memory }) => memory));
    say(`Memory grown from the second third to the last: ${(grown * 100).toFixed(1)} %`);
    if (grown > maxGrowth) failures.push("memory grows");
  }
  if (failures.length > 0) throw new ToolError(`LEAKS: ${failures.join("; ")}`);
  say("FLAT: no leak of memory or open files.");
}

/** Creates, reads, diffs and deletes `waveSize` instances at once. Returns their number. */
async function wave({ client }: Plugin): Promise<number> {
  const ids = new Set<string>();
  const each = async (name: string) => {
    const urn = urnOf(name);
    const news = inputsOf(name);
    const { inputs } = await client.check({ urn, news, randomSeed: randomBytes(32) });
    const { id, outputs } = await client.create({ urn, inputs });
    ids.add(id);
    const read = await client.read({ urn, id, inputs, outputs });
    if (read?.id !== id) throw new Error(`${id} was not read`);
    const existing = { urn, id, oldInputs: inputs, oldOutputs: outputs };
    const { diffsList } = await client.diff({ ...existing, news: inputs });
    if (diffsList.length > 0) throw new Error(`${id} differs: ${diffsList.join(", ")}`);
    await client.delete(existing);
  };
  await Promise.all(Array.from({ length: waveSize }, (_, n) => each(`web-${n}`)));
  if (ids.size !== waveSize) throw new Error("two resources have the same instance");
  return waveSize;
}

/** Returns 0 on systems that do not show it. */
function openFiles({ pid }: Plugin): number {
  return process.platform === "linux" ? readdirSync(`/proc/${String(pid)}/fd`).length : 0;
}

/** Returns the share by which the last third is larger than the third before it. */
function growth(series: readonly number[]): number {
  const third = Math.floor(series.length / 3);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return sum(series.slice(-third)) / sum(series.slice(-2 * third, -third)) - 1;
}

runTool({ allowPositionals: true }, ({ positionals: [minutes = "10"] }) => main(minutes));
