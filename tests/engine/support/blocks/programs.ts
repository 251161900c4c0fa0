/**
 * Checks the Python and YAML code blocks of the documentation. The real engine previews each block against the
 * emulator, and the preview must create an Instance.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../../../tools/support/paths";
import { languages, missingTools, installed, type Installed } from "../installing";
import { tokens } from "../stack";
import { Fixture } from "../fixture";
import type { Check, Report, Sample } from "./samples";

export const python: Check = {
  skipReason: () => missingTools(languages.Python),

  async run(samples, report) {
    await preview(
      await installed(languages.Python),
      samples,
      (sample, project) => {
        writeFileSync(join(project, "__main__.py"), sample.text);
      },
      report,
    );
  },
};

/** A YAML block is a program or a part of one. The missing keys of Pulumi.yaml are added. */
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

/** The keys that a YAML block may lack. */
const defaults = {
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
  const rest = Object.entries(defaults).filter(([key]) => !keys.has(key));
  // Every JSON value is valid YAML.
  const head = rest.map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`).join("");
  return head + text;
}

/** Previews all samples on one stack, because a preview leaves nothing behind. */
async function preview(
  { project, env }: Installed,
  samples: readonly Sample[],
  write: (sample: Sample, project: string) => void,
  report: Report,
): Promise<void> {
  await using fixture = await Fixture.create({ program: project, env });
  const { stack, service } = fixture;
  stack.setEnv("COMPUTE_BASE_URL", service.url);
  // Some of the programs read this setting.
  await stack.succeed("config", "set", "--secret", "sandboxToken", tokens.test);
  for (const sample of samples) {
    write(sample, stack.project);
    const { code, output } = await stack.preview();
    const createsInstance = /^ *\+ .*compute:.*Instance/m.test(output);
    if (code !== 0 || !createsInstance)
      report(sample, `pulumi preview ended with ${code}:\n${output}`);
  }
}
