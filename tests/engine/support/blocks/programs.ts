/**
 * Checks the Python, YAML and HCL code blocks of the documentation. The real engine previews each block against the
 * emulator, and the preview must create an Instance or read one. mypy checks the types of the Python blocks.
 */
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { captured } from "../../../../tools/support/command";
import { ensurePythonTools } from "../../../../tools/support/python";
import { root } from "../../../../tools/support/paths";
import { languages, missingTools, installed, WorkingCopy, type Installed } from "../installing";
import { required } from "../programs";
import { tokens } from "../stack";
import { Fixture } from "../fixture";
import type { Check, Report, Sample } from "./samples";

export const python: Check = {
  skipReason: () => missingTools(languages.Python),

  async run(samples, report) {
    const write = (project: string, text: string) =>
      writeFileSync(join(project, "__main__.py"), text);
    await preview(await installed(languages.Python), samples, write, report);
  },
};

/** A YAML block is a program or a part of one. The missing keys of Pulumi.yaml are added. */
export const yaml: Check = {
  async run(samples, report) {
    const write = (project: string, text: string) =>
      writeFileSync(join(project, "Pulumi.yaml"), wholeProject(text));
    using folder = new WorkingCopy();
    // The fixture adds the plugin to this file.
    writeFileSync(join(folder.project, "Pulumi.yaml"), "name: blocks\nruntime: yaml\n");
    await preview({ project: folder.project, env: {} }, samples, write, report);
  },
};

/** An HCL block is a whole program. */
export const hcl: Check = {
  skipReason: () => missingTools(languages.HCL),

  async run(samples, report) {
    const write = (project: string, text: string) => writeFileSync(join(project, "main.tf"), text);
    using folder = new WorkingCopy();
    writeFileSync(join(folder.project, "Pulumi.yaml"), "name: blocks\nruntime: hcl\n");
    await preview({ project: folder.project, env: {} }, samples, write, report);
  },
};

/** The keys that a YAML block may lack. */
const defaults = {
  name: "blocks",
  runtime: "yaml",
  plugins: { providers: [{ name: "compute", path: join(root, "bin") }] },
  resources: {
    web: { type: "compute:Instance", properties: required },
  },
};

function wholeProject(text: string): string {
  const keys = new Set([...text.matchAll(/^(\w+):/gm)].map(([, key]) => key));
  // A function's result is a variable, and needs no resource.
  if (keys.has("variables")) keys.add("resources");
  const rest = Object.entries(defaults).filter(([key]) => !keys.has(key));
  // Every JSON value is valid YAML.
  const head = rest.map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`).join("");
  return head + text;
}

/**
 * Checks the types of Python programs, with the SDK that is published. (`pulumi package add` writes one without the
 * finishing touches of tools/sdk/languages.ts.) Returns the output of mypy: a line for each error.
 */
export async function typeErrors(programs: readonly string[]): Promise<string> {
  using folder = new WorkingCopy();
  const cwd = folder.project;
  cpSync(
    join(root, "examples", "instance-python", "requirements.txt"),
    join(cwd, "requirements.txt"),
  );
  await languages.Python.installPackedSdk(cwd);
  const files = programs.map((_, index) => `program_${index}.py`);
  for (const [index, file] of files.entries())
    writeFileSync(join(cwd, file), programs[index] ?? "");
  const mypy = join(await ensurePythonTools("types"), "mypy");
  const options = ["--python-executable=venv/bin/python", "--no-error-summary"];
  return await captured(mypy, [...options, ...files], { cwd }).catch(String);
}

/** Previews all samples on one stack, because a preview leaves nothing behind. */
async function preview(
  { project, env }: Installed,
  samples: readonly Sample[],
  write: (project: string, text: string) => void,
  report: Report,
): Promise<void> {
  await using fixture = await Fixture.create({ program: project, env });
  const { stack, service } = fixture;
  stack.setEnv("COMPUTE_BASE_URL", service.url);
  // What the examples read.
  fixture.control.insert({ id: "i-123", name: "db-main" });
  // Some of the programs read this setting.
  await stack.succeed("config", "set", "--secret", "sandboxToken", tokens.test);
  for (const sample of samples) {
    write(stack.project, sample.text);
    const before = fixture.control.requests().length;
    const problem = await stack.preview().then((output) => {
      const creates = /^ *\+ .*compute:.*Instance/m.test(output);
      return creates || fixture.control.requests().length > before ? undefined : output;
    }, String);
    if (problem !== undefined) report(sample, problem);
  }
}
