/** Three programs at the same moment with one token, at the service's documented limit (G6). */
import { expect, test } from "@jest/globals";
import { reportFigures } from "../support/figures";
import { startEmulator, type Emulator } from "../../emulator";
import { instances } from "./support/programs";
import { Stack } from "./support/stack";

const count = 100;
const cursorParameter = "starting_after";

/** Three `pulumi up` of a hundred instances each, which all end well. */
async function threeAtOnce(service: Emulator): Promise<{ refused: number; output: string }> {
  await using disposal = new AsyncDisposableStack();
  const stacks = await Promise.all(
    ["a", "b", "c"].map(async (letter) => {
      const names = Array.from({ length: count }, (_, n) => `${letter}-${n}`);
      const program = instances(Object.fromEntries(names.map((name) => [name, {}])));
      return disposal.use(
        await Stack.create({ program, baseUrl: service.url, config: { cursorParameter } }),
      );
    }),
  );

  const ends = await Promise.all(
    stacks.map((stack) => stack.start("up", "--yes", "--skip-preview", "--parallel=100").ended),
  );

  expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
  const held = (await Promise.all(stacks.map((stack) => stack.instances()))).flat();
  const there = service.control.instances();
  expect(there).toHaveLength(3 * count);
  expect(held.map(({ id }) => id).sort()).toEqual(there.map(({ id }) => id).sort());
  expect(new Set(there.map(({ name }) => name)).size).toBe(3 * count);
  const requests = service.control.requests();
  const posts = requests.filter(
    ({ method, acted, status }) => method === "POST" && acted && status === 202,
  );
  expect(posts).toHaveLength(3 * count);
  const refused = requests.filter(({ status }) => status === 429).length;
  reportFigures(`3 × ${count} instances at once`, { ...service.counts(), "429s": refused });
  return { refused, output: ends.map(({ output }) => output).join("") };
}

test("at a limit that is soon used up: 429s, and yet 300 instances, each made once", async () => {
  const start = Date.now();
  // A minute of the service's limit is over in ten seconds.
  const clock = { now: () => start + (Date.now() - start) * 6 };
  await using service = await startEmulator({
    ...{ clock, provisioningSeconds: 12, cursorParameter },
    ...{ requestsPerMinute: 150, rateScope: "path" },
  });
  const { refused, output } = await threeAtOnce(service);
  expect(refused).toBeGreaterThan(0);
  expect(output).toContain("waiting for the rate limit");
});
