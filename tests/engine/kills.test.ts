/**
 * Kills runs that replace some instances and give some of them another provider, at a moment that the seed chooses. Whatever was killed,
 * a server that serves is not ended before its successor does, and what a person types afterwards leaves nothing lost or doubled.
 */
import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { seeded } from "../../emulator/random";
import { destroyPath, Fixture } from "./support/fixture";
import { instances } from "./support/programs";
import type { End } from "./support/running";
import { settle, stateFile } from "./support/settling";
import { tokens } from "./support/stack";

const names = ["a", "b", "c"] as const;
const providers = ["own", "other"];
const ends: readonly End[] = ["plugin killed", "engine killed", "both killed"];

interface Wanted {
  flavor: number;
  /** The index of its explicit provider. The default one, if there is none of this index. */
  provider: number;
}

function programOf({ service }: Fixture, wanted: readonly Wanted[]): string {
  const settings = { settlingSeconds: 1, pollIntervalSeconds: 0.2, destroyPath };
  const properties = { ...settings, baseUrl: service.url };
  const own = providers.map((name) => [name, { type: "pulumi:providers:compute", properties }]);
  const named = names.map((name, n) => {
    const { flavor, provider } = wanted[n] ?? { flavor: 0, provider: 0 };
    const chosen = providers[provider];
    const options = chosen === undefined ? {} : { provider: `\${${chosen}}` };
    return [name, { inputs: { flavorId: `flavor-${flavor}` }, options }];
  });
  return instances(Object.fromEntries(named) as Parameters<typeof instances>[0], {
    resources: Object.fromEntries(own) as Record<string, unknown>,
  });
}

/** By hand, COMPUTE_KILL_SEEDS has others. */
const seeds = (process.env["COMPUTE_KILL_SEEDS"] ?? "1,2").split(",").map(Number);

test.each(seeds)("runs of seed %d that are killed end no server that serves", async (seed) => {
  const random = seeded(seed);
  const next = (count: number) => Math.floor(random() * count);
  await using fixture = await Fixture.create({
    token: tokens.live,
    config: { destroyPath },
    service: { destroyPath, provisioningSeconds: 0.5 },
  });
  const { stack, control } = fixture;
  const requests = () => Object.values(control.counts()).reduce((sum, count) => sum + count, 0);
  const expectServing = () => {
    const serving = control.instances().filter(({ status }) => status === "ACTIVE");
    for (const name of names)
      expect(serving.some((one) => one.name?.startsWith(`${name}-`))).toBe(true);
  };
  const wanted = names.map(() => ({ flavor: 0, provider: next(3) }));
  stack.program(programOf(fixture, wanted));
  await stack.up();
  let said = "";
  for (let round = 0; round < 3; round++) {
    for (const one of wanted) {
      if (next(3) > 0) one.flavor++;
      if (next(3) === 0) one.provider = next(3);
    }
    stack.program(programOf(fixture, wanted));
    const status = [undefined, undefined, "OFFLINE", "ERROR"][next(4)];
    const fault = status === undefined ? undefined : control.fault({ kind: "endsAs", status });
    const moment = requests() + 2 + next(24);
    const up = stack.start("up", ...(next(2) === 0 ? [] : ["--continue-on-error"]));
    const how = ends[next(3)] ?? "both killed";
    while (requests() < moment && up.child.exitCode === null) await sleep(5);
    if (up.child.exitCode === null) await up.end(how).catch(() => undefined);
    fault?.remove();
    expectServing();
    await stack.start("cancel", "--yes").ended;
    if (next(2) === 0) said += (await settle(stack, "--yes")).output;
    expectServing();
  }
  for (const { id, status } of control.instances())
    if (status !== "ACTIVE") control.setStatus(id, "ACTIVE");
  for (let code = 1, tries = 0; code !== 0; tries++) {
    if (tries === 8) throw new Error(`no way out: ${said}`);
    // A person types what is printed: one of the ways, until there is none.
    let { output } = await settle(stack, "--yes");
    said += output;
    // A file backend does not survive each kill, and `pulumi cancel` then fails, too.
    if (output.includes("ends in .json.attrs")) rmSync(`${stateFile(stack)}.attrs`);
    await stack.start("cancel", "--yes").ended;
    const up = stack.start("up", "--refresh");
    code = (await up.ended) ?? 1;
    said += up.output;
    output += up.output;
    expectServing();
    const ways = output.matchAll(/`(\S+ settle --yes --(?:forget|take) [^`]+)`/g);
    const commands = [...new Set([...ways].map(([, command = ""]) => command))];
    const way = commands[next(commands.length)];
    if (way !== undefined) said += await stack.type(`${way} 2>&1; true`);
  }
  const ids = await stack.ids();
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toHaveLength(names.length);
  const listed = fixture.ids();
  expect(listed).toEqual(expect.arrayContaining(ids));
  // What no state has was named.
  for (const id of listed.filter((id) => !ids.includes(id))) expect(said).toContain(id);
  await stack.expectNothingToDo();
});
