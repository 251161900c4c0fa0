/** Measures `settle` and `audit` if all is well, beside the Pulumi CLI, which they run to read states. */
import { startService } from "../emulatorProcess";
import { figure, seconds, takeTurns, type Figure } from "../figure";
import { yamlProject } from "../project";
import type { Tools } from "../tools";

export async function commands(tools: Tools, quick: boolean): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const count of [3, 30]) figures.push(...(await ofStacks(tools, count, quick ? 1 : 5)));
  return figures;
}

/** Each stack has an instance. */
async function ofStacks(tools: Tools, count: number, runs: number): Promise<Figure[]> {
  await using service = await startService();
  using project = await yamlProject(tools, {
    count: 1,
    plugin: tools.ours,
    service,
    prefix: "${pulumi.stack}-",
    settings: { pollIntervalSeconds: 0.01 },
  });
  const stacks = Array.from({ length: count }, (_, n) => (n === 0 ? "bench" : `bench-${n}`));
  for (const stack of stacks) {
    if (stack !== "bench") await project.run("stack", "init", stack, "--copy-config-from", "bench");
    await project.run("up", "--yes", "--skip-preview", "--stack", stack);
  }
  await project.run("stack", "select", "bench");
  const exported = async (some: readonly string[]) => {
    for (const stack of some) await project.run("stack", "export", "--stack", stack);
  };
  const times = await takeTurns(runs, {
    settle: () => seconds(() => project.runOther(tools.ours.executable, "settle")),
    audit: () => seconds(() => project.runOther(tools.ours.executable, "audit")),
    one: () => seconds(() => exported(["bench"])),
    all: () => seconds(() => exported(stacks)),
  });
  const well = `with ${count} stacks, if all is well`;
  return [
    figure(`settle ${well}`, "s", times.settle, "`pulumi stack export` of one", times.one),
    figure(`audit ${well}`, "s", times.audit, "`pulumi stack export` of each in turn", times.all),
  ];
}
