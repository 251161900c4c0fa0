/**
 * Tests `probe` over real sockets: what it prints of a service is how the emulator was set, and nothing but GET is sent with a
 * token that is not a test token.
 */
import { describe, expect } from "@jest/globals";
import { stepBounds, type StepName } from "../../cli/probe/facts";
import { typed } from "../../cli/testing/typed";
import type { EmulatorOptions } from "../../emulator";
import { fakePulumi } from "./support/fakePulumi";
import { liveToken, test, type World } from "./support/world";

const ids = ["--flavor", "f-1", "--image", "img-1", "--vpc", "vpc-1"];
/** Short pauses, and a settling time that a service of some seconds exceeds. */
const pace = ["--settling-seconds", "3", "--poll-interval-seconds", "0.5"];

/** A service for which a second passes with each listing, so that the machine's speed changes nothing. */
function ticking(options: EmulatorOptions): EmulatorOptions {
  let seconds = Date.now() / 1000;
  const log = (line: string) => {
    if (line.includes("GET /v2/instances")) seconds++;
  };
  return { ...options, log, clock: { now: () => seconds * 1000 } };
}

const listings = { method: "GET", path: "/v2/instances" } as const;
const posts = { method: "POST", path: "/v2/instances" } as const;

interface Result {
  rows: { what: string; found: string; sure: string; then: string; contradicts: string }[];
  settings: { command: string }[];
  open: { what: string; why: string }[];
  left: string[];
  steps: { step: StepName; requests: number; seconds: number }[];
}

/**
 * Runs `probe --json`, and checks that each step has kept its bounds, and that no secret was printed. `cleanUp`: how many requests
 * follow the steps.
 */
async function probe(
  world: World,
  args: string[] = ["--yes"],
  env: NodeJS.ProcessEnv = {},
  cleanUp = 0,
) {
  const { code, lines, warnings } = await typed(
    ["probe", "--json", ...pace, ...args],
    world.env(env),
  );
  const printed = lines.join("\n");
  expect(printed + warnings.join("\n")).not.toContain("Canary");
  const result = JSON.parse(printed) as Result;
  for (const { step, requests } of result.steps)
    expect(requests).toBeLessThanOrEqual(stepBounds[step].requests);
  const asked = result.steps.reduce((sum, { requests }) => sum + requests, 0);
  expect(world.service.control.requests()).toHaveLength(asked + cleanUp);
  const rows = Object.fromEntries(
    result.rows.map(({ what, found, contradicts }) => [
      what,
      contradicts === "" ? found : `${found} ≠ ${contradicts}`,
    ]),
  );
  // On a slow machine, an instance takes longer, for which another poll interval is advised.
  const commands = result.settings
    .map(({ command }) => command.replace("pulumi config set compute:", ""))
    .filter((command) => !command.startsWith("pollIntervalSeconds"));
  return { ...result, code, rows, commands, warnings };
}

/** A service with these options, and what `probe` finds. */
interface Dialect {
  options: EmulatorOptions;
  rows: Record<string, unknown>;
  commands: unknown[];
  /** How many instances are left. */
  left: number;
}

const dialects: Record<string, Dialect> = {
  "as the document says, without a cursor and a destroy call": {
    options: {},
    rows: {
      account: "shows an id: acct_default",
      "other parameters": "ignored",
      limit: "kept",
      cursor: "none of starting_after, after, cursor, page_token, page, offset",
      order: "oldest first",
      listed: "in the first listing",
      networks: "1 network: private with MAC",
      name: "comes back as it was sent",
      "same name": "accepted: a second instance",
      "destroy call": expect.stringMatching(/^none found.*404 not_found$/),
    },
    commands: [],
    left: 2,
  },
  "a cursor of another name, refused parameters, newest first, unique names, a destroy call": {
    options: {
      cursorParameter: "after",
      refuseUnknownParameters: true,
      listOrder: "newest",
      uniqueNames: true,
      destroyPath: "/v2/instances/{id}",
      macAddresses: false,
    },
    rows: {
      "other parameters": "refused: 400 invalid_parameter: Unknown parameter: probe_unknown.",
      cursor: '"after" leads on, by the last id',
      order: "newest first",
      networks: "1 network: private without MAC",
      "same name": expect.stringMatching(
        /^refused: 409 name_taken: The name probe-\w+ is taken\.$/,
      ),
      "destroy call": expect.stringMatching(
        /^DELETE \/v2\/instances\/\{id\} answers 204; gone after/,
      ),
      "unknown id": "DELETE answers 404 not_found",
    },
    commands: ["cursorParameter after", "destroyPath '/v2/instances/{id}'"],
    left: 0,
  },
  "pages by number, rewritten names, a destroy call at another path that takes its time": {
    options: {
      cursorParameter: "page",
      nameSuffix: ".dc1.example",
      destroyPath: "/v2/servers/{id}",
      destroySeconds: 2,
    },
    rows: {
      cursor: '"page" leads on, by number',
      name: expect.stringMatching(/^(probe-\w+) comes back as \1\.dc1\.example ≠ Instance$/),
      "same name": "accepted: a second instance",
      "destroy call": expect.stringMatching(
        /^DELETE \/v2\/servers\/\{id\} answers 202; gone after/,
      ),
    },
    commands: ["destroyPath '/v2/servers/{id}'"],
    left: 0,
  },
  "a status between, a late address with 0.0.0.0 before": {
    options: {
      cursorParameter: "starting_after",
      statusesBetween: [{ status: "BOOTING", seconds: 3 }],
      provisioningSeconds: 1,
      addressSeconds: 3,
      addressBefore: "0.0.0.0",
    },
    rows: {
      cursor: '"starting_after" leads on, by the last id',
      status: expect.stringMatching(
        /^PROVISIONING \S+ s → BOOTING \S+ s → ACTIVE \S+ s ≠ States and transitions$/,
      ),
      address: expect.stringMatching(/^after \S+ s; before that "0\.0\.0\.0"$/),
    },
    commands: [expect.stringMatching(/^settlingSeconds \d+0$/)],
    left: 2,
  },
  "a late listing, pages by offset": {
    options: {
      cursorParameter: "offset",
      listingSeconds: 4,
    },
    rows: {
      cursor: '"offset" leads on, by number',
      listed: expect.stringMatching(/^\d+\.\d s to \d+\.\d s after the 202$/),
    },
    commands: [expect.stringMatching(/^settlingSeconds \d+0$/)],
    left: 2,
  },
};

describe("probe tells how the service is", () => {
  for (const [name, { options, rows, commands, left }] of Object.entries(dialects))
    test(
      name,
      async (world) => {
        const seen = await probe(world, ["--yes", ...ids]);
        expect(seen.rows).toMatchObject(rows);
        expect(seen.commands).toEqual(commands);
        expect(seen.open).toEqual([]);
        expect(seen.left).toHaveLength(left);
        expect(seen.code).toBe(0);
        expect(world.posts).toBeLessThanOrEqual(3);
        for (const { request } of world.instances)
          expect(request).toEqual({
            name: expect.stringMatching(/^probe-[0-9a-f]{8}$/),
            flavor_id: "f-1",
            image_id: "img-1",
            vpc_id: "vpc-1",
          });
      },
      ticking(options),
    );
});

test(
  "with a live token it sends nothing but GET, whatever is asked of it",
  async (world) => {
    for (const name of ["a", "b", "c"]) world.service.control.insert({ name, tokenKind: "live" });
    const seen = await probe(world, ["--yes", ...ids], { COMPUTE_API_TOKEN: liveToken });
    expect(seen.rows).toMatchObject({ cursor: '"after" leads on, by the last id' });
    expect(seen.commands).toEqual(["cursorParameter after"]);
    expect(seen.open).toContainEqual({
      what: "destroy call",
      why: "with a live token, probe only reads",
    });
    expect(seen.code).toBe(1);
    const methods = new Set(world.service.control.requests().map(({ method }) => method));
    expect([...methods]).toEqual(["GET"]);
  },
  { cursorParameter: "after", destroyPath: "/v2/instances/{id}" },
);

test(
  "a parameter whose pages end without one of the instances is no cursor",
  async (world) => {
    for (const name of "abcdefgh") world.service.control.insert({ name, tokenKind: "live" });
    // The first five are those of the listing step, all instances, the first page, and `starting_after`.
    world.service.control.fault({ ...listings, kind: "omitItem", instance: "c", after: 5 });
    const seen = await probe(world, [], { COMPUTE_API_TOKEN: liveToken });
    expect(seen.rows).toMatchObject({ cursor: '"after" repeats or skips instances' });
    expect(seen.commands).toEqual([]);
  },
  { cursorParameter: "after" },
);

test("without --yes, and without ids, it makes nothing, and says what it takes", async (world) => {
  const noYes = await probe(world, ids);
  expect(noYes.open).toContainEqual({
    what: "create",
    why: "nobody can be asked here: --yes makes instances",
  });
  world.service.control.forgetRequests();
  const noIds = await probe(world);
  expect(noIds.open).toContainEqual({
    what: "create",
    why: "it takes --flavor, --image and --vpc, because no stack is used",
  });
  expect(world.posts).toBe(0);
});

test("the ids come from an instance of the stack at this service", async (world) => {
  const inputs = { flavorId: "f-9", imageId: "img-9", vpcId: "vpc-9" };
  const PATH = fakePulumi(
    world,
    {
      "organization/p/dev": {
        held: [
          { name: "away", id: "i-0", inputs, origin: { baseUrl: "https://other.example/v2" } },
          { name: "web", id: "i-1", inputs: { ...inputs, flavorId: "f-8" } },
        ],
      },
    },
    { selected: "organization/p/dev" },
  );
  const { code } = await probe(world, ["--yes"], { PATH: `${PATH}:/usr/bin:/bin` });
  expect(code).toBe(0);
  expect(world.instances[0]?.request).toMatchObject({ flavor_id: "f-8", vpc_id: "vpc-9" });
});

test(
  "429, cut connections and a lost 202 cost time, and nothing is left",
  async (world) => {
    const { control } = world.service;
    control.fault({ ...listings, kind: "status", status: 429, retryAfter: 1, after: 1 });
    control.fault({ ...listings, kind: "reset", after: 4, times: 2 });
    control.fault({ ...posts, kind: "reset", acted: true });
    control.fault({ method: "DELETE", kind: "reset", acted: true, after: 1 });
    const { code, rows, left } = await probe(world, ["--yes", ...ids]);
    expect(rows["create"]).toMatch(/^no clear answer after/);
    expect(rows["destroy call"]).toMatch(/^DELETE/);
    expect({ code, left, instances: world.instances }).toEqual({
      code: 0,
      left: [],
      instances: [],
    });
  },
  { destroyPath: "/v2/instances/{id}" },
);

test(
  "an answer that names an older instance makes it nobody's: it is not destroyed",
  async (world) => {
    const { id } = world.service.control.insert({ name: "somebody's" });
    world.service.control.fault({ ...posts, kind: "existingId", times: "always" });
    const { rows, open } = await probe(world, ["--yes", ...ids]);
    expect(rows["create"]).toBe(`the answer names ${id}, which may be an older instance`);
    expect(open).toContainEqual({ what: "destroy call", why: "no instance was made" });
    expect(world.ids).toContain(id);
  },
  { destroyPath: "/v2/instances/{id}" },
);

test(
  "without a complete listing, whether an instance is gone can't be seen, and the other one gets its DELETE, too",
  async (world) => {
    for (let made = 0; made < 101; made++) world.service.control.insert({ name: "somebody's" });
    const { open, left } = await probe(world, ["--yes", ...ids, "--settling-seconds", "1"]);
    const text =
      /^DELETE \/v2\/instances\/\{id\} answers 204 \(404 not_found for an unknown id\), .* can't be seen/;
    expect(open).toEqual([{ what: "destroy call", why: expect.stringMatching(text) }]);
    expect(left).toHaveLength(2);
    expect(world.instances).toHaveLength(101);
  },
  { destroyPath: "/v2/instances/{id}", listOrder: "newest" },
);

test(
  "no parameter is tried for the cursorParameter none",
  async (world) => {
    for (const name of "abc") world.service.control.insert({ name, tokenKind: "live" });
    const args = ["--cursor-parameter", "none"];
    const { commands } = await probe(world, args, { COMPUTE_API_TOKEN: liveToken });
    expect(commands).toEqual(["cursorParameter starting_after"]);
    const tried = world.service.control.requests().flatMap(({ query }) => Object.keys(query));
    expect(tried).not.toContain("none");
  },
  { cursorParameter: "starting_after" },
);

test(
  "the setting for the destroy call says that an explicit deletePolicy has to change, too",
  async (world) => {
    const stacks = { "organization/p/dev": {} };
    for (const [config, from] of [
      [{}, "from then on"],
      [
        { "compute:deletePolicy": { value: "retain" } },
        "once compute:deletePolicy is destroy in place of retain",
      ],
    ] as const) {
      const path = fakePulumi(world, stacks, { config, selected: "organization/p/dev" });
      world.service.control.forgetRequests();
      const env = { PATH: `${path}:/usr/bin:/bin` };
      const { settings } = await probe(world, ["--yes", ...ids], env);
      const why = `${from}, a removal, a replacement and \`pulumi destroy\` send DELETE, and the server ends`;
      expect(settings).toContainEqual(expect.objectContaining({ why }));
    }
  },
  { destroyPath: "/v2/instances/{id}" },
);

test(
  "what the clean-up destroys after a refused DELETE is not left",
  async (world) => {
    world.service.control.fault({ method: "DELETE", kind: "status", status: 401 });
    const { left, warnings } = await probe(world, ["--yes", ...ids], {}, 2);
    expect({ left, instances: world.instances }).toEqual({ left: [], instances: [] });
    expect(warnings.filter((line) => line.startsWith("destroyed"))).toHaveLength(2);
  },
  { destroyPath: "/v2/instances/{id}" },
);

test("an instance that only the clean-up finds is left if nothing destroys it", async (world) => {
  const { control } = world.service;
  control.fault({ ...posts, kind: "reset", acted: true });
  // The listing after the lost answer.
  control.fault({ ...listings, kind: "status", status: 401, after: 3 });
  const { left } = await probe(world, ["--yes", ...ids], {}, 4);
  expect(left).toEqual(world.ids);
});

test("a DELETE never goes to a path without an id, and no request has an id in its query but a listing", async (world) => {
  await probe(world, ["--yes", ...ids]);
  const requests = world.service.control.requests().filter(({ method }) => method !== "GET");
  const destroys = requests.filter(({ method }) => method === "DELETE");
  expect(destroys.length).toBeGreaterThan(3);
  for (const { path, query } of destroys) {
    expect(path).toMatch(/\/(i-[0-9a-f]+|probe-[0-9a-f]+-no-such-id)$/);
    expect(query).toEqual({});
  }
});
