/** The files of examples/pipelines: what linters and schemas say of them, and rules of our own. */
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { parseAllDocuments } from "yaml";
import metadata from "../../metadata.json";
import { commandsIn } from "../../tools/docs/commandLines";
import { ensureGoTool } from "../../tools/go/tools";
import { captured } from "../../tools/support/command";
import { requiredVersion } from "../../tools/support/go";
import { root } from "../../tools/support/paths";
import { ensurePythonTools } from "../../tools/support/python";
import { lackOfGo, lackOfPython, testUnless } from "../../tools/support/unless";
import { problemWith } from "./support/blocks/shell";
import {
  directory,
  files,
  gitlab,
  gitlabFile,
  gitlabJob,
  installs,
  setup,
  setupFile,
  stepOf,
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
const gitlabJobs = Object.keys(gitlab)
  .filter((name) => !/^\.|^(workflow|stages|variables|default)$/.test(name))
  .map((name) => ({ name, ...gitlabJob(name) }));

const scratch = mkdtempSync(join(tmpdir(), "compute-pipelines-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

testUnless(lackOfGo(), "actionlint finds nothing, in a repository with them", async () => {
  cpSync(join(directory, "github"), join(scratch, ".github"), { recursive: true });
  await captured("git", ["init", "--quiet"], { cwd: scratch });
  const said = await captured(await ensureGoTool("actionlint"), ["-no-color"], { cwd: scratch });
  expect(said).toBe("");
});

for (const [schema, subjects] of [
  [["vendor.github-workflows"], workflows.map(({ file }) => file)],
  [["vendor.github-actions"], [setupFile]],
  [["vendor.gitlab-ci", "--data-transform", "gitlab-ci"], [gitlabFile]],
] as const) {
  testUnless(lackOfPython(), `the schema ${schema[0]} holds`, async () => {
    const paths = subjects.map((file) => join(directory, file));
    const checker = join(await ensurePythonTools("schemas"), "check-jsonschema");
    await captured(checker, ["--builtin-schema", ...schema, ...paths]);
  });
}

describe("GitHub", () => {
  test("an action stands at a commit, the same as everywhere else in this repository", () => {
    const own = globSync(join(root, ".github", "workflows", "*.yml"));
    const texts = [...files("github/**/*.yml").map(textOf), ...own.map((it) => readFileSync(it))];
    const used = [...texts.join("\n").matchAll(/uses: (.*@.*)/g)].map(([, it = ""]) => it);
    const versions = new Map<string, string>();
    for (const it of used) {
      expect(it).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
      const [, repository = "", version = ""] = /^([\w-]+\/[\w-]+).*@(.*)$/.exec(it) ?? [];
      expect([repository, versions.get(repository) ?? version]).toEqual([repository, version]);
      versions.set(repository, version);
    }
  });

  test.each(workflows)("$file: no permission and no secret for all its jobs", (it) => {
    expect(it.permissions).toEqual({});
    expect(textOf(it.file)).not.toContain("pull_request_target");
    // Where every step of a job would get it, those that install would.
    const shared = [it, ...Object.values(it.jobs)].flatMap(({ env }) => Object.values(env ?? {}));
    expect(shared.join()).not.toContain("secrets.");
  });

  test.each(jobs)("$title: what it may, where, and when", ({ job, workflow, steps }) => {
    const { contents, ...more } = job.permissions ?? {};
    expect(contents).toBe("read");
    expect(["id-token", "pull-requests"]).toEqual(expect.arrayContaining(Object.keys(more)));
    if (job.uses !== undefined) return;
    expect(job["timeout-minutes"]).toBeGreaterThanOrEqual(15);
    for (const { run = "" } of steps.filter((it) => changes.test(it.run ?? ""))) {
      const group = expect.stringMatching(/^pulumi-/);
      const alone = { group, "cancel-in-progress": false };
      expect(job.concurrency ?? workflow.concurrency).toEqual(alone);
      // Else Ctrl-C ends at the shell.
      if (!run.includes("cancel")) expect(run).toMatch(/^exec /);
    }
    const withToken = steps.filter(({ env }) => env?.["COMPUTE_API_TOKEN"] !== undefined);
    if (withToken.length > 0) expect(job.environment).toBeDefined();
    for (const { run = "", uses = "" } of withToken) {
      expect(`${run}${uses}`).toMatch(/^exec (pulumi|~\/\.pulumi\/plugins\/)|^pulumi\/actions@/);
    }
    if (!Object.keys(workflow.on as object).includes("pull_request")) return;
    if (job.environment === undefined) {
      // Without any token, the program's tests run for a fork as well.
      expect(steps.flatMap(({ run }) => run ?? [])).toEqual(programTests);
      expect(job.if).toBeUndefined();
      expect(JSON.stringify(job)).not.toContain("secrets.");
    } else {
      const ofTheTeam = "github.event.pull_request.head.repo.full_name == github.repository";
      expect(job.if?.split(" && ").at(-1)).toBe(ofTheTeam);
    }
  });

  test("each job that creates keeps its ledger, however it ends, where the next one looks for it", () => {
    const restored = stepOf(setup.runs.steps, "actions/cache/restore")?.with;
    const creating = jobs.filter(({ steps }) => steps.some(({ run }) => / up /.test(run ?? "")));
    expect(creating).toHaveLength(2);
    for (const { steps } of creating) {
      const saved = stepOf(steps, "actions/cache/save");
      expect(saved?.if).toBe("always()");
      expect(saved?.with?.["path"]).toBe(restored?.["path"]);
      expect(saved?.with?.["key"]?.replace("env.STACK", "inputs.stack")).toBe(restored?.["key"]);
    }
  });
});

test("GitLab: each job that changes a stack is alone with it, and has an environment", () => {
  const changing = gitlabJobs.filter(({ script = [] }) => script.some((it) => changes.test(it)));
  expect(changing).toHaveLength(6);
  for (const job of changing) {
    const resource_group = expect.stringMatching(/^pulumi-/);
    expect(job).toMatchObject({ resource_group, environment: expect.anything() });
  }
});

test("GitLab: a merge request runs the program's tests, of a fork as well, without any token", () => {
  const rules = [{ if: '$CI_PIPELINE_SOURCE == "merge_request_event"' }];
  expect(gitlabJob("test")).toMatchObject({ rules, script: programTests });
  // A token is a variable of an environment's scope.
  expect(Object.keys(gitlabJob("test")).join()).not.toMatch(/environment|id_tokens/);
});

describe("Kubernetes", () => {
  const workspace = [
    "serviceAccountName|securityProfile|image|stacks.name|resources.limits.*|git.(url|ref|shallow)",
    "env.(name|value|valueFrom.secretKeyRef.(name|key))",
  ].join("|");
  /** The specs in the operator's Go types (operator/api at v2), as far as ours use them. */
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
  const manifests = files("kubernetes/*.yaml").flatMap((file) =>
    parseAllDocuments(textOf(file)).map((it) => it.toJS() as Manifest),
  );

  /** The paths of all that has a value. */
  function fieldsOf(value: unknown, path = ""): string[] {
    if (Array.isArray(value)) return value.flatMap((it) => fieldsOf(it, path));
    if (typeof value !== "object" || value === null) return [path];
    return Object.entries(value).flatMap(([key, it]) => fieldsOf(it, `${path}.${key}`));
  }

  test.each(Object.entries(known))("%s: its fields are known to the operator", (kind, fields) => {
    const ours = manifests.filter((it) => it.kind === kind);
    expect(ours).not.toEqual([]);
    const form = fields.replaceAll(".", "\\.").replaceAll("*", "[^.]+");
    const used = ours.flatMap(({ spec, program }) => fieldsOf(program ?? spec));
    expect(used.filter((it) => !new RegExp(`^\\.(${form})$`).test(it))).toEqual([]);
  });

  test("only what refuses a live token is destroyed with its object", () => {
    const stacks = manifests.filter(({ kind }) => kind === "Stack").map(({ spec }) => spec);
    for (const { config, destroyOnFinalize } of stacks) {
      expect(destroyOnFinalize).toBe(config?.["compute:requireTokenKind"] === "test");
    }
  });
});

test("what installs or signs in, which pipelines.test.ts does not run, is made of commands that there are", async () => {
  const lines = [
    ...[...jobs.flatMap(({ steps }) => steps), ...setup.runs.steps].map(({ run = "" }) => run),
    ...gitlabJobs.flatMap(({ before_script = [], script = [] }) => [...before_script, ...script]),
    ...[...textOf("kubernetes/Dockerfile").matchAll(/^RUN (.*)$/gm)].map(([, line = ""]) => line),
  ].filter((line) => installs.test(line) || line.includes("login"));
  const commands = [...new Set(lines)].flatMap(commandsIn);
  expect(commands).toHaveLength(4);
  for (const command of commands) {
    expect(await problemWith(command, "examples/environments/README.md")).toBeUndefined();
  }
});

test("Pulumi is the one that the tests run, and the provider this one", () => {
  const pulumi = requiredVersion("engine", "github.com/pulumi/pulumi/pkg/v3").slice(1);
  const all = files("**/{*.yml,.gitlab-ci.yml,*.yaml,Dockerfile}").map(textOf).join("\n");
  const found = (pattern: RegExp) => new Set([...all.matchAll(pattern)].map(([, it]) => it));
  expect(found(/(?:pulumi-version: |pulumi\/pulumi\S*:|pulumi-compute:)(\d[\d.]*\d)/g)).toEqual(
    new Set([pulumi]),
  );
  expect(found(/resource-compute-v([\d.]+)\//g)).toEqual(new Set([metadata.version]));
});
