/** Reads the pipeline files in examples/pipelines. The tests of pipelines run the scripts of their jobs. */
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { load } from "js-yaml";
import { root } from "../../../tools/support/paths";

export const directory = join(root, "examples", "pipelines");
export const files = (pattern: string) => globSync(pattern, { cwd: directory }).sort();
export const textOf = (file: string) => readFileSync(join(directory, file), "utf8");

type Strings = Readonly<Record<string, string>>;

/** The parts of the formats of GitHub and GitLab that the examples use. */
interface Step {
  if?: string;
  run?: string;
  uses?: string;
  with?: Strings;
  env?: Strings;
}

interface GitHubJob {
  if?: string;
  uses?: string;
  with?: Strings;
  environment?: string;
  permissions?: Strings;
  "timeout-minutes"?: number;
  concurrency?: unknown;
  env?: Strings;
  steps?: readonly Step[];
}

interface Workflow {
  on: unknown;
  permissions: unknown;
  concurrency?: unknown;
  env?: Strings;
  jobs: Readonly<Record<string, GitHubJob>>;
}

interface GitLabJob {
  extends?: string;
  variables?: Strings;
  environment?: unknown;
  resource_group?: string;
  cache?: readonly { paths: readonly string[] }[];
  before_script?: readonly string[];
  script?: readonly string[];
}

export const workflows = ["github/workflows/*.yml", "small/github-*.yml"]
  .flatMap(files)
  .map((file) => ({ file, ...(load(textOf(file)) as Workflow) }));

export const setupFile = "github/actions/setup/action.yml";
export const setup = load(textOf(setupFile)) as { runs: { steps: readonly Step[] } };

/** The file of the environments, and those of a small project. */
const environments = "gitlab/.gitlab-ci.yml";
export const gitlabFiles = [environments, ...files("small/gitlab-*.yml")];

/** A file for GitLab, which has its jobs by name. */
function gitlabIn(file: string) {
  return load(textOf(file)) as Readonly<Record<string, GitLabJob>> & { variables: Strings };
}

/** Returns a GitLab job, with the fields of the job that it extends, or of the default. */
export function gitlabJob(name: string, file = environments): GitLabJob {
  const { [name]: job, default: common } = gitlabIn(file);
  if (!job) throw new Error(`${file} has no job ${name}`);
  const base = job.extends === undefined ? common : gitlabJob(job.extends, file);
  return { ...base, ...job };
}

/** The name and the file of each GitLab job. */
export const gitlabJobs = gitlabFiles.flatMap((file) =>
  Object.keys(gitlabIn(file))
    .filter((name) => !/^\.|^(workflow|stages|variables|default)$/.test(name))
    .map((name) => ({ name, file, ...gitlabJob(name, file) })),
);

/** Matches the lines that install packages, which are not published yet. The tests have installed them already. */
export const installs = /^(npm ci|pulumi -C \/ plugin install|pulumi install)( |$)/;

export interface Script {
  text: string;
  env: Strings;
}

/** Returns a script for each step of a GitHub job. `contexts` has the values of `${{ … }}` by name. */
export function githubScripts(workflow: string, name: string, contexts: Strings): Script[] {
  const found = workflows.find(({ file }) => basename(file) === workflow);
  const job = found?.jobs[name];
  if (!job) throw new Error(`${workflow} has no job ${name}`);
  if (job.uses !== undefined) {
    const inputs = Object.entries(job.with ?? {}).map(([key, value]) => [`inputs.${key}`, value]);
    const called = { ...contexts, ...(Object.fromEntries(inputs) as Strings) };
    return githubScripts(basename(job.uses), "up", called);
  }
  return (job.steps ?? []).flatMap((step) => {
    const text = step.run ?? previewOf(step);
    if (text === undefined || installs.test(text)) return [];
    const env = Object.entries({ ...found?.env, ...job.env, ...step.env });
    return { text, env: Object.fromEntries(env.map(([key, raw]) => [key, filled(raw, contexts)])) };
  });
}

/** The command that the action pulumi/actions runs for a preview. Undefined for other steps. */
function previewOf({ with: inputs = {} }: Step): string | undefined {
  if (inputs["command"] !== "preview") return undefined;
  return `exec pulumi -C ${inputs["work-dir"] ?? "."} preview --stack ${inputs["stack-name"]}`;
}

/** Replaces each `${{ … }}` by its value. */
function filled(text: string, contexts: Strings): string {
  return text.replace(/\$\{\{ (.*?) \}\}/g, (_, name: string) => {
    const value = contexts[name];
    if (value === undefined) throw new Error(`the test has no value for ${name}`);
    return value;
  });
}

/** Returns the lines of a GitLab job as one script. `variables` has those of GitLab, of the project and of the run. */
export function gitlabScript(name: string, variables: Strings, file = environments): Script {
  const { before_script = [], script = [], ...job } = gitlabJob(name, file);
  const { variables: common } = gitlabIn(file);
  const env: Record<string, string> = { ...variables };
  for (const [key, value] of Object.entries({ ...common, ...job.variables })) {
    env[key] = value.replace(/\$(\w+)/g, (_, name: string) => env[name] ?? "");
  }
  const lines = [...before_script, ...script].filter((line) => !installs.test(line));
  return { text: lines.join("\n"), env };
}
