/**
 * `npm run soak -- [MINUTES]`: waves of create, refresh and destroy through the built plugin, ten minutes
 * of them if not told otherwise, then half a minute of rest. Prints what the plugin uses, and at the end
 * whether it leaks: memory, and on Linux open files, sockets among them. Not for Windows, which has no `ps`.
 */
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { inputsOf, startPlugin, urnOf, type Plugin } from "../bench/plugin";
import { startService } from "../bench/service";
import { ensureBuilt } from "./build";
import { runTool, say, ToolError } from "./support/main";

const destroyPath = "/v2/instances/{id}";
const instancesAWave = 40;
const lookEveryMs = 3000;
/** Looks for a line: the least of many is what is left after a garbage collection. */
const looksALine = 10;
/** Longer than a connection that is not used is kept. */
const restMs = 30_000;

/** Memory may grow by less than this share from the second third of the lines to the last. */
const flat = 0.1;
/** What the first create opens for good: the ledger, and the way to the engine's log. */
const openedOnce = 5;
/** A connection that is kept for each request at a time, one of its own for each POST (G2), and what is no socket. */
const mostOpen = 2 * instancesAWave + 50;

async function main(minutes: string): Promise<void> {
  const lastsMs = Number(minutes) * 60_000;
  if (!(lastsMs > 0)) throw new ToolError(`MINUTES must be a number above 0, not "${minutes}".`);
  const executable = await ensureBuilt();
  await using service = await startService({
    "provisioning-seconds": "0-2",
    "destroy-path": destroyPath,
  });
  await using plugin = await startPlugin(executable);
  await plugin.configure(service, { destroyPath, pollIntervalSeconds: 0.5 });
  const openFirst = openFiles(plugin);
  const end = performance.now() + lastsMs;
  let made = 0;
  const waves = async () => {
    while (performance.now() < end) made += await wave(plugin);
  };
  const lines: { memory: number; open: number }[] = [];
  const watch = async () => {
    say("  memory MB  open files  instances");
    while (performance.now() < end) {
      const line = { memory: Infinity, open: 0 };
      for (let look = 0; look < looksALine && performance.now() < end; look++) {
        await wait(lookEveryMs);
        line.memory = Math.min(line.memory, plugin.memoryMB());
        line.open = Math.max(line.open, openFiles(plugin));
      }
      lines.push(line);
      const cells = [line.memory.toFixed(1), line.open, made];
      say(cells.map((cell) => String(cell).padStart(11)).join(""));
    }
  };
  await Promise.all([waves(), watch()]);
  await wait(restMs);

  const posts = (await service.control.counts())["POST /v2/instances"] ?? 0;
  const left = (await service.control.instances()).length;
  const openLast = openFiles(plugin);
  say(`Instances made ${made}, POSTs ${posts}, left at the service ${left}`);
  say(`Open files before ${openFirst}, after ${openLast}`);
  const failures = left === 0 && posts === made ? [] : ["instances and POSTs do not match"];
  if (openLast > openFirst + openedOnce) failures.push("files stay open at rest");
  if (lines.some(({ open }) => open > mostOpen)) failures.push("open files pile up");
  if (lines.length < 6) say("Too short to judge the memory: that takes three minutes.");
  else {
    const grown = growth(lines.map(({ memory }) => memory));
    say(`Memory grown from the second third to the last: ${(grown * 100).toFixed(1)} %`);
    if (grown > flat) failures.push("memory grows");
  }
  if (failures.length > 0) throw new ToolError(`LEAKS: ${failures.join("; ")}`);
  say("FLAT: no memory or open file is left behind.");
}

/** Creates, reads, diffs and destroys instances, all at once, as the engine would; returns how many. */
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
  await Promise.all(Array.from({ length: instancesAWave }, (_, n) => each(`web-${n}`)));
  if (ids.size !== instancesAWave) throw new Error("two resources have the same instance");
  return instancesAWave;
}

/** 0 where the system does not show them. */
function openFiles({ pid }: Plugin): number {
  return process.platform === "linux" ? readdirSync(`/proc/${String(pid)}/fd`).length : 0;
}

/** How much more, as a share, the last third of a series holds than the third before it. */
function growth(series: readonly number[]): number {
  const third = Math.floor(series.length / 3);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return sum(series.slice(-third)) / sum(series.slice(-2 * third, -third)) - 1;
}

runTool({ allowPositionals: true }, ({ positionals: [minutes = "10"] }) => main(minutes));
