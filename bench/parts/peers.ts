/**
 * Measures an `up` and a preview with a refresh, beside a dynamic provider and Terraform. The instances are so few
 * that the peers stay below the service's rate limit.
 */
import { say } from "../../tools/support/main";
import { figure, seconds, takeTurns, type Figure, type Unit } from "../figure";
import { dynamicProject, terraformProject, yamlProject, type Project } from "../project";
import { requestCounts, startService, type EmulatorProcess } from "../service";
import type { Tools } from "../tools";

interface Run {
  seconds: number;
  requests: number;
}

export async function peers(tools: Tools, quick: boolean): Promise<Figure[]> {
  const count = quick ? 20 : 90;
  const provisioningSeconds = quick ? "4-6" : "9-11";
  const { terraform } = tools;
  if (terraform === undefined) say("Terraform is not measured, because it is not on PATH.");

  const measure = async (
    create: (service: EmulatorProcess) => Project | Promise<Project>,
    commands: { up: readonly string[]; preview: readonly string[] },
  ) => {
    await using service = await startService({ "provisioning-seconds": provisioningSeconds });
    using project = await create(service);
    const runOnce = async (args: readonly string[]): Promise<Run> => {
      await service.control.forgetRequests();
      const time = await seconds(() => project.run(...args));
      return { seconds: time, requests: (await requestCounts(service)).all };
    };
    return { up: await runOnce(commands.up), preview: await runOnce(commands.preview) };
  };
  const parallel = ["--parallel", String(count)];
  const pulumi = {
    up: ["up", "--yes", "--skip-preview", ...parallel],
    preview: ["preview", "--refresh", ...parallel],
  };
  const pluginFolder = tools.ours.folder;
  const samples = await takeTurns(
    quick ? 1 : 3,
    {
      ours: () =>
        measure((service) => yamlProject(tools, { count, pluginFolder, service }), pulumi),
      dynamic: () => measure((service) => dynamicProject(tools, count, service), pulumi),
      terraform:
        terraform &&
        (() =>
          measure((service) => terraformProject(terraform, count, service), {
            ...{ up: ["apply", "-auto-approve"], preview: ["plan"] },
          })),
    },
    { warm: false },
  );

  const compare = (command: "up" | "preview", what: string, names: Record<string, string>) =>
    (["dynamic", "terraform"] as const)
      .filter((peer) => samples[peer].length > 0)
      .flatMap((peer) => {
        const compareOne = (what: string, unit: Unit, field: keyof Run) =>
          figure({
            ...{ what, unit, against: names[peer] ?? "" },
            ours: samples.ours.map((sample) => sample[command][field]),
            theirs: samples[peer].map((sample) => sample[command][field]),
          });
        return [
          compareOne(what, "s", "seconds"),
          compareOne(`${what}: requests`, "requests", "requests"),
        ];
      });
  return [
    ...compare("up", `up of ${count} instances`, {
      dynamic: "a dynamic provider that polls each",
      terraform: "Terraform with restapi, which does not wait",
    }),
    ...compare("preview", `preview with a refresh of ${count} instances`, {
      dynamic: "a dynamic provider",
      terraform: "terraform plan, with restapi",
    }),
  ];
}
