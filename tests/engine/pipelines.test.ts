/**
 * Runs each job of examples/pipelines once with the real engine. Its commands and its environment are those of the
 * files.
 */
import { existsSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { dump, loadAll } from "js-yaml";
import { installPlugin } from "../../tools/build";
import { writeWhole } from "../../tools/support/files";
import { root } from "../../tools/support/paths";
import { testUnless } from "../../tools/support/unless";
import { githubScripts, gitlabScript, textOf, type Script } from "./support/pipelines";
import { installed, languages, missingTools, type Language } from "./support/installing";
import { pathWithRandom } from "./support/random/plugin";
import { tokens } from "./support/stack";
import { Fixture, hangs } from "./support/fixture";

const secrets = { COMPUTE_API_TOKEN: tokens.test, PULUMI_CONFIG_PASSPHRASE: "test" };
const variables = ({ stack, service }: Fixture) => ({
  COMPUTE_BASE_URL: service.url,
  PULUMI_BACKEND_URL: stack.backend,
});

const prefixed = (context: string, values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [`${context}.${key}`, value]));

/** A job gets only the environment of its file. */
const bare = { baseUrl: undefined, token: null, namesPlugin: false } as const;

/** Creates the stack dev and its network as a person would. After that, a job gets only the environment of its file. */
async function prepared(): Promise<Fixture> {
  const env = { PATH: pathWithRandom(), PULUMI_NODEJS_TRANSPILE_ONLY: "true" };
  const program = join(root, "examples", "environments");
  const fixture = await Fixture.create({ program, env, baseUrl: undefined, namesPlugin: false });
  const { stack } = fixture;
  installPlugin(stack.home);
  // GitHub's jobs have the Pulumi home in the home directory, GitLab's in the project.
  for (const home of [stack.folder, stack.project]) symlinkSync(stack.home, join(home, ".pulumi"));
  stack.setEnv("COMPUTE_BASE_URL", fixture.service.url);
  await stack.succeed("-C", "network", "stack", "init", "dev");
  await stack.succeed("-C", "network", "up");
  for (const name of Object.keys({ ...secrets, ...variables(fixture) })) {
    stack.setEnv(name, undefined);
  }
  return fixture;
}

/** Runs the scripts one after the other, and returns what they print. The last one fails if `isRefused`. */
async function run(
  { stack }: Fixture,
  scripts: readonly Script[],
  isRefused = false,
): Promise<string> {
  expect(scripts).not.toEqual([]);
  let output = "";
  for (const { text, env } of scripts) {
    for (const [name, value] of Object.entries(env)) stack.setEnv(name, value);
    // In a pipeline nobody can answer a prompt.
    const line = `unset PULUMI_SKIP_CONFIRMATIONS\nset -e\n${text}`;
    const mayFail = isRefused && text === scripts.at(-1)?.text;
    output += await (mayFail ? stack.typeFailing(line) : stack.type(line));
    for (const name of Object.keys(env)) {
      if (name !== "PULUMI_HOME") stack.setEnv(name, undefined);
    }
  }
  return output;
}

const instances = ({ control }: Fixture, prefix: string) =>
  control.instances().filter(({ name }) => name.startsWith(prefix));

const inState = ({ stack }: Fixture, file: string) => join(stack.folder, "state/.pulumi", file);
const reviewState = "stacks/environments-example/review-7.json";
const lock = "locks/organization/environments-example/dev/killed.json";

test.concurrent("each job for GitHub works", async () => {
  await using fixture = await prepared();
  const contexts = {
    ...prefixed("secrets", secrets),
    ...prefixed("vars", variables(fixture)),
    "github.event.pull_request.number": "7",
    "matrix.stack": "dev",
    "inputs.stack": "dev",
    "inputs.directory": ".",
  };
  const job = (workflow: string, name: string) =>
    run(fixture, githubScripts(workflow, name, contexts));

  expect(await job("preview.yml", "preview")).toContain("dev-worker-1");
  expect(instances(fixture, "dev-")).toEqual([]);

  await job("deploy.yml", "dev");
  expect(instances(fixture, "dev-")).toHaveLength(3);
  expect(await job("drift.yml", "drift")).toContain("Every listed instance is managed");

  await job("review.yml", "up");
  expect(instances(fixture, "review-7-")).toHaveLength(1);
  // The server of a sandbox is only dropped from the state. The service removes it.
  expect(await job("review.yml", "down")).toContain("1 instance is not destroyed");
  expect(existsSync(inState(fixture, reviewState))).toBe(false);

  writeWhole(inState(fixture, lock), "{}");
  await job("unlock.yml", "unlock");
  expect(existsSync(inState(fixture, lock))).toBe(false);
});

test.concurrent("each job for GitLab works", async () => {
  await using fixture = await prepared();
  const { project } = fixture.stack;
  const scripts = (name: string, more: Readonly<Record<string, string>> = {}) => {
    const predefined = { CI_PROJECT_DIR: project, CI_MERGE_REQUEST_IID: "7" };
    return [gitlabScript(name, { ...secrets, ...variables(fixture), ...predefined, ...more })];
  };

  await run(fixture, scripts("preview"));
  // The stack, its environment, its prefix, and three servers with their suffixes.
  const plan = JSON.parse(readFileSync(join(project, "plan.json"), "utf8")) as unknown;
  expect(plan).toEqual({ create: 9, update: 0, delete: 0 });

  await run(fixture, scripts("dev"));
  expect(instances(fixture, "dev-")).toHaveLength(3);

  await run(fixture, scripts("review"));
  expect(instances(fixture, "review-7-")).toHaveLength(1);
  await run(fixture, scripts("review:end"));
  expect(existsSync(inState(fixture, reviewState))).toBe(false);

  const [gone] = instances(fixture, "dev-");
  fixture.control.remove(gone?.id ?? "");
  expect(await run(fixture, scripts("drift", { STACK: "dev" }), true)).toContain(
    "no changes were expected for refresh but changes were proposed",
  );

  writeWhole(inState(fixture, lock), "{}");
  await run(fixture, scripts("unlock", { STACK: "dev", DIRECTORY: ".", ENVIRONMENT: "dev" }));
  expect(existsSync(inState(fixture, lock))).toBe(false);
});

test.concurrent(
  "a preview refuses what the up would, and the jobs settle what a killed one has left, once its lock is gone",
  async () => {
    await using fixture = await prepared();
    const { stack } = fixture;
    const env = { ...secrets, ...variables(fixture) };
    for (const [name, value] of Object.entries(env)) stack.setEnv(name, value);
    await stack.succeed("-C", "network", "destroy", "--stack", "dev", "--yes");
    const before = fixture.posts();
    const killed = stack.start("-C", "network", "up", "--stack", "dev", "--yes", "--skip-preview");
    const hanging = fixture.control.fault(hangs);
    await killed.reached(hanging.firstHit);
    await killed.end("both killed");
    for (const name of Object.keys(env)) stack.setEnv(name, undefined);
    // The next job has another machine.
    rmSync(join(stack.home, "compute"), { recursive: true });
    const scripts = (name: string, more: Readonly<Record<string, string>> = {}) => [
      gitlabScript(name, { ...env, CI_PROJECT_DIR: stack.project, ...more }),
    ];
    const dev = { STACK: "dev", ENVIRONMENT: "dev" };

    expect(await run(fixture, scripts("dev"), true)).toContain("the stack is currently locked");
    await run(fixture, scripts("unlock", { ...dev, DIRECTORY: "network" }));
    // With this setting, what a killed run has left stops a create in a sandbox, too, and the merge request shows that.
    const settings = (text: string) => ({
      text: `pulumi -C network config ${text} --stack dev`,
      env,
    });
    await run(fixture, [settings("set compute:leftovers fail")]);
    expect(await run(fixture, scripts("preview"), true)).toContain("may have an instance already");
    await run(fixture, [settings("rm compute:leftovers")]);
    const output = await run(fixture, scripts("dev"));

    expect(output).toContain("Nothing is in doubt any more.");
    // The bastion whose create was killed, and the three servers.
    expect(fixture.posts() - before).toBe(1 + 3);
  },
);

for (const name of ["Go", "Python"] as const) {
  const language: Language = languages[name];
  const title = `a small project in ${name}: the jobs for GitHub preview it and bring it up, and those for GitLab find nothing to do`;
  testUnless(missingTools(language), title, async () => {
    const { project: program, env } = await installed(language);
    await using fixture = await Fixture.create({ program, env, ...bare });
    const { stack } = fixture;
    installPlugin(stack.home);
    symlinkSync(stack.home, join(stack.project, ".pulumi"));
    const given = variables(fixture);
    const contexts = { ...prefixed("secrets", secrets), ...prefixed("vars", given) };
    const github = (job: string) =>
      run(fixture, githubScripts(`github-${name.toLowerCase()}.yml`, job, contexts));
    expect(await github("preview")).toMatch(/\+ 3 to create/);
    expect(fixture.posts()).toBe(0);
    await github("up");
    expect(fixture.posts()).toBe(2);

    const gitlab = (job: string) => {
      const all = { ...secrets, ...given, CI_PROJECT_DIR: stack.project };
      return run(fixture, [gitlabScript(job, all, `small/gitlab-${name.toLowerCase()}.yml`)]);
    };
    for (const job of ["preview", "up"]) expect(await gitlab(job)).toMatch(/ 3 unchanged/);
    expect(fixture.posts()).toBe(2);
  });
}

test.concurrent("the program in the Kubernetes Program object works", async () => {
  const [object] = loadAll(textOf("kubernetes/program.yaml"));
  const { program } = object as { program: unknown };
  await using fixture = await Fixture.create({ program: dump(program) });
  await fixture.stack.up();
  expect(await fixture.stack.outputs()).toEqual({ ipv4: expect.stringContaining(".") });
});
