/** Waiting for instances that take 10 s ± 1, as many as the service takes at once. */
import { join } from "node:path";
import { settingsFrom } from "../../provider/config/settings";
import { root } from "../../tools/support/paths";
import { figure, type Figure, type PartResult } from "../figure";
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
