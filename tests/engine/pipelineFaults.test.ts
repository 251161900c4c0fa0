/**
 * What goes wrong in a pipeline, done with the files of examples/pipelines: nothing is lost (G1), nothing
 * made twice (G2), the limit is kept (G6), and the next run, or the scheduled job, says what is left to do.
 */
import { describe, expect, test } from "@jest/globals";
import { printedCommands } from "../support/printed";
import { Forge, type EnvironmentName } from "./support/pipelines/forge";
import { JobRun, pullRequest } from "./support/pipelines/github";
import {
  creates,
  dev,
  drift,
  expectEachOnce,
  good,
  job,
  staging,
  startUnanswered,
  unlock,
} from "./support/pipelines/jobs";
import { tokens } from "./support/stack";

describe("stopped before anything is made:", () => {
  test("a fork's pull request gets no job that has a token", async () => {
    await using forge = await Forge.create([]);
    const commit = await forge.commit();
    const event = pullRequest("opened", 7, commit, "stranger/app");
    const closed = pullRequest("closed", 7, commit, "stranger/app");
    for (const [workflow, name, of] of [
      ["preview.yml", "preview", event],
      ["review.yml", "up", event],
      ["review.yml", "down", closed],
    ] as const) {
      const run = await JobRun.start(forge, { workflow, job: name, commit, event: of });
      expect(await run.ended).toBeUndefined();
    }
  });

  test("an environment without a token, or with one of the wrong kind", async () => {
    await using forge = await Forge.create(["dev"]);
    const commit = await forge.commit();
    const posts = forge.posts();
    const { secrets } = forge.environments.dev;

    secrets["COMPUTE_API_TOKEN"] = "";
    const missing = await job(forge, { ...dev, commit });
    expect(missing.output).toContain("compute:apiToken");
    secrets["COMPUTE_API_TOKEN"] = tokens.live;
    const live = await job(forge, { ...dev, commit });
    expect(live.output).toContain("requireTokenKind");
    forge.environments.review.secrets["COMPUTE_API_TOKEN"] = tokens.live;
    const event = pullRequest("opened", 7, commit);
    const review = await job(forge, { workflow: "review.yml", job: "up", commit, event });
    expect(review.output).toContain("requireTokenKind");

    for (const { code } of [missing, live, review]) expect(code).toBe(1);
    expect(forge.posts()).toBe(posts);
  });
});

test("the rate limit is reached: the job waits, and goes well", async () => {
  await using forge = await Forge.create(["dev"]);
  const posts = forge.posts();
  const refusal = { kind: "status", status: 429, retryAfter: 0, times: 4 } as const;
  forge.service.control.fault({ ...creates, ...refusal });
  await good(forge, { ...dev, commit: await forge.commit() });
  await expectEachOnce(forge, 3);
  expect(forge.posts() - posts).toBe(3 + 4);
});

test("a create that times out fails the job, and the job run again goes on with the same servers", async () => {
  const provisioningSeconds = (name: string) => (name.startsWith("dev-") ? Infinity : 0);
  await using forge = await Forge.create(["dev"], { provisioningSeconds });
  forge.edit("environment.ts", (text) =>
    text.replace(
      /(interpolate.*\n\s*\{ parent: this)( \})/,
      '$1, customTimeouts: { create: "5s" }$2',
    ),
  );
  const commit = await forge.push("main", "Wait no longer than five seconds");
  const posts = forge.posts();
  const first = await job(forge, { ...dev, commit });
  expect(first.output).toContain("customTimeouts");
  expect(first.code).toBe(1);
  await expectEachOnce(forge, 3);

  forge.service.control.settle();
  await good(forge, { ...dev, commit });
  await expectEachOnce(forge, 3);
  expect(forge.posts() - posts).toBe(3);
});

test("two merges at once: the second run is refused by the lock, and nothing is made twice", async () => {
  await using forge = await Forge.create(["dev"]);
  const commit = await forge.commit();
  const posts = forge.posts();
  const { run: first, hanging } = await startUnanswered(forge, { ...dev, commit });

  // GitHub would let it wait; another forge, or a desk, would not.
  const second = await job(forge, { ...dev, commit });
  expect(second.output).toContain("the stack is currently locked");
  expect(second.code).toBe(1);
  forge.service.control.clearFaults();
  hanging.release();
  expect((await first.ended)?.code).toBe(0);
  const again = await good(forge, { ...dev, commit });
  expect(again.output).toContain("unchanged");
  await expectEachOnce(forge, 3);
  expect(forge.posts() - posts).toBe(3);
});

describe("cut off while a create is under way:", () => {
  test("cancelled, it keeps what was made; run again, it makes what is missing, and nothing twice", async () => {
    await using forge = await Forge.create(["dev"]);
    const commit = await forge.commit();
    const posts = forge.posts();
    const { run, hanging } = await startUnanswered(forge, { ...dev, commit });
    await run.cancel();
    forge.service.control.clearFaults();
    hanging.release();
    expect((await run.ended)?.code).toBe(1);
    const made = forge.names("dev-");
    expect(made.length).toBeGreaterThan(0);
    expect((await forge.held("dev")).map(({ name }) => name).sort()).toEqual(made.sort());

    await good(forge, { ...dev, commit });
    await expectEachOnce(forge, 3);
    expect(forge.posts() - posts).toBe(3);
  });

  test("cancelled and then killed, it leaves a lock and its notes: unlocked and run again, it names what was made, and nothing is made twice", async () => {
    await using forge = await Forge.create(["dev"]);
    const commit = await forge.commit();
    const posts = forge.posts();
    const { run } = await startUnanswered(forge, { ...dev, commit });
    await run.cancelHard();
    forge.service.control.clearFaults();

    const locked = await job(forge, { ...dev, commit });
    expect(locked.output).toContain("the stack is currently locked");
    await good(forge, { ...unlock("dev"), commit });
    const again = await job(forge, { ...dev, commit });
    expect(again.output).toContain("an earlier run");
    expect(again.code).toBe(1);
    expect(await importAsSaid(forge, "dev", again.output)).toBe(3);
    await good(forge, { ...dev, commit });
    await expectEachOnce(forge, 3);
    expect(forge.posts() - posts).toBe(3);
  });

  test("its machine gone, and its notes with it: the next run stops for what is left, and a person imports it", async () => {
    await using forge = await Forge.create(["staging"]);
    const commit = await forge.commit();
    const posts = forge.posts();
    const { run } = await startUnanswered(forge, { ...staging, commit });
    await run.die();
    forge.service.control.clearFaults();
    const lost = forge.names("staging-");

    await good(forge, { ...unlock("staging"), commit });
    const stopped = await job(forge, { ...staging, commit });
    expect(stopped.code).toBe(1);
    expect(stopped.output).toContain('compute:leftovers is "fail"');
    const morning = await job(forge, { ...drift, commit });
    expect(morning.code).toBe(1);
    expect(morning.output).toContain(`Running but in no stack, and billed (${lost.length})`);
    for (const name of lost) expect(morning.output).toContain(`"${name}"`);

    expect(await importAsSaid(forge, "staging", stopped.output)).toBe(lost.length);
    await good(forge, { ...staging, commit });

    const names = forge.names("staging-");
    expect(names).toEqual(expect.arrayContaining(lost));
    expect((await forge.held("staging")).map(({ name }) => name).sort()).toEqual(names.sort());
    expect(names).toHaveLength(3);
    expect(forge.posts() - posts).toBe(3);
  });
});

/** Types the imports that a stopped job has printed, at a desk; gives how many. */
async function importAsSaid(forge: Forge, stack: EnvironmentName, output: string): Promise<number> {
  const type = "environments-example:index:Environment";
  const component = `${stack}=urn:pulumi:${stack}::environments-example::${type}::${stack}`;
  const commands = [...new Set(printedCommands(output, "--parent"))];
  const lines = commands.map((command) => {
    const importing = command.replace("<name>=<urn of its component>", component);
    return `${importing} --stack ${stack} --yes --generate-code=false`;
  });
  await forge.type(stack, ...lines);
  return lines.length;
}
