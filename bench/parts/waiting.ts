/** Waiting for instances that take 10 s ± 1, as many as the service takes at once. */
import { join } from "node:path";
import { documentedRequestsPerMinute } from "../../provider/api/serviceConstants";
import { settingsFrom } from "../../provider/config/settings";
import { root } from "../../tools/support/paths";
import { besidePeers, type Figure, type PartResult } from "../figure";
import { Project } from "../project";
import { countsOf, startService, type Service } from "../service";
import { seconds, takeTurns } from "../statistics";
import { TerraformProject } from "../terraform";
import type { Tools } from "../tools";
import { figuresOf, wait } from "../wait";

/** By default. */
const { pollIntervalMs } = settingsFrom({ baseUrl: "", apiToken: "sk_test_any" });
const late = {
  against: "half the longest poll interval and 100 ms",
  ms: pollIntervalMs / 2 + 100,
};

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
      ...figuresOf(`${size} ${size === 1 ? "instance" : "instances"} at once`, {
        size,
        waits: samples[size] ?? [],
        late,
      }),
    );
  }
  const peers = await againstPeers(tools, { size: quick ? 20 : 90, provisioningSeconds, runs });
  return { figures: [...figures, ...peers.figures], missing: peers.missing };
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
  return besidePeers(`up of ${size} instances`, samples, {
    dynamic: "a dynamic provider that polls each",
    terraform: "Terraform with restapi, which does not wait",
  });
}

const limitSize = 1000;

/**
 * More creates than the service's limit allows in a minute, which puts the last POSTs into the next one:
 * what is ACTIVE meanwhile is to be seen all the same. Takes 75 s, also with `--quick`.
 */
export async function limit(tools: Tools): Promise<PartResult> {
  const requestsPerMinute = documentedRequestsPerMinute;
  const options = { size: limitSize, provisioningSeconds: "9-11", requestsPerMinute };
  const what = `${limitSize} instances within ${requestsPerMinute} requests a minute`;
  const late = { against: "two seconds", ms: 2000 };
  const waits = [await wait(tools, options)];
  return { figures: figuresOf(what, { size: limitSize, waits, late }), missing: [] };
}
