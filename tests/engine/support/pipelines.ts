/** The files of examples/pipelines, read: their jobs, and the scripts that a forge would run for one. */
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse } from "yaml";
import { root } from "../../../tools/support/paths";

export const directory = join(root, "examples", "pipelines");
export const files = (pattern: string) => globSync(pattern, { cwd: directory }).sort();
export const textOf = (file: string) => readFileSync(join(directory, file), "utf8");

type Texts = Readonly<Record<string, string>>;

/** In the forges' own words, as far as ours use them. */
interface Step {
  if?: string;
  run?: string;
  uses?: string;
  with?: Texts;
  env?: Texts;
}

interface GitHubJob {
  if?: string;
  uses?: string;
  with?: Texts;
  environment?: string;
  permissions?: Texts;
  "timeout-minutes"?: number;
  concurrency?: unknown;
  env?: Texts;
  steps?: readonly Step[];
}

interface Workflow {
  on: unknown;
  permissions: unknown;
  concurrency?: unknown;
  env?: Texts;
  jobs: Readonly<Record<string, GitHubJob>>;
}

interface GitLabJob {
  extends?: string;
  variables?: Texts;
  environment?: unknown;
  resource_group?: string;
  cache?: readonly { paths: readonly string[] }[];
  before_script?: readonly string[];
  script?: readonly string[];
}

export const workflows = files("github/workflows/*.yml").map((file) => ({
  file,
  ...(parse(textOf(file)) as Workflow),
}));

export const setupFile = "github/actions/setup/action.yml";
export const setup = parse(textOf(setupFile)) as { runs: { steps: readonly Step[] } };

export const stepOf = (steps: readonly Step[], action: string) =>
  steps.find(({ uses }) => uses?.startsWith(`${action}@`));

export const gitlabFile = "gitlab/.gitlab-ci.yml";
export const gitlab = parse(textOf(gitlabFile)) as Readonly<Record<string, GitLabJob>> & {
  variables: Texts;
};

/** A job with what it extends. */
export function gitlabJob(name: string): GitLabJob {
  const job = gitlab[name];
  if (!job) throw new Error(`${gitlabFile} has no job ${name}`);
  return job.extends === undefined ? job : { ...gitlabJob(job.extends), ...job };
}

/** Lines that install what is not published yet: the tests have it there already. */
export const installs = /^(npm ci|pulumi plugin install) /;

/** What one shell runs. */
export interface Script {
  text: string;
  env: Texts;
}

/** One for each step of a GitHub job; `contexts` has what a `${{ … }}` may name. */
export function githubScripts(workflow: string, name: string, contexts: Texts): Script[] {
  const found = workflows.find(({ file }) => basename(file) === workflow);
  const job = found?.jobs[name];
  if (!job) throw new Error(`${workflow} has no job ${name}`);
  if (job.uses !== undefined) {
    const inputs = Object.entries(job.with ?? {}).map(([key, value]) => [`inputs.${key}`, value]);
    const called = { ...contexts, ...(Object.fromEntries(inputs) as Texts) };
    return githubScripts(basename(job.uses), "up", called);
  }
  return (job.steps ?? []).flatMap((step) => {
    const text = step.run ?? previewOf(step);
    if (text === undefined) return [];
    const env = Object.entries({ ...found?.env, ...job.env, ...step.env });
    return { text, env: Object.fromEntries(env.map(([key, it]) => [key, filled(it, contexts)])) };
  });
}

/** What pulumi/actions does by the Automation API, of the same CLI; other actions run nothing of ours. */
function previewOf({ with: given = {} }: Step): string | undefined {
  if (given["command"] !== "preview") return undefined;
  return `exec pulumi -C ${given["work-dir"] ?? "."} preview --stack ${given["stack-name"]}`;
}

function filled(text: string, contexts: Texts): string {
  return text.replace(/\$\{\{ (.*?) \}\}/g, (_, name: string) => {
    const value = contexts[name];
    if (value === undefined) throw new Error(`the test gives no ${name}`);
    return value;
  });
}

/** All lines of a GitLab job; `variables` are those of GitLab, of the project, and of who starts it. */
export function gitlabScript(name: string, variables: Texts): Script {
  const { before_script = [], script = [], ...job } = gitlabJob(name);
  const env: Record<string, string> = { ...variables };
  for (const [key, value] of Object.entries({ ...gitlab.variables, ...job.variables })) {
    env[key] = value.replace(/\$(\w+)/g, (_, it: string) => env[it] ?? "");
  }
  const lines = [...before_script, ...script].filter((line) => !installs.test(line));
  return { text: lines.join("\n"), env };
}
