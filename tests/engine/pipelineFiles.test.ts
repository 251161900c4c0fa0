/** Checks the files of examples/pipelines with linters, with schemas and with rules of this project. */
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { loadAll } from "js-yaml";
import metadata from "../../metadata.json";
import { commandsIn } from "../../tools/docs/commandLines";
import { ensureGoTool } from "../../tools/go/tools";
import { captured } from "../../tools/support/command";
import { requiredVersion } from "../../tools/support/go";
import { root } from "../../tools/support/paths";
import { ensurePythonTools } from "../../tools/support/python";
import { missingGo, missingPython, testUnless } from "../../tools/support/unless";
import { problemWith } from "./support/blocks/shell";
import {
  directory,
  files,
  gitlabFiles,
  gitlabJob,
  gitlabJobs,
  installs,
  setup,
  setupFile,
  textOf,
  workflows,
} from "./support/pipelines";

const changes = /\bpulumi (?:-C \S+ )?(?:up|destroy|cancel)\b/;
const jobs = workflows.flatMap((workflow) =>
  Object.entries(workflow.jobs).map(([name, job]) => ({
    title: `${workflow.file}: ${name}`,
    workflow,
    job,
    steps: job.steps ?? [],
  })),
);
const programTests = ["npm ci --ignore-scripts", "npm test"];

const scratch = mkdtempSync(join(tmpdir(), "compute-pipelines-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

testUnless(missingGo(), "actionlint finds no problem in the GitHub files", async () => {
  cpSync(join(directory, "github"), join(scratch, ".github"), { recursive: true });
  for (const file of files("small/github-*.yml"))
    cpSync(join(directory, file), join(scratch, ".github", "workflows", basename(file)));
  await captured("git", ["init", "--quiet"], { cwd: scratch });
  // GitHub's own schema, which the next test takes, has `queue`. This version of actionlint does not know it.
  const ignored = 'unexpected key "queue" for "concurrency" section';
  const args = ["-no-color", "-ignore", ignored];
  const findings = await captured(await ensureGoTool("actionlint"), args, { cwd: scratch });
  expect(findings).toBe("");
});

for (const [schema, subjects] of [
  [["vendor.github-workflows"], workflows.map(({ file }) => file)],
  [["vendor.github-actions"], [setupFile]],
  [["vendor.gitlab-ci", "--data-transform", "gitlab-ci"], gitlabFiles],
] as const) {
  testUnless(missingPython(), `the files match the schema ${schema[0]}`, async () => {
    const paths = subjects.map((file) => join(directory, file));
    const checker = join(await ensurePythonTools("schemas"), "check-jsonschema");
    await captured(checker, ["--builtin-schema", ...schema, ...paths]);
  });
}

describe("GitHub", () => {
  test("each action is pinned to a commit, and has the same version everywhere in this repository", () => {
    const own = globSync(join(root, ".github", "workflows", "*.yml"));
    const texts = [
      ...files("{github,small}/**/*.yml").map(textOf),
      ...own.map((path) => readFileSync(path)),
    ];
    const used = [...texts.join("\n").matchAll(/uses: (.*@.*)/g)].map(([, action = ""]) => action);
    const versions = new Map<string, string>();
    for (const action of used) {
      expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
      const [, repository = "", version = ""] = /^([\w-]+\/[\w-]+).*@(.*)$/.exec(action) ?? [];
      expect([repository, versions.get(repository) ?? version]).toEqual([repository, version]);
      versions.set(repository, version);
    }
  });

  test.each(workflows)(
    "$file: the workflow grants no permission, and passes no secret to a whole workflow or job",
    (workflow) => {
      expect(workflow.permissions).toEqual({});
      expect(textOf(workflow.file)).not.toContain("pull_request_target");
      // A secret of a whole job would reach the steps that install packages.
      const shared = [workflow, ...Object.values(workflow.jobs)].flatMap(({ env }) =>
        Object.values(env ?? {}),
      );
      expect(shared.join()).not.toContain("secrets.");
    },
  );

  test.each(jobs)(
    "$title: permissions, time-out, concurrency, environment and use of the token",
    ({ job, workflow, steps }) => {
      const { contents, ...more } = job.permissions ?? {};
      expect(contents).toBe("read");
      expect(["id-token", "pull-requests"]).toEqual(expect.arrayContaining(Object.keys(more)));
      if (job.uses !== undefined) return;
      expect(job["timeout-minutes"]).toBeGreaterThanOrEqual(15);
      for (const { run = "" } of steps.filter((step) => changes.test(step.run ?? ""))) {
        const group = expect.stringMatching(/^pulumi-/);
        expect(job.concurrency ?? workflow.concurrency).toMatchObject({ group });
        // Without exec, an interrupt would reach only the shell.
        if (!run.includes("cancel")) expect(run).toMatch(/^exec /);
      }
      const withToken = steps.filter(({ env }) => env?.["COMPUTE_API_TOKEN"] !== undefined);
      if (withToken.length > 0) expect(job.environment).toBeDefined();
      for (const { run = "", uses = "" } of withToken) {
        expect(`${run}${uses}`).toMatch(/^exec (pulumi|~\/\.pulumi\/plugins\/)|^pulumi\/actions@/);
      }
      const isForPush = job.if === "github.event_name == 'push'";
      if (isForPush || !Object.keys(workflow.on as object).includes("pull_request")) return;
      if (job.environment === undefined) {
        // The program's tests need no token, so they also run for a fork.
        expect(steps.flatMap(({ run }) => run ?? [])).toEqual(programTests);
        expect(job.if).toBeUndefined();
        expect(JSON.stringify(job)).not.toContain("secrets.");
      } else {
        const isNoFork = "github.event.pull_request.head.repo.full_name == github.repository";
        expect(job.if?.split(" && ").at(-1)).toBe(isNoFork);
      }
    },
  );

  test("each run of a stack waits for the others, and cancels none, not even one that still waits", () => {
    const groups = workflows.flatMap(({ file, concurrency, jobs: ofWorkflow }) =>
      [concurrency, ...Object.values(ofWorkflow).map((job) => job.concurrency)].map((group) => ({
        file: basename(file),
        ...(group as { group?: string } | undefined),
      })),
    );
    const ofStacks = groups.filter(({ group }) => group?.startsWith("pulumi-"));
    const ofEnvironments = ["drift.yml", "review.yml", "unlock.yml", "up.yml"];
    expect(ofStacks).toEqual(
      [...ofEnvironments, "github-go.yml", "github-python.yml"].map((file) => ({
        file,
        group: expect.any(String),
        "cancel-in-progress": false,
        queue: "max",
      })),
    );
  });

  test("the step that installs the plugin has the job's token for GitHub, but no secret", () => {
    const step = setup.runs.steps.find(({ run }) => run?.includes("plugin install"));
    expect(step?.env).toEqual({ GITHUB_TOKEN: "${{ github.token }}" });
  });
});

test("what changes a stack comes after the settle of that stack", () => {
  const github = jobs.map(({ steps }) => steps.map(({ run = "" }) => run));
  const lines = [...github, ...gitlabJobs.map(({ script = [] }) => script)].map((scripts) =>
    scripts.map((line) => line.replace(/^exec /, "")),
  );
  const changing = lines.flatMap((all) =>
    all.flatMap((line, index) => (/ (up|destroy) /.test(line) ? [{ line, all, index }] : [])),
  );
  expect(changing).toHaveLength(4 + 4 * 2 + 4);
  for (const { line, all, index } of changing) {
    const project = line.includes("-C network") ? " -C network" : "";
    const settle = `pulumi${project} plugin run --kind resource compute -- settle --stack "$STACK" --yes`;
    expect(all.slice(0, index)).toContain(settle);
  }
});

test("GitLab: each job that changes a stack has a resource group and an environment", () => {
  const changing = gitlabJobs.filter(({ script = [] }) =>
    script.some((line) => changes.test(line)),
  );
  expect(changing).toHaveLength(8);
  for (const job of changing) {
    const resource_group = expect.stringMatching(/^pulumi-/);
    expect(job).toMatchObject({ resource_group, environment: expect.anything() });
  }
});

test("GitLab: a merge request runs the program's tests without a token, so a fork can run them too", () => {
  const rules = [{ if: '$CI_PIPELINE_SOURCE == "merge_request_event"' }];
  expect(gitlabJob("test")).toMatchObject({ rules, script: programTests });
  // The token is a variable of an environment, so a job without an environment has no token.
  expect(Object.keys(gitlabJob("test")).join()).not.toMatch(/environment|id_tokens/);
});

describe("Kubernetes", () => {
  const workspace = [
    "serviceAccountName|securityProfile|image|stacks.name|resources.limits.*|git.(url|ref|shallow)",
    "env.(name|value|valueFrom.secretKeyRef.(name|key))",
  ].join("|");
  /** The fields of the operator's Go types (operator/api at v2) that the examples use. */
  const known = {
    Stack: [
      "serviceAccountName|projectRepo|branch|shallow|repoDir|programRef.name|prerequisites.name",
      "backend|stack|config.*|envRefs.*.(type|literal.value|secret.(name|key))",
      "useLocalStackOnly|refresh|expectNoRefreshChanges|destroyOnFinalize|retryOnUpdateConflict",
      `workspaceTemplate.spec.(${workspace})`,
    ].join("|"),
    Program: "outputs.*|resources.*.(type|properties.*|options.customTimeouts.create)",
    Workspace: workspace,
    Update: "workspaceName|stackName|type|refresh|expectNoChanges",
  };
  interface Manifest {
    kind: string;
    spec: { destroyOnFinalize: boolean; config?: Record<string, string> };
    program?: unknown;
  }
  const manifests = files("kubernetes/*.yaml").flatMap(
    (file) => loadAll(textOf(file)) as Manifest[],
  );

  function fieldsOf(value: unknown, path = ""): string[] {
    if (Array.isArray(value)) return value.flatMap((element) => fieldsOf(element, path));
    if (typeof value !== "object" || value === null) return [path];
    return Object.entries(value).flatMap(([key, field]) => fieldsOf(field, `${path}.${key}`));
  }

  test.each(Object.entries(known))("%s: the operator knows its fields", (kind, fields) => {
    const matching = manifests.filter((manifest) => manifest.kind === kind);
    expect(matching).not.toEqual([]);
    const form = fields.replaceAll(".", "\\.").replaceAll("*", "[^.]+");
    const used = matching.flatMap(({ spec, program }) => fieldsOf(program ?? spec));
    expect(used.filter((path) => !new RegExp(`^\\.(${form})$`).test(path))).toEqual([]);
  });

  test("exactly the stacks that refuse a live token are destroyed with their Kubernetes object", () => {
    const stacks = manifests.filter(({ kind }) => kind === "Stack").map(({ spec }) => spec);
    for (const { config, destroyOnFinalize } of stacks) {
      expect(destroyOnFinalize).toBe(config?.["compute:requireTokenKind"] === "test");
    }
  });
});

test("the commands that install or sign in, which pipelines.test.ts does not run, exist", async () => {
  const lines = [
    ...[...jobs.flatMap(({ steps }) => steps), ...setup.runs.steps].map(({ run = "" }) => run),
    ...gitlabJobs.flatMap(({ before_script = [], script = [] }) => [...before_script, ...script]),
    ...[...textOf("kubernetes/Dockerfile").matchAll(/^RUN ((.*\\\n)*.*)$/gm)].map(
      ([, line = ""]) => line,
    ),
  ].filter((line) => installs.test(line) || line.includes("login"));
  const commands = [...new Set(lines)].flatMap(commandsIn);
  expect(new Set(commands.map(({ words }) => words.join(" "))).size).toBe(5);
  for (const command of commands) {
    expect(await problemWith(command, "examples/environments/README.md")).toBeUndefined();
  }
});

test("the files name the Pulumi version of the tests and the current version of the provider", () => {
  const pulumi = requiredVersion("engine", "github.com/pulumi/pulumi/pkg/v3").slice(1);
  const all = files("**/{*.yml,.gitlab-ci.yml,*.yaml,Dockerfile}").map(textOf).join("\n");
  const found = (pattern: RegExp) =>
    new Set([...all.matchAll(pattern)].map(([, version]) => version));
  expect(found(/(?:pulumi-version: |pulumi\/pulumi\S*:|pulumi-compute:)(\d[\d.]*\d)/g)).toEqual(
    new Set([pulumi]),
  );
  expect(found(/install resource compute ([\d.]+)\s/g)).toEqual(new Set([metadata.version]));
});

test("the plugin comes with its checksum: outside of the project, and not from a cache, which Pulumi would not check", () => {
  const all = files("**/{*.yml,.gitlab-ci.yml,*.yaml,Dockerfile}").map(textOf).join("\n");
  const asIs = all.match(/plugin install resource compute /g);
  const checked = all.match(/pulumi -C \/ plugin install [^#]*?\s--checksum [0-9a-f]{64}\s/g);
  expect(asIs).toHaveLength(9);
  expect(checked).toHaveLength(9);
  expect(all).not.toMatch(/actions\/cache@|^ *cache:$/m);
});
