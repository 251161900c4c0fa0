/** Programs that say little until they run: each is previewed by the real engine, against the emulator. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../../../tools/support/paths";
import { guests, hindrance, installed, type Installed } from "../installing";
import { tokens } from "../stack";
import { Fixture } from "../fixture";
import type { Check, Report, Sample } from "./samples";

export const python: Check = {
  hindrance: () => hindrance(guests.Python),

  async run(samples, report) {
    await preview(
      await installed(guests.Python),
      samples,
      (sample, project) => {
        writeFileSync(join(project, "__main__.py"), sample.text);
      },
      report,
    );
  },
};

/** A program, or a part of a project's file: what it lacks of one is put before it. */
export const yaml: Check = {
  async run(samples, report) {
    const project = mkdtempSync(join(tmpdir(), "compute-blocks-"));
    try {
      writeFileSync(join(project, "Pulumi.yaml"), "name: blocks\nruntime: yaml\n");
      await preview(
        { project, env: {} },
        samples,
        (sample, copy) => {
          writeFileSync(join(copy, "Pulumi.yaml"), wholeProject(sample.text));
        },
        report,
      );
    } finally {
      rmSync(project, { recursive: true, force: true });
    }
  },
};

const lacking = {
  name: "blocks",
  runtime: "yaml",
  plugins: { providers: [{ name: "compute", path: join(root, "bin") }] },
  resources: {
    web: {
      type: "compute:Instance",
      properties: { flavorId: "standard-2", imageId: "debian-12", vpcId: "vpc-main" },
    },
  },
};

function wholeProject(text: string): string {
  const keys = new Set([...text.matchAll(/^(\w+):/gm)].map(([, key]) => key));
  const rest = Object.entries(lacking).filter(([key]) => !keys.has(key));
  // JSON is YAML.
  const head = rest.map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`).join("");
  return head + text.replaceAll("path: ../../bin", `path: ${join(root, "bin")}`);
}

/** One stack for all of them: a preview leaves nothing behind. */
async function preview(
  { project, env }: Installed,
  samples: readonly Sample[],
  write: (sample: Sample, project: string) => void,
  report: Report,
): Promise<void> {
  await using fixture = await Fixture.create({ program: project, env });
  const { stack, service } = fixture;
  stack.setEnv("COMPUTE_BASE_URL", service.url);
  // What the programs ask for.
  await stack.succeed("config", "set", "--secret", "sandboxToken", tokens.test);
  for (const sample of samples) {
    write(sample, stack.project);
    const { code, output } = await stack.preview();
    const creates = /^ *\+ .*compute:.*Instance/m.test(output);
    if (code !== 0 || !creates) report(sample, `pulumi preview ended with ${code}:\n${output}`);
  }
}
