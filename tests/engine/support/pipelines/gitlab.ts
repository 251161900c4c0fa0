/** A runner of GitLab's pipelines, as far as ours need one: a job's lines as they stand in the checkout. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { Outcome } from "../running";
import type { EnvironmentName, Forge } from "./forge";
import type { Machine } from "./machine";

interface Job {
  extends?: string;
  variables?: Readonly<Record<string, string>>;
  environment?: { name: string };
  before_script?: readonly string[];
  script?: readonly string[];
}

type Pipeline = Readonly<Record<string, Job>> & { variables?: Readonly<Record<string, string>> };

export interface JobOutcome extends Outcome {
  /** Where it ran, and where its artifacts are. */
  machine: Machine;
}

/** Runs a job of the file at `commit`; `variables` are those of GitLab and of who starts it. */
export async function runJob(
  forge: Forge,
  name: string,
  commit: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<JobOutcome> {
  const machine = forge.machine({ GITLAB_CI: "true" });
  await machine.checkOut(forge.repository, commit);
  const text = readFileSync(join(machine.workspace, ".gitlab-ci.yml"), "utf8");
  const pipeline = parse(text) as Pipeline;
  const job = extended<Job>(pipeline, name);
  const env: Record<string, string> = { CI_PROJECT_DIR: machine.workspace, ...variables };
  for (const [key, value] of Object.entries({ ...pipeline.variables, ...job.variables })) {
    env[key] = expanded(value, env);
  }
  const environment = expanded(job.environment?.name ?? "", env).split("/")[0] as EnvironmentName;
  const { secrets, vars } = forge.environments[environment];
  machine.pulumiHome = env["PULUMI_HOME"] ?? machine.pulumiHome;
  const lines = [...(job.before_script ?? []), ...(job.script ?? [])];
  const script = lines.filter((line) => !machine.standsIn(line)).join("\n");
  const shell = ["-e", "-o", "pipefail"];
  const outcome = await machine.run(script, { ...secrets, ...vars, ...env }, shell).ended;
  return { ...outcome, machine };
}

/** A job with what it extends. */
export function extended<Its extends { extends?: string }>(
  pipeline: Readonly<Record<string, Its>>,
  name: string,
): Its {
  const job = pipeline[name];
  if (!job) throw new Error(`.gitlab-ci.yml has no job ${name}`);
  return job.extends === undefined ? job : { ...extended(pipeline, job.extends), ...job };
}

function expanded(text: string, env: Readonly<Record<string, string>>): string {
  return text.replace(/\$(\w+)/g, (_, key: string) => env[key] ?? "");
}
