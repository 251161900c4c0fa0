/**
 * Waiting for instances that take 10 s ± 1: the time beyond the slowest instance's own, the list
 * requests, and how long after "ACTIVE at the service" each Create returns.
 */
import { join } from "node:path";
import { pageLimit } from "../../provider/api/documented";
import { settingsFrom } from "../../provider/config/settings";
import { root } from "../../tools/support/paths";
import { figure, type Figure, type PartResult } from "../figure";
import { inputsOf, Plugin, urnOf } from "../plugin";
import { Project } from "../project";
import { countsOf, startService, type Service } from "../service";
import { median, seconds, takeTurns } from "../statistics";
import { TerraformProject } from "../terraform";
import type { Tools } from "../tools";

/** By default. */
const { pollIntervalMs } = settingsFrom({ baseUrl: "", apiToken: "sk_test_any" });

interface Wait {
  /** From the first call to the last answer. */
  wallSeconds: number;
  /** From the first call until the service had the last instance ready: nobody can be quicker. */
  limitSeconds: number;
  listings: number;
  /** From ready at the service to the answer, of each instance. */
  latenessMs: number;
}

export async function waiting(tools: Tools, quick: boolean): Promise<PartResult> {
  const sizes = quick ? [1, 100] : [1, 10, 100, 300, 1000];
  const provisioningSeconds = quick ? "4-6" : "9-11";
  const runs = quick ? 1 : 3;
  const figures: Figure[] = [];

  const bySize = Object.fromEntries(
    sizes.map((size) => [size, () => wait(tools, { size, provisioningSeconds })]),
  );
  const samples = await takeTurns(runs, bySize, { warm: false });
  for (const size of sizes) {
    figures.push(
      ...figuresOf(
        `${size} ${size === 1 ? "instance" : "instances"} at once`,
        size,
        samples[size] ?? [],
      ),
    );
  }
  if (!quick) {
    // The 1000 requests a minute that the service allows put the last POSTs into the next minute.
    const limited = await wait(tools, { size: 1000, provisioningSeconds, requestsPerMinute: 1000 });
    figures.push(...figuresOf("1000 instances within 1000 requests a minute", 1000, [limited]));
  }
  const peers = await againstPeers(tools, { size: quick ? 20 : 90, provisioningSeconds, runs });
  return { figures: [...figures, ...peers.figures], missing: peers.missing };
}

async function wait(
  tools: Tools,
  options: { size: number; provisioningSeconds: string; requestsPerMinute?: number },
): Promise<Wait> {
  const { size, ...serviceOptions } = options;
  await using service = await startService(serviceOptions);
  await using plugin = await Plugin.start(tools.ours.executable);
  const { requestsPerMinute } = options;
  await plugin.configure(service, requestsPerMinute === undefined ? {} : { requestsPerMinute });

  const start = Date.now();
  const names = Array.from({ length: size }, (_, n) => `web-${n}`);
  const returned = await Promise.all(
    names.map(async (name) => {
      const { id } = await plugin.client.create({ urn: urnOf(name), inputs: inputsOf(name) });
      return [id, Date.now()] as const;
    }),
  );
  const end = Date.now();

  const instances = await service.control.instances();
  const readyAt = new Map(instances.map(({ id, ready_at }) => [id, Date.parse(ready_at ?? "")]));
  const { listings } = await countsOf(service);
  return {
    wallSeconds: (end - start) / 1000,
    limitSeconds: (Math.max(...readyAt.values()) - start) / 1000,
    listings,
    latenessMs: median(returned.map(([id, at]) => at - (readyAt.get(id) ?? NaN))),
  };
}

function figuresOf(what: string, size: number, waits: readonly Wait[]): Figure[] {
  const pages = Math.ceil(size / pageLimit.max);
  return [
    figure({
      what: `${what}: until all are created`,
      unit: "s",
      ours: waits.map(({ wallSeconds }) => wallSeconds),
      against: "the slowest instance's own time",
      theirs: waits.map(({ limitSeconds }) => limitSeconds),
    }),
    figure({
      what: `${what}: list requests per second of waiting`,
      unit: "requests/s",
      ours: waits.map(({ listings, wallSeconds }) => listings / wallSeconds),
      against: `one look a second at ${pages} ${pages === 1 ? "page" : "pages"}`,
      theirs: [pages],
    }),
    figure({
      what: `${what}: from ACTIVE at the service to the answer, median`,
      unit: "ms",
      ours: waits.map(({ latenessMs }) => latenessMs),
      against: "half the longest poll interval and 100 ms",
      theirs: [pollIntervalMs / 2 + 100],
      aim: 1,
    }),
  ];
}

/** The same number of instances by a whole `up` of each: what a person waits, what the service gets. */
async function againstPeers(
  tools: Tools,
  { size, provisioningSeconds, runs }: { size: number; provisioningSeconds: string; runs: number },
): Promise<PartResult> {
  const up = ["up", "--yes", "--skip-preview", "--parallel", String(size)];
  const { terraform } = tools;
  const measured = async (run: (service: Service) => Promise<number>) => {
    await using service = await startService({ provisioningSeconds });
    return { wall: await run(service), requests: (await countsOf(service)).all };
  };
  const samples = await takeTurns(
    runs,
    {
      ours: () =>
        measured(async (service) => {
          const pluginFolder = tools.ours.folder;
          using project = await Project.yaml(tools, { count: size, pluginFolder, service });
          return await seconds(() => project.run(...up));
        }),
      dynamic: () =>
        measured(async (service) => {
          const folder = join(root, "bench", "peers", "dynamic");
          using project = await Project.program(tools, { folder, count: size, service });
          return await seconds(() => project.run(...up));
        }),
      terraform:
        terraform &&
        (() =>
          measured(async (service) => {
            using project = new TerraformProject(terraform, service, size);
            return await seconds(() => project.run("apply"));
          })),
    },
    { warm: false },
  );
  const compare = (against: string, theirs: { wall: number; requests: number }[]) => [
    figure({
      what: `up of ${size} instances`,
      unit: "s",
      ours: samples.ours.map(({ wall }) => wall),
      against,
      theirs: theirs.map(({ wall }) => wall),
    }),
    figure({
      what: `up of ${size} instances: requests`,
      unit: "requests",
      ours: samples.ours.map(({ requests }) => requests),
      against,
      theirs: theirs.map(({ requests }) => requests),
    }),
  ];
  return {
    figures: [
      ...compare("a dynamic provider that polls each", samples.dynamic),
      ...(terraform
        ? compare("Terraform with restapi, which does not wait", samples.terraform)
        : []),
    ],
    missing: terraform
      ? []
      : [{ what: "up of Terraform with restapi", why: "no terraform on PATH" }],
  };
}
