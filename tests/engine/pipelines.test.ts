/**
 * What the files of examples/pipelines do, done here: real git, the real engine, and each `run:` line as it
 * stands in the file. support/pipelines/ says what stands in for the forges.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { Forge } from "./support/pipelines/forge";
import { pullRequest } from "./support/pipelines/github";
import { runJob } from "./support/pipelines/gitlab";
import { drift, expectEachOnce, good, job, staging } from "./support/pipelines/jobs";

test("a pull request: previewed, brought up for review, merged to dev, staging and prod, and ended", async () => {
  await using forge = await Forge.create(["dev", "staging", "prod"]);
  const first = await forge.commit();
  const deploy = (name: string, commit: string) =>
    good(forge, { workflow: "deploy.yml", job: name, commit });
  await deploy("dev", first);
  expect(await forge.held("dev")).toHaveLength(3);

  forge.edit("Pulumi.dev.yaml", (text) => text.replace("count: 1", "count: 2"));
  const commit = await forge.push("more", "One more worker");
  const posts = forge.posts();
  const opened = pullRequest("opened", 7, commit);
  const preview = await good(forge, {
    workflow: "preview.yml",
    job: "preview",
    commit,
    event: opened,
  });
  expect(preview.comments[1]).toContain("dev-worker-2");
  expect(forge.posts()).toBe(posts);

  const review = { workflow: "review.yml", commit };
  await good(forge, { ...review, job: "up", event: opened });
  const [server, ...more] = forge.names("review-7");
  expect(more).toEqual([]);
  const again = await good(forge, {
    ...review,
    job: "up",
    event: pullRequest("synchronize", 7, commit),
  });
  expect(again.output).toContain("unchanged");
  expect(forge.names("review-7")).toEqual([server]);

  const main = await forge.merge("more");
  const closed = pullRequest("closed", 7, commit);
  const end = await good(forge, { ...review, job: "down", event: closed });
  // A sandbox's server is dropped: it goes by itself.
  expect(end.output).toContain("is dropped from the state, not destroyed");
  await expect(forge.held("review-7")).rejects.toThrow("ENOENT");

  await deploy("dev", main);
  expect(await forge.held("dev")).toHaveLength(4);
  await deploy("staging", main);
  const before = forge.posts();
  const { comments } = await deploy("prod-preview", main);
  expect(comments[1]).toContain("prod-web-4");
  expect(forge.posts()).toBe(before);
  await deploy("prod", main);
  expect(await forge.held("prod")).toHaveLength(6);
});

test("drift: the scheduled job is green, until a server is gone; it says which, and changes nothing", async () => {
  await using forge = await Forge.create(["staging"]);
  const commit = await forge.commit();
  await good(forge, { ...staging, commit });
  const green = await good(forge, { ...drift, commit });
  expect(green.output).toContain("All that is listed is managed");

  const [first] = await forge.held("staging");
  forge.service.control.remove(first?.id ?? "");
  const posts = forge.posts();
  const red = await job(forge, { ...drift, commit });
  expect(red.code).toBe(1);
  expect(red.output).toContain("no changes were expected for refresh but changes were proposed");
  expect(red.output).toContain("In a stack but gone (1)");
  expect(await forge.held("staging")).toHaveLength(3);

  // An up does not look: a person refreshes first, and so decides.
  await good(forge, { ...staging, commit });
  expect(forge.posts()).toBe(posts);
  await forge.type("staging", "pulumi refresh --stack staging --yes");
  await good(forge, { ...staging, commit });
  expect(forge.posts()).toBe(posts + 1);
  await good(forge, { ...drift, commit });
});

test("GitLab: previewed with its figures, brought up for review, merged to dev, ended, and looked after", async () => {
  await using forge = await Forge.create(["dev"]);
  const review = { CI_MERGE_REQUEST_IID: "7" };
  const run = async (name: string, commit: string, variables?: Record<string, string>) => {
    const outcome = await runJob(forge, name, commit, variables);
    if (outcome.code !== 0) throw new Error(outcome.output);
    return outcome;
  };
  forge.edit("Pulumi.dev.yaml", (text) => text.replace("count: 1", "count: 2"));
  const commit = await forge.push("more", "One more worker");
  const { machine } = await run("preview", commit, review);
  const plan = readFileSync(join(machine.workspace, "plan.json"), "utf8");
  const { create, ...others } = JSON.parse(plan) as Record<string, number>;
  // The stack, its environment, its prefix, and four servers with their suffixes.
  expect([create, others]).toEqual([11, { update: 0, delete: 0 }]);

  await run("review", commit, review);
  expect(forge.names("review-7")).toHaveLength(1);
  await run("dev", await forge.merge("more"));
  await expectEachOnce(forge, 4);
  await run("review:end", commit, review);
  await expect(forge.held("review-7")).rejects.toThrow("ENOENT");
  // What the review has left in the sandbox is no alarm.
  expect(forge.names("review-7")).toHaveLength(1);
  await run("drift", commit, { STACK: "dev" });

  const [first] = await forge.held("dev");
  forge.service.control.remove(first?.id ?? "");
  const morning = await runJob(forge, "drift", commit, { STACK: "dev" });
  expect(morning.code).toBe(1);
  expect(morning.output).toContain(
    "no changes were expected for refresh but changes were proposed",
  );
});
