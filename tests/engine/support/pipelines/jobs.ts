/** Jobs of the pipelines, as the tests start them, and what must hold after them. */
import { expect } from "@jest/globals";
import type { Forge } from "./forge";
import { JobRun, type Trigger } from "./github";

/** A job that ran to its end. */
export async function job(forge: Forge, trigger: Trigger) {
  const run = await JobRun.start(forge, trigger);
  const outcome = await run.ended;
  if (!outcome)
    throw new Error(`${trigger.workflow}: the job ${trigger.job} does not run for this`);
  return { ...outcome, comments: run.comments };
}

/** The same, where all has to go well. */
export async function good(forge: Forge, trigger: Trigger) {
  const outcome = await job(forge, trigger);
  if (outcome.code !== 0) throw new Error(outcome.output);
  return outcome;
}

export const dev = { workflow: "deploy.yml", job: "dev" };
export const staging = { workflow: "deploy.yml", job: "staging" };
export const drift = {
  ...{ workflow: "drift.yml", job: "drift" },
  matrix: { stack: "staging", environment: "staging" },
};
export const unlock = (stack: string) => ({
  ...{ workflow: "unlock.yml", job: "unlock" },
  inputs: { stack, directory: ".", environment: stack },
});
export const creates = { method: "POST", path: "/v2/instances" } as const;

/** A job with a create under way: without an answer, of a service that makes the server all the same. */
export async function startUnanswered(forge: Forge, trigger: Trigger) {
  const { control } = forge.service;
  const hanging = control.fault({ ...creates, kind: "hang", acted: true, times: "always" });
  const run = await JobRun.start(forge, trigger);
  await run.reached(hanging.firstHit);
  return { run, hanging };
}

/** What the state of dev holds is what there is, and each server once. */
export async function expectEachOnce(forge: Forge, count: number): Promise<void> {
  const names = forge.names("dev-");
  expect(names).toHaveLength(count);
  expect((await forge.held("dev")).map(({ name }) => name).sort()).toEqual(names.sort());
}
