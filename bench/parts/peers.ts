/**
 * Measures an `up` and a preview with a refresh, beside dynamic providers and Terraform. The instances are so few
 * that the peers stay below the service's rate limit.
 */
import { say } from "../../tools/support/main";
import { figure, seconds, takeTurns, type Figure } from "../figure";
import { dynamicProject, terraformProject, yamlProject, type Project } from "../project";
import { requestCounts, startService, type EmulatorProcess } from "../emulatorProcess";
import type { Tools } from "../tools";

/** The arguments of Pulumi or Terraform. */
interface Commands {
  up: readonly string[];
  preview: readonly string[];
}

type Peer = "dynamic" | "dynamicForAll" | "terraform";

/** One run of both commands. */
type Sample = Record<keyof Commands, { seconds: number; requests: number }>;

type Create = (service: EmulatorProcess) => Project | Promise<Project>;

export async function peers(tools: Tools, quick: boolean): Promise<Figure[]> {
  const count = quick ? 20 : 90;
  const { terraform } = tools;
  if (terraform === undefined) say("Terraform is not measured, because it is not on PATH.");
  const provisioningSeconds = quick ? "4-6" : "9-11";
  const measureWith = (commands: Commands) => (create: Create) => () =>
    measure(create, commands, provisioningSeconds);
  const parallel = ["--parallel", String(count)];
  const pulumi = measureWith({
    up: ["up", "--yes", "--skip-preview", ...parallel],
    preview: ["preview", "--refresh", ...parallel],
  });
  const ofTerraform = measureWith({ up: ["apply", "-auto-approve"], preview: ["plan"] });
  const contestants = {
    ours: pulumi((service) => yamlProject(tools, { count, plugin: tools.ours, service })),
    dynamic: pulumi((service) => dynamicProject(tools, count, service, "for each")),
    dynamicForAll: pulumi((service) => dynamicProject(tools, count, service, "for all")),
    terraform: terraform && ofTerraform((service) => terraformProject(terraform, count, service)),
  };
  return figuresOf(await takeTurns(quick ? 1 : 3, contestants, { warm: false }), count);
}

async function measure(
  create: Create,
  commands: Commands,
  provisioningSeconds: string,
): Promise<Sample> {
  await using service = await startService({ "provisioning-seconds": provisioningSeconds });
  using project = await create(service);
  const runOnce = async (args: readonly string[]) => {
    await service.control.forgetRequests();
    const time = await seconds(() => project.run(...args));
    return { seconds: time, requests: (await requestCounts(service)).all };
  };
  return { up: await runOnce(commands.up), preview: await runOnce(commands.preview) };
}

function figuresOf(samples: Record<"ours" | Peer, Sample[]>, count: number): Figure[] {
  const compare = (command: keyof Commands, what: string, against: string, peer: Peer) => {
    if (samples[peer].length === 0) return [];
    const all = (field: "seconds" | "requests", of: "ours" | Peer) =>
      samples[of].map((sample) => sample[command][field]);
    return [
      figure(what, "s", all("seconds", "ours"), against, all("seconds", peer)),
      figure(
        `${what}: requests`,
        "requests",
        all("requests", "ours"),
        against,
        all("requests", peer),
      ),
    ];
  };
  const forAll = "a dynamic provider that lists once for all";
  const up = `up of ${count} instances`;
  const preview = `preview with a refresh of ${count} instances`;
  return [
    ...compare("up", up, "a dynamic provider that polls each", "dynamic"),
    ...compare("up", up, forAll, "dynamicForAll"),
    ...compare("up", up, "Terraform with restapi, which does not wait", "terraform"),
    ...compare("preview", preview, "a dynamic provider", "dynamic"),
    ...compare("preview", preview, forAll, "dynamicForAll"),
    ...compare("preview", preview, "terraform plan, with restapi", "terraform"),
  ];
}
