/** Reading back what exists: the list requests of a refresh, and whole refreshes and empty updates. */
import { join } from "node:path";
import { root } from "../../tools/support/paths";
import { besidePeers, figure, type Figure, type PartResult } from "../figure";
import { inputsOf, Plugin, urnOf } from "../plugin";
import { noCheckpoints, Project } from "../project";
import { countsOf, cursorParameter, startService, type Service, token } from "../service";
import { seconds, takeTurns } from "../statistics";
import { TerraformProject } from "../terraform";
import type { Tools } from "../tools";

const ready = { provisioningSeconds: "0" };

export async function refresh(tools: Tools, quick: boolean): Promise<PartResult> {
  const sizes = quick ? [300] : [300, 1000];
  const runs = quick ? 2 : 5;
  const figures: Figure[] = [];
  for (const size of sizes) figures.push(...(await reads(tools, size, runs)));
  for (const size of sizes) figures.push(...(await engineRuns(tools, size, quick ? 1 : 3)));
  const peers = await againstPeers(tools, quick ? 20 : 90, quick ? 1 : 3);
  return { figures: [...figures, ...peers.figures], missing: peers.missing };
}

/** Reads of all at once, straight to the plugin, by a new process each time as in every run. */
async function reads(tools: Tools, size: number, runs: number): Promise<Figure[]> {
  await using service = await startService(ready);
  const names = Array.from({ length: size }, (_, n) => `web-${n}`);
  const made = await (async () => {
    await using plugin = await Plugin.start(tools.ours.executable);
    await plugin.configure(service, { pollIntervalSeconds: 0.05 });
    const create = async (name: string) => {
      const urn = urnOf(name);
      return { urn, ...(await plugin.client.create({ urn, inputs: inputsOf(name) })) };
    };
    return await Promise.all(names.map(create));
  })();

  const samples = await takeTurns(runs, {
    ours: async () => {
      await using plugin = await Plugin.start(tools.ours.executable);
      await plugin.configure(service);
      await service.control.forgetRequests();
      const read = async ({ urn, id, outputs }: (typeof made)[number], n: number) => {
        const inputs = inputsOf(names[n] ?? "");
        const found = await plugin.client.read({ urn, id, inputs, outputs });
        if (found?.id !== id) throw new Error(`${id} was not found`);
      };
      const ms = 1000 * (await seconds(() => Promise.all(made.map(read))));
      return { ms, listings: (await countsOf(service)).listings };
    },
    limit: async () => 1000 * (await seconds(() => listAll(service.url))),
  });
  const pages = Math.ceil(size / 100);
  return [
    figure({
      what: `refresh of ${size} instances: list requests`,
      unit: "requests",
      ours: samples.ours.map(({ listings }) => listings),
      against: `the ${pages} pages there are`,
      theirs: [pages],
      aim: 4,
    }),
    figure({
      what: `refresh of ${size} instances, over gRPC`,
      unit: "ms",
      ours: samples.ours.map(({ ms }) => ms),
      against: "a bare client listing once",
      theirs: samples.limit,
    }),
  ];
}

async function listAll(url: string): Promise<void> {
  for (let after = ""; ;) {
    const response = await fetch(`${url}/instances?limit=100${after}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const page = (await response.json()) as { data: { id: string }[]; has_more: boolean };
    if (!page.has_more) return;
    after = `&${cursorParameter}=${page.data.at(-1)?.id ?? ""}`;
  }
}

/** With the real engine, against the same run of a provider that answers at once. */
async function engineRuns(tools: Tools, count: number, runs: number): Promise<Figure[]> {
  await using service = await startService(ready);
  const { folder: pluginFolder } = tools.ours;
  using ours = await Project.yaml(tools, { count, pluginFolder, service });
  using floor = await Project.yaml(tools, { count, pluginFolder: tools.go.folder });
  const parallel = ["--yes", "--skip-preview", "--parallel", String(count)];
  for (const project of [ours, floor]) await project.runWith(noCheckpoints, "up", ...parallel);

  const listings: number[] = [];
  const runEach = {
    refreshOurs: async () => {
      await service.control.forgetRequests();
      const wall = await seconds(() => ours.run("refresh", ...parallel));
      listings.push((await countsOf(service)).listings);
      return wall;
    },
    refreshFloor: () => seconds(() => floor.run("refresh", ...parallel)),
    upOurs: () => seconds(() => ours.run("up", ...parallel)),
    upFloor: () => seconds(() => floor.run("up", ...parallel)),
  };
  const samples = await takeTurns(runs, runEach, { warm: false });
  const against = "a Go provider that answers at once";
  const pages = Math.ceil(count / 100);
  return [
    figure({
      what: `pulumi refresh of ${count} instances: list requests`,
      unit: "requests",
      ours: listings,
      against: `the ${pages} pages there are`,
      theirs: [pages],
      aim: 4,
    }),
    figure({
      ...{ what: `pulumi refresh of ${count} instances`, unit: "s", against },
      ours: samples.refreshOurs,
      theirs: samples.refreshFloor,
    }),
    figure({
      ...{ what: `pulumi up of ${count} instances with nothing to do`, unit: "s", against },
      ours: samples.upOurs,
      theirs: samples.upFloor,
    }),
  ];
}

/** What asks the service about each instance, at a size that its rate limit lets the peers have. */
async function againstPeers(tools: Tools, count: number, runs: number): Promise<PartResult> {
  const { terraform } = tools;
  await using services = new AsyncDisposableStack();
  const start = async () => services.use(await startService(ready));
  const [mine, theirs, another] = [await start(), await start(), await start()];
  using ours = await Project.yaml(tools, { count, pluginFolder: tools.ours.folder, service: mine });
  const folder = join(root, "bench", "peers", "dynamic");
  using dynamic = await Project.program(tools, { folder, count, service: theirs });
  using other = terraform && new TerraformProject(terraform, another, count);
  const parallel = ["--parallel", String(count)];
  for (const project of [ours, dynamic])
    await project.run("up", "--yes", "--skip-preview", ...parallel);
  await other?.run("apply");

  const measured = async (service: Service, run: () => Promise<void>) => {
    await service.control.forgetRequests();
    return { wall: await seconds(run), requests: (await countsOf(service)).all };
  };
  const preview = ["preview", "--refresh", ...parallel];
  const runEach = {
    ours: () => measured(mine, () => ours.run(...preview)),
    dynamic: () => measured(theirs, () => dynamic.run(...preview)),
    terraform: other && (() => measured(another, () => other.run("plan"))),
  };
  const samples = await takeTurns(runs, runEach, { warm: false });
  return besidePeers(`preview with a refresh of ${count} instances`, samples, {
    dynamic: "a dynamic provider",
    terraform: "terraform plan, with restapi",
  });
}
