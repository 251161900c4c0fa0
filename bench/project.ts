/** A Pulumi project with a stack, a home and a state of its own, run by the real engine. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { captured } from "../tools/support/command";
import { ownPulumi } from "../tools/support/ownPulumi";
import { root } from "../tools/support/paths";
import { cursorParameter, noLimit, token, type Service } from "./service";
import type { Tools } from "./tools";

/** The engine writes no snapshot after each step: what is left is the work itself. */
export const noCheckpoints = { PULUMI_SKIP_CHECKPOINTS: "true", PULUMI_EXPERIMENTAL: "true" };

export class Project implements Disposable {
  private readonly folder = mkdtempSync(join(tmpdir(), "compute-bench-"));
  private readonly env: NodeJS.ProcessEnv;

  private constructor(
    private readonly tools: Tools,
    env: NodeJS.ProcessEnv,
  ) {
    this.env = tools.toolchain.env({
      ...ownPulumi(this.folder),
      ...env,
      PATH: [tools.folder, tools.toolchain.env()["PATH"]].join(":"),
    });
  }

  /** `count` instances in Pulumi YAML, of the provider whose plugin is in `pluginFolder`. */
  static async yaml(
    tools: Tools,
    options: { count: number; pluginFolder: string; service?: Service },
  ): Promise<Project> {
    const { count, pluginFolder, service } = options;
    const project = new Project(tools, service ? surroundings(service) : {});
    const resources = Array.from({ length: count }, (_, n) => [`web-${n}`, instance(`web-${n}`)]);
    project.write("Pulumi.yaml", {
      name: "bench",
      runtime: "yaml",
      plugins: { providers: [{ name: "compute", path: pluginFolder }] },
      resources: Object.fromEntries(resources) as object,
    });
    await project.run("stack", "init", "bench");
    for (const [name, value] of Object.entries(service ? settings : {}))
      await project.run("config", "set", `compute:${name}`, value);
    return project;
  }

  /** The TypeScript program of a peer, with `COUNT` for how many instances it is to make. */
  static async program(
    tools: Tools,
    options: { folder: string; count: number; service: Service },
  ): Promise<Project> {
    const { folder, count, service } = options;
    const project = new Project(tools, { COUNT: String(count), ...surroundings(service) });
    project.write("Pulumi.yaml", { name: "bench", runtime: "nodejs", main: "program" });
    symlinkSync(join(root, "node_modules"), join(project.folder, "node_modules"));
    symlinkSync(folder, join(project.folder, "program"));
    await project.run("stack", "init", "bench");
    return project;
  }

  async run(...args: string[]): Promise<void> {
    await this.runWith({}, ...args);
  }

  async runWith(env: NodeJS.ProcessEnv, ...args: string[]): Promise<void> {
    await captured(this.tools.toolchain.pulumi, [...args, "--non-interactive", "--color=never"], {
      cwd: this.folder,
      env: { ...this.env, ...env },
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  private write(name: string, content: object): void {
    // JSON is YAML.
    writeFileSync(join(this.folder, name), JSON.stringify(content));
  }
}

/** A wait is a benchmark of its own; elsewhere the first look comes at once. */
const settings = {
  requestsPerMinute: String(noLimit),
  cursorParameter,
};

function surroundings(service: Service): NodeJS.ProcessEnv {
  return { COMPUTE_BASE_URL: service.url, COMPUTE_API_TOKEN: token };
}

function instance(name: string): object {
  return {
    type: "compute:Instance",
    properties: { name, flavorId: "standard-2", imageId: "debian-12", vpcId: "vpc-main" },
  };
}
