/** Projects of Pulumi and of Terraform, each with its own state, which the real programs run. */
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import metadata from "../metadata.json";
import { captured } from "../tools/support/command";
import { temporaryFolder } from "../tools/support/files";
import { ownPulumi } from "../tools/support/ownPulumi";
import { root } from "../tools/support/paths";
import {
  cursorParameter,
  instanceInputs,
  noLimit,
  token,
  type EmulatorProcess,
} from "./emulatorProcess";
import type { Tools } from "./tools";

/** The engine writes no snapshot after each step, so that a run takes only the time of its work. */
export const noCheckpoints = { PULUMI_SKIP_CHECKPOINTS: "true", PULUMI_EXPERIMENTAL: "true" };

/** In a temporary folder. Its resources are instances. */
export interface Project extends Disposable {
  run(...args: readonly string[]): Promise<void>;
  /** Runs another command in its folder, with its environment. */
  runOther(command: string, ...args: readonly string[]): Promise<void>;
}

/** `flags` follow the arguments of each run. */
function projectIn(
  folder: ReturnType<typeof temporaryFolder>,
  command: string,
  flags: readonly string[],
  env: NodeJS.ProcessEnv,
): Project {
  const runOther = async (other: string, ...args: readonly string[]) => {
    await captured(other, args, { cwd: folder.path, env });
  };
  return {
    run: (...args) => runOther(command, ...args, ...flags),
    runOther,
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

/**
 * Makes a project with a stack. `write` returns the fields of Pulumi.yaml. A peer without requests has no `service`.
 */
async function pulumiProject(
  { toolchain, folder: toolsFolder }: Tools,
  service: EmulatorProcess | undefined,
  moreEnv: NodeJS.ProcessEnv,
  write: (folder: string) => object,
): Promise<Project> {
  const folder = temporaryFolder();
  const env = toolchain.env({
    ...ownPulumi(folder.path),
    ...(service && { COMPUTE_BASE_URL: service.url, COMPUTE_API_TOKEN: token }),
    COMPUTE_API_TOKEN_FILE: "",
    ...moreEnv,
    PATH: [toolsFolder, toolchain.env()["PATH"]].join(":"),
  });
  const flags = ["--non-interactive", "--color=never"];
  const project = projectIn(folder, toolchain.pulumi, flags, env);
  const fields = { name: "bench", ...write(folder.path) };
  // JSON is valid YAML.
  writeFileSync(join(folder.path, "Pulumi.yaml"), JSON.stringify(fields));
  await project.run("stack", "init", "bench");
  return project;
}

/** Where the engine finds a plugin: in a folder that the project names, or installed in a Pulumi home. */
export type PluginPlace = { folder: string } | { home: string };

/**
 * Installs a plugin as a user does, from an executable, a folder or an archive, into a Pulumi home of its own. Its first run
 * leaves the schema there, so that later ones start no process for it.
 */
export async function install(
  { toolchain }: Tools,
  file: string,
): Promise<{ home: string } & Disposable> {
  const folder = temporaryFolder();
  const plugin = ["resource", metadata.name, metadata.version, "--file", file];
  const env = toolchain.env({ PULUMI_HOME: folder.path });
  await captured(toolchain.pulumi, ["plugin", "install", ...plugin], { env });
  return { home: folder.path, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

/** Makes a project in Pulumi YAML. `settings` are for our provider alone. Each name of an instance begins with `prefix`. */
export async function yamlProject(
  tools: Tools,
  options: {
    count: number;
    plugin: PluginPlace;
    service: EmulatorProcess | undefined;
    prefix?: string;
    settings?: Readonly<Record<string, number>>;
    env?: NodeJS.ProcessEnv;
  },
): Promise<Project> {
  const { count, plugin, service, prefix = "", settings = {} } = options;
  const env = "home" in plugin ? { PULUMI_HOME: plugin.home, ...options.env } : options.env;
  const names = Array.from({ length: count }, (_, n) => `web-${n}`);
  const instance = (name: string) => ({
    type: "compute:Instance",
    properties: { name: prefix + name, ...instanceInputs },
  });
  const named = "folder" in plugin && { providers: [{ name: metadata.name, path: plugin.folder }] };
  const project = await pulumiProject(tools, service, env ?? {}, () => ({
    runtime: "yaml",
    ...(named && { plugins: named }),
    resources: Object.fromEntries(names.map((name) => [name, instance(name)])),
  }));
  const all = { requestsPerMinute: noLimit, cursorParameter, ...settings };
  for (const [name, value] of service ? Object.entries(all) : [])
    await project.run("config", "set", `compute:${name}`, String(value));
  return project;
}

/** Makes a project with the dynamic provider in peers/, which lists for each wait, or for all at once. */
export function dynamicProject(
  tools: Tools,
  count: number,
  service: EmulatorProcess,
  lists: "for each" | "for all",
) {
  return pulumiProject(tools, service, { COUNT: String(count), LISTS: lists }, (folder) => {
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
  const folder = temporaryFolder();
  // With this, Terraform needs neither a registry nor `terraform init`.
  writeFileSync(
    join(folder.path, "terraform.rc"),
    `provider_installation {
  dev_overrides { "mastercard/restapi" = ${JSON.stringify(providers)} }
  direct {}
}
`,
  );
  // Its documentation recommends `read_search` for a service that has no call for one object.
  writeFileSync(
    join(folder.path, "main.tf"),
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
  return projectIn(folder, command, flags, env);
}
