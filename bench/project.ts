/** Projects of Pulumi and of Terraform, each with its own state, which the real programs run. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { captured } from "../tools/support/command";
import { ownPulumi } from "../tools/support/ownPulumi";
import { root } from "../tools/support/paths";
import { cursorParameter, noLimit, token, type EmulatorProcess } from "./service";
import type { Tools } from "./tools";

/** The engine writes no snapshot after each step, so that a run takes only the time of its work. */
export const noCheckpoints = { PULUMI_SKIP_CHECKPOINTS: "true", PULUMI_EXPERIMENTAL: "true" };

/** In a temporary folder. Its resources are instances. */
export interface Project extends Disposable {
  run(...args: string[]): Promise<void>;
}

/**
 * Makes a project with a stack. `write` returns the fields of Pulumi.yaml. A peer without requests has no `service`.
 */
async function createProject(
  { toolchain, folder: toolsFolder }: Tools,
  service: EmulatorProcess | undefined,
  moreEnv: NodeJS.ProcessEnv,
  write: (folder: string) => object,
): Promise<Project> {
  const folder = mkdtempSync(join(tmpdir(), "compute-bench-"));
  const env = toolchain.env({
    ...ownPulumi(folder),
    ...(service && { COMPUTE_BASE_URL: service.url, COMPUTE_API_TOKEN: token }),
    COMPUTE_API_TOKEN_FILE: "",
    ...moreEnv,
    PATH: [toolsFolder, toolchain.env()["PATH"]].join(":"),
  });
  const run = async (...args: string[]) => {
    await captured(toolchain.pulumi, [...args, "--non-interactive", "--color=never"], {
      cwd: folder,
      env,
    });
  };
  // JSON is valid YAML.
  writeFileSync(join(folder, "Pulumi.yaml"), JSON.stringify({ name: "bench", ...write(folder) }));
  await run("stack", "init", "bench");
  return {
    run,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** Makes a project in Pulumi YAML, with the plugin in `pluginFolder`. */
export async function yamlProject(
  tools: Tools,
  options: {
    count: number;
    pluginFolder: string;
    service: EmulatorProcess | undefined;
    env?: NodeJS.ProcessEnv;
  },
): Promise<Project> {
  const { count, pluginFolder, service, env = {} } = options;
  const project = await createProject(tools, service, env, () => ({
    runtime: "yaml",
    plugins: { providers: [{ name: "compute", path: pluginFolder }] },
    resources: Object.fromEntries(
      Array.from({ length: count }, (_, n) => [
        `web-${n}`,
        { type: "compute:Instance", properties: { name: `web-${n}`, ...inputs } },
      ]),
    ),
  }));
  if (service) {
    await project.run("config", "set", "compute:requestsPerMinute", String(noLimit));
    await project.run("config", "set", "compute:cursorParameter", cursorParameter);
  }
  return project;
}

const inputs = { flavorId: "standard-2", imageId: "debian-12", vpcId: "vpc-main" };

/** Makes a project with the dynamic provider in peers/. */
export function dynamicProject(tools: Tools, count: number, service: EmulatorProcess) {
  return createProject(tools, service, { COUNT: String(count) }, (folder) => {
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    symlinkSync(join(root, "bench", "peers", "dynamic"), join(folder, "program"));
    return { runtime: "nodejs", main: "program" };
  });
}

/** Terraform with its generic REST provider (restapi). */
export function terraformProject(
  { command, providers }: NonNullable<Tools["terraform"]>,
  count: number,
  { url }: EmulatorProcess,
): Project {
  const folder = mkdtempSync(join(tmpdir(), "compute-bench-terraform-"));
  // With this, Terraform needs neither a registry nor `terraform init`.
  writeFileSync(
    join(folder, "terraform.rc"),
    `provider_installation {
  dev_overrides { "mastercard/restapi" = ${JSON.stringify(providers)} }
  direct {}
}
`,
  );
  // Its documentation recommends `read_search` for a service that has no call for one object.
  writeFileSync(
    join(folder, "main.tf"),
    `terraform {
  required_providers {
    restapi = { source = "mastercard/restapi" }
  }
}
provider "restapi" {
  uri                  = ${JSON.stringify(url)}
  headers              = { Authorization = "Bearer ${token}", Content-Type = "application/json" }
  write_returns_object = true
  id_attribute         = "id"
}
resource "restapi_object" "web" {
  count       = ${count}
  path        = "/instances"
  read_path   = "/instances"
  read_search = { search_key = "id", search_value = "{id}", results_key = "data", query_string = "limit=100" }
  data = jsonencode({
    name      = "web-\${count.index}"
    flavor_id = "standard-2"
    image_id  = "debian-12"
    vpc_id    = "vpc-main"
  })
}
`,
  );
  // As parallel as the Pulumi engine.
  const flags = ["-input=false", "-no-color", `-parallelism=${count}`];
  const env = { ...process.env, TF_CLI_CONFIG_FILE: "terraform.rc", CHECKPOINT_DISABLE: "1" };
  return {
    run: async (...args) => {
      await captured(command, [...args, ...flags], { cwd: folder, env });
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
