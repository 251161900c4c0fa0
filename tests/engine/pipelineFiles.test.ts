/** The files of examples/pipelines: what linters and schemas say of them, and rules of our own. */
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { lackOfGo, lackOfPython, testUnless } from "../../tools/support/unless";
import { parse, parseAllDocuments } from "yaml";
import metadata from "../../metadata.json";
import { commandsIn } from "../../tools/docs/commandLines";
import { checkAgainst } from "../../tools/support/jsonSchema";
import { captured } from "../../tools/support/command";
import { writeWhole } from "../../tools/support/files";
import { requiredVersion } from "../../tools/support/go";
import { root } from "../../tools/support/paths";
import { ensureGoTool } from "../../tools/go/tools";
import { problemWith } from "./support/blocks/shell";
import { extended } from "./support/pipelines/gitlab";
import { operatorObject, schemaOf } from "./support/pipelines/operator";
import type { Workflow } from "./support/pipelines/workflow";

const directory = join(root, "examples", "pipelines");
const read = (file: string) => readFileSync(file, "utf8");
const files = (pattern: string) => globSync(pattern, { cwd: directory }).sort();
const textOf = (file: string) => read(join(directory, file));

const scratch = mkdtempSync(join(tmpdir(), "compute-pipelines-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const noPython = lackOfPython();
const workflows = files("github/workflows/*.yml");
const gitlab = "gitlab/.gitlab-ci.yml";

const parsed = workflows.map((file) => [file, parse(textOf(file)) as Workflow] as const);
const jobs = parsed.flatMap(([file, workflow]) =>
  Object.entries(workflow.jobs).map(([name, job]) => ({
    title: `${file}: ${name}`,
    workflow,
    job,
    steps: job.steps ?? [],
  })),
);
const action = files("github/actions/*/action.yml");
const changes = /\bpulumi (?:-C \S+ )?(?:up|destroy|cancel)\b/;

describe("GitHub", () => {
  testUnless(
    lackOfGo(),
    "actionlint finds nothing, in a repository that has copied them",
    async () => {
      cpSync(join(directory, "github"), join(scratch, ".github"), { recursive: true });
      await captured("git", ["init", "--quiet"], { cwd: scratch });
      expect(
        await captured(await ensureGoTool("actionlint"), ["-no-color"], { cwd: scratch }),
      ).toBe("");
    },
  );

  for (const [schema, subjects] of [
    ["vendor.github-workflows", workflows],
    ["vendor.github-actions", action],
  ] as const) {
    testUnless(noPython, `the schema ${schema} holds`, async () => {
      expect(subjects).not.toEqual([]);
      const paths = subjects.map((file) => join(directory, file));
      await checkAgainst(["--builtin-schema", schema], paths);
    });
  }

  test("an action stands at a commit, the same as everywhere else in this repository", () => {
    const all = [...workflows, ...action].map(textOf);
    const own = globSync(join(root, ".github", "workflows", "*.yml")).map(read);
    const used = [...all, ...own].flatMap((text) =>
      [...text.matchAll(/uses: (.*@.*)/g)].map(([, it = ""]) => it),
    );
    for (const it of used) expect(it).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    const repositories = new Map<string, Set<string>>();
    for (const it of used) {
      const [name = "", version = ""] = it.split("@");
      const repository = name.split("/").slice(0, 2).join("/");
      repositories.set(repository, (repositories.get(repository) ?? new Set()).add(version));
    }
    for (const [repository, versions] of repositories) {
      expect([repository, versions.size]).toEqual([repository, 1]);
    }
  });

  test.each(parsed)(
    "%s: nothing is permitted that a job does not ask for, to no fork",
    (file, it) => {
      expect(it.permissions).toEqual({});
      expect(textOf(file)).not.toContain("pull_request_target");
      // Where every step of a job would get it, those that install would.
      const shared = [it, ...Object.values(it.jobs)].flatMap(({ env }) => Object.values(env ?? {}));
      expect(shared.join()).not.toContain("secrets.");
    },
  );

  test.each(jobs)("$title: permissions, a time-out, and one run at a time for a stack", (it) => {
    const { job, workflow, steps } = it;
    const { contents, ...more } = job.permissions ?? {};
    expect(contents).toBe("read");
    expect(["id-token", "pull-requests"]).toEqual(expect.arrayContaining(Object.keys(more)));
    if (job.uses !== undefined) return;
    expect(job["timeout-minutes"]).toBeGreaterThanOrEqual(15);
    for (const step of steps.filter(({ run = "" }) => changes.test(run))) {
      const group = job.concurrency ?? workflow.concurrency;
      expect(group?.group).toMatch(/^pulumi-/);
      expect(group?.["cancel-in-progress"]).toBe(false);
      // Else Ctrl-C ends at the shell.
      if (!step.run?.includes("cancel")) expect(step.run).toMatch(/^exec /);
    }
    const withToken = steps.filter(({ env }) => env?.["COMPUTE_API_TOKEN"] !== undefined);
    if (withToken.length > 0) expect(job.environment).toBeDefined();
    for (const { run = "", uses = "" } of withToken) {
      expect(`${run}${uses}`).toMatch(/^exec (pulumi|~\/\.pulumi\/plugins\/)|^pulumi\/actions@/);
    }
  });
});

describe("GitLab", () => {
  testUnless(noPython, "its own schema holds", async () => {
    const schema = ["--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci"];
    await checkAgainst(schema, [join(directory, gitlab)]);
    const broken = join(scratch, "broken.yml");
    writeWhole(broken, textOf(gitlab).replace("on_stop:", "onstop:"));
    await expect(checkAgainst(schema, [broken])).rejects.toThrow("onstop");
  });

  test("each job that changes a stack is alone with it, and has an environment", () => {
    type GitLabJob = { script?: string[]; extends?: string } & Record<string, unknown>;
    const pipeline = parse(textOf(gitlab)) as Record<string, GitLabJob>;
    const changing = Object.keys(pipeline)
      .filter((name) => !name.startsWith("."))
      .map((name) => [name, extended(pipeline, name)] as const)
      .filter(([, { script = [] }]) => script.some((line) => changes.test(line)));
    expect(changing.map(([name]) => name)).toEqual([
      ...["review", "review:end", "dev", "staging", "prod", "unlock"],
    ]);
    for (const [name, job] of changing) {
      expect([name, job["resource_group"]]).toEqual([name, expect.stringMatching(/^pulumi-/)]);
      expect([name, job["environment"]]).toEqual([name, expect.anything()]);
    }
  });
});

describe("a pull request runs the program's tests, of a fork as well: without any token", () => {
  const installAndTest = ["npm ci --ignore-scripts", "npm test"];

  test("GitHub", () => {
    const [job, ...more] = jobs.filter(({ steps }) => steps.some(({ run }) => run === "npm test"));
    expect(more).toEqual([]);
    expect(job?.workflow.on).toHaveProperty("pull_request");
    expect(job?.steps.flatMap(({ run }) => run ?? [])).toEqual(installAndTest);
    expect(job?.job).not.toHaveProperty("if");
    expect(job?.job).not.toHaveProperty("environment");
    expect(job?.job.permissions).toEqual({ contents: "read" });
    expect(JSON.stringify(job?.job)).not.toContain("secrets.");
  });

  test("GitLab", () => {
    const pipeline = parse(textOf(gitlab)) as Record<string, { extends?: string }>;
    const job = extended(pipeline, "test");
    expect(job).toMatchObject({
      rules: [{ if: '$CI_PIPELINE_SOURCE == "merge_request_event"' }],
      script: installAndTest,
    });
    // A token is a variable of an environment's scope.
    for (const key of ["environment", "id_tokens"]) expect(job).not.toHaveProperty(key);
  });
});

type NamedCrd = Parameters<typeof schemaOf>[0] & { spec: { names: { kind: string } } };

describe("Kubernetes", () => {
  const objects = files("kubernetes/*.yaml").flatMap((file) =>
    parseAllDocuments(textOf(file)).map((document) => [file, document.toJS() as unknown] as const),
  );
  const ours = objects.filter(([, it]) =>
    (it as { apiVersion: string }).apiVersion.includes("pulumi"),
  );
  const kindOf = (it: unknown) => (it as { kind: string }).kind;

  test("Stack, Program, Workspace and Update have the fields that the operator knows, and no others", () => {
    expect(new Set(ours.map(([, it]) => kindOf(it)))).toEqual(
      new Set(["Program", "Stack", "Update", "Workspace"]),
    );
    for (const [file, it] of ours) {
      expect([file, operatorObject.safeParse(it).error?.message]).toEqual([file, undefined]);
    }
  });

  test("only what refuses a live token is destroyed with its object", () => {
    const stacks = ours
      .map(([, it]) => operatorObject.parse(it))
      .filter((it) => it.kind === "Stack");
    for (const {
      metadata: { name },
      spec,
    } of stacks) {
      const kind = spec.config?.["compute:requireTokenKind"];
      expect([name, spec.destroyOnFinalize]).toEqual([name, kind === "test"]);
    }
  });

  testUnless(noPython, "held against a CRD, a field that it does not know is found", async () => {
    const openAPIV3Schema = {
      type: "object",
      properties: { metadata: { type: "object" }, spec: { properties: { a: { type: "string" } } } },
    };
    const old = { name: "v1alpha1", schema: { openAPIV3Schema: {} } };
    const crd = { spec: { versions: [{ name: "v1", schema: { openAPIV3Schema } }, old] } };
    const schema = join(scratch, "crd.json");
    writeWhole(schema, JSON.stringify(schemaOf(crd, "pulumi.com/v1")));
    const [good, bad] = [join(scratch, "good.json"), join(scratch, "bad.json")];
    writeWhole(good, '{ "metadata": { "name": "x" }, "spec": { "a": "b" } }');
    writeWhole(bad, '{ "spec": { "a": "b", "aa": "b" } }');
    await checkAgainst(["--schemafile", schema], [good]);
    await expect(checkAgainst(["--schemafile", schema], [bad])).rejects.toThrow("aa");
  });

  const crds = process.env["COMPUTE_OPERATOR_CRDS"];
  const noCrds =
    crds === undefined
      ? "COMPUTE_OPERATOR_CRDS does not name a directory with the operator's CRDs"
      : undefined;
  testUnless(noCrds ?? noPython, "the operator's own CRDs hold", async () => {
    const named = globSync(join(crds ?? "", "*.yaml"))
      .map(read)
      .map((text) => parse(text) as NamedCrd);
    for (const [, it] of ours) {
      const { kind, apiVersion } = it as { kind: string; apiVersion: string };
      const crd = named.find(({ spec }) => spec.names.kind === kind);
      if (!crd) throw new Error(`${crds} has no CRD of a ${kind}`);
      const [schema, object] = [join(scratch, "schema.json"), join(scratch, "object.json")];
      writeWhole(schema, JSON.stringify(schemaOf(crd, apiVersion)));
      writeWhole(object, JSON.stringify(it));
      await checkAgainst(["--schemafile", schema], [object]);
    }
  });
});

describe("commands", () => {
  /** Of a YAML file, whatever it is of: the lines of `run`, `script` and `before_script`. */
  const linesOf = (value: unknown, key = ""): string[] => {
    if (typeof value === "string") return /^(run|script|before_script)$/.test(key) ? [value] : [];
    if (Array.isArray(value)) return value.flatMap((it) => linesOf(it, key));
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([name, it]) => linesOf(it, name));
  };
  const scripts = [...workflows, ...action, gitlab].flatMap((file) =>
    linesOf(parse(textOf(file))).map((line) => [file, line] as const),
  );
  const docker = [...textOf("kubernetes/Dockerfile").matchAll(/^RUN (.*)$/gm)].map(
    ([, line = ""]) => ["kubernetes/Dockerfile", line] as const,
  );

  test("there are some of each file", () => {
    const named = [...workflows, gitlab].filter((file) => !scripts.some(([it]) => it === file));
    expect(named).toEqual(["github/workflows/deploy.yml"]);
    expect(docker).toHaveLength(1);
  });

  test.each([...scripts, ...docker])("%s: %s", async (_, line) => {
    const commands = commandsIn(line);
    for (const command of commands) {
      expect(await problemWith(command, "examples/environments/README.md")).toBeUndefined();
    }
  });

  test("a flag that there is not is found, wherever the project is", async () => {
    const [command] = commandsIn("exec pulumi -C network refresh --preview-onyl");
    const problem = command && (await problemWith(command, "README.md"));
    expect(problem).toBe("pulumi refresh has no --preview-onyl");
  });

  test("Pulumi is the one that the tests run, and the provider this one", () => {
    const pulumi = requiredVersion("engine", "github.com/pulumi/pulumi/pkg/v3").slice(1);
    const all = files("**/{*.yml,.gitlab-ci.yml,*.yaml,Dockerfile}").map(textOf).join("\n");
    const versions = [
      ...all.matchAll(/(?:pulumi-version: |pulumi\/pulumi\S*:|pulumi-compute:)(\d[\d.]*\d)/g),
    ].map(([, version]) => version);
    expect(versions.length).toBeGreaterThan(4);
    expect(new Set(versions)).toEqual(new Set([pulumi]));
    const plugins = [...all.matchAll(/resource-compute-v([\d.]+)\//g)].map(
      ([, version]) => version,
    );
    expect(new Set(plugins)).toEqual(new Set([metadata.version]));
  });
});
