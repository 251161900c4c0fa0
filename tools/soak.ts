/**
 * `npm run soak -- [MINUTES]`: waves of create, refresh and destroy through the built plugin, ten
 * minutes of them if not told otherwise, then a minute of rest. Prints what the plugin uses, and at
 * the end whether it leaks: memory, sockets, timers. Not for Windows, which has no SIGUSR2.
 */
import { setTimeout as wait } from "node:timers/promises";
import { propertyMap, Secret } from "../provider/property/value";
import { connect, type TestClient } from "../provider/rpc/testing/client";
import { TestEngine } from "../provider/rpc/testing/engine";
import { ensureBuilt } from "./build";
import { PluginProcess, type Usage } from "./soak/pluginProcess";
import { growth } from "./soak/growth";
import { wave } from "./soak/wave";
import { EmulatorProcess } from "./support/emulatorProcess";
import { runTool, say, ToolError } from "./support/main";

/** A destroy call, and a limit that does not brake. */
const settings = { destroyPath: "/v2/instances/{id}", requestsPerMinute: 60_000 } as const;

const instancesAWave = 40;
const lineEveryMs = 30_000;
const lookEveryMs = 3000;
const restMs = 60_000;

/** What may be called flat: less than this share more in the last third than in the one before. */
const flat = { rss: 0.1, heap: 0.15 };
const mostCpuAtRest = 0.01;

interface Tally {
  waves: number;
  made: number;
}

async function main(minutes: string): Promise<void> {
  const lastsMs = Number(minutes) * 60_000;
  if (!(lastsMs > 0)) throw new ToolError(`MINUTES must be a number above 0, not "${minutes}".`);
  const executable = await ensureBuilt();
  const engine = await TestEngine.start();
  await using emulator = await EmulatorProcess.start({
    "provisioning-seconds": "0-2",
    "destroy-path": settings.destroyPath,
    "requests-per-minute": settings.requestsPerMinute,
  });
  const plugin = await PluginProcess.start(executable, engine.address);
  const client = connect(plugin.port);
  try {
    await client.handshake(engine.address);
    await client.configure(configuration(emulator.url));
    const tally: Tally = { waves: 0, made: 0 };
    const end = performance.now() + lastsMs;
    const [looks] = await Promise.all([
      watch(plugin, emulator, tally, end),
      waves(client, tally, end),
    ]);
    const failures = [
      ...judge(looks, emulator.port),
      ...(await accounts(emulator, tally)),
      ...(await rest(plugin, emulator.port)),
    ];
    client.close();
    const leaves = await plugin.endsWithItsEngine(20_000);
    say(`The plugin ends with its engine: ${leaves ? "yes" : "NO"}`);
    if (!leaves) failures.push("the plugin outlives its engine");
    if (failures.length > 0) throw new ToolError(`LEAKS: ${failures.join("; ")}`);
    say("FLAT: no memory, socket or timer is left behind.");
  } finally {
    client.close();
    plugin.stop();
    engine.stop();
  }
}

function configuration(baseUrl: string) {
  const apiToken = new Secret("sk_test_soak");
  return propertyMap({ baseUrl, apiToken, ...settings, pollIntervalSeconds: 0.5 });
}

async function waves(client: TestClient, tally: Tally, end: number): Promise<void> {
  while (performance.now() < end) {
    tally.made += (await wave(client, instancesAWave)).length;
    tally.waves++;
  }
}

/** Looks often, since the least of many is what is left after a garbage collection; says it seldom. */
async function watch(
  plugin: PluginProcess,
  { port, control }: EmulatorProcess,
  tally: Tally,
  end: number,
): Promise<Usage[]> {
  const least: Usage[] = [];
  const start = performance.now();
  let window: Usage[] = [];
  say("    time  RSS MB  heap MB  sockets  to service    waves  instances  requests");
  while (performance.now() < end) {
    await wait(lookEveryMs);
    window.push(await plugin.usage());
    if (window.length < lineEveryMs / lookEveryMs) continue;
    const lowest = window.reduce((a, b) => (b.heapMb < a.heapMb ? b : a));
    least.push(lowest);
    window = [];
    const requests = Object.values(await control.counts()).reduce((sum, count) => sum + count, 0);
    const columns: [string | number, number][] = [
      [`${Math.round((performance.now() - start) / 1000)} s`, 8],
      [lowest.rssMb.toFixed(1), 8],
      [lowest.heapMb.toFixed(1), 9],
      [lowest.sockets, 9],
      [lowest.socketsTo(port), 12],
      [tally.waves, 9],
      [tally.made, 11],
      [requests, 10],
    ];
    say(columns.map(([value, width]) => String(value).padStart(width)).join(""));
  }
  return least;
}

/** A connection that is kept for each request at a time, and one of its own for each POST (G2). */
const mostSockets = 2 * instancesAWave + 5;

function judge(looks: readonly Usage[], port: number): string[] {
  const most = Math.max(...looks.map((look) => look.socketsTo(port)));
  say(`At most ${most} sockets to the service, for ${instancesAWave} instances at once`);
  const failures = most > mostSockets ? ["sockets pile up"] : [];
  if (looks.length < 6) {
    say("Too short to judge the memory: that takes three minutes.");
    return failures;
  }
  const grown = {
    rss: growth(looks.map(({ rssMb }) => rssMb)),
    heap: growth(looks.map(({ heapMb }) => heapMb)),
  };
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  say(
    `Grown from the second third to the last: RSS ${percent(grown.rss)}, heap ${percent(grown.heap)}`,
  );
  const growing = (["rss", "heap"] as const).filter((what) => grown[what] > flat[what]);
  return [...failures, ...growing.map((what) => `${what} grows`)];
}

/** Nothing lost, nothing twice, over all the waves. */
async function accounts({ control }: EmulatorProcess, { made }: Tally): Promise<string[]> {
  const left = (await control.instances()).length;
  const posts = (await control.counts())["POST /v2/instances"] ?? 0;
  say(`Instances made ${made}, POSTs ${posts}, left at the service ${left}`);
  return left === 0 && posts === made ? [] : ["instances and POSTs do not match"];
}

/** An idle plugin does nothing, and closes its connections to the service once they are not kept alive. */
async function rest(plugin: PluginProcess, port: number): Promise<string[]> {
  await wait(restMs / 4);
  const before = await plugin.usage();
  await wait(restMs);
  const after = await plugin.usage();
  const cpu = after.cpuSeconds - before.cpuSeconds;
  const open = after.socketsTo(port);
  say(`At rest for ${restMs / 1000} s: ${cpu.toFixed(3)} s of CPU, ${open} sockets to the service`);
  return [
    ...(cpu > (mostCpuAtRest * restMs) / 1000 ? ["the plugin is busy at rest"] : []),
    ...(open > 0 ? ["sockets stay open at rest"] : []),
  ];
}

runTool({ allowPositionals: true }, ({ positionals: [minutes = "10"] }) => main(minutes));
