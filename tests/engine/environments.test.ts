/** Tests examples/environments: runs its own tests, and brings its stacks up with the real engine. */
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { temporaryFolder } from "../../provider/testing/temporaryFolder";
import { captured } from "../../tools/support/command";
import { ownPulumi } from "../../tools/support/ownPulumi";
import { root } from "../../tools/support/paths";
import { Fixture } from "./support/fixture";
import { pathWithRandom } from "./support/random/plugin";
import { canaries } from "./support/secrets";
import { tokens } from "./support/stack";

const program = join(root, "examples", "environments");

interface Server {
  name: string;
  role: string;
  ipv4: string;
  privateIpv4: string;
}

/** Returns a fixture whose stack `dev` exists and is selected. Its network stack does not exist yet. */
async function environments(): Promise<Fixture> {
  // The tests of the example check its types.
  const env = { PATH: pathWithRandom(), PULUMI_NODEJS_TRANSPILE_ONLY: "true" };
  const fixture = await Fixture.create({ program, env });
  fixture.stack.setEnv("COMPUTE_BASE_URL", fixture.service.url);
  return fixture;
}

async function bringUpNetwork({ stack }: Fixture, name: string): Promise<void> {
  await stack.succeed("-C", "network", "stack", "init", name);
  await stack.succeed("-C", "network", "up");
}

async function inventory({ stack }: Fixture): Promise<Server[]> {
  return (await stack.outputs())["inventory"] as Server[];
}

const namesOf = (servers: readonly Server[], role: string) =>
  servers.filter((server) => server.role === role).map(({ name }) => name);

test("the tests of the example pass, with a mocked engine", async () => {
  await captured("npm", ["test"], { cwd: program });
});

test("its test of a whole stack passes, with the real engine and the emulator of the npm package", async () => {
  const PATH = [join(root, "bin"), pathWithRandom()].join(delimiter);
  const env = { ...process.env, ...ownPulumi(temporaryFolder()), PATH };
  await captured("npm", ["run", "test:stack"], { cwd: program, env });
});

describe("with the network of dev", () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await environments();
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  test("a preview fails until the network stack exists", async () => {
    expect(await fixture.stack.fail("preview")).toMatch(/unknown stack.*environments-network\/dev/);
    await bringUpNetwork(fixture, "dev");
  });

  test("dev comes up, a second up changes nothing, and a changed group renames only the replaced servers", async () => {
    const { stack, control } = fixture;
    // The fixture searches the output and the disk for this secret.
    await stack.succeed("config", "set", "--secret", "agentToken", canaries.userData);
    await stack.up();

    const first = await inventory(fixture);
    const records = new Map(control.instances().map((instance) => [instance.name, instance]));
    expect(first.map(({ role }) => role)).toEqual(["web", "web", "worker"]);
    for (const { name, role, ipv4, privateIpv4 } of first) {
      expect(name).toMatch(new RegExp(`^dev-[a-z]+-${role}-\\d-[0-9a-f]{6}$`));
      const record = records.get(name);
      expect([ipv4, privateIpv4]).toEqual([record?.ipv4_public, record?.networks[0]?.ipv4]);
    }
    expect(new Set(first.map(({ name }) => name.split("-")[1])).size).toBe(1);
    expect(JSON.stringify(await stack.resources())).not.toContain("nginx");
    await stack.expectNothingToDo();

    await stack.succeed("config", "set", "--path", "groups.worker.count", "2");
    await stack.succeed("config", "set", "--path", "groups.web.flavorId", "standard-4");
    await stack.up();

    const second = await inventory(fixture);
    expect(namesOf(second, "worker").slice(0, 1)).toEqual(namesOf(first, "worker"));
    expect(namesOf(second, "worker")).toHaveLength(2);
    expect(namesOf(second, "web").filter((name) => namesOf(first, "web").includes(name))).toEqual(
      [],
    );
    // With a test token the replaced instances stay: a bastion, the first 3 servers, and 3 more.
    const names = control.instances().map(({ name }) => name);
    expect(names).toHaveLength(7);
    expect(new Set(names).size).toBe(7);
  });

  test("a review stack refuses a live token and invalid settings", async () => {
    const { stack } = fixture;
    await stack.type("cp Pulumi.review-template.yaml Pulumi.review-42.yaml");
    await stack.succeed("stack", "init", "review-42");
    const before = fixture.posts();

    stack.setEnv("COMPUTE_API_TOKEN", tokens.live);
    expect(await stack.fail("up")).toContain("requireTokenKind");

    stack.setEnv("COMPUTE_API_TOKEN", tokens.test);
    await stack.succeed("config", "set", "--path", "groups.web.count", "two");
    const wrong = await stack.fail("preview");
    expect(wrong).toContain("environments-example:groups.web.count: ");
    expect(wrong).toContain("Mend Pulumi.review-42.yaml");
    expect(wrong).not.toContain("settings.ts");
    expect(fixture.posts()).toBe(before);
  });
});

test("prod requires a live token, and its instances can be neither replaced nor destroyed", async () => {
  await using fixture = await environments();
  const { stack } = fixture;
  stack.setEnv("COMPUTE_API_TOKEN", tokens.live);
  await bringUpNetwork(fixture, "prod");
  await stack.succeed("stack", "init", "prod");

  stack.setEnv("COMPUTE_API_TOKEN", tokens.test);
  expect(await stack.fail("up")).toContain("requireTokenKind");

  stack.setEnv("COMPUTE_API_TOKEN", tokens.live);
  await stack.up();
  const ids = fixture.ids();

  await stack.succeed("config", "set", "imageId", "debian-13");
  for (const command of ["preview", "destroy"])
    expect(await stack.fail(command)).toContain("protect");
  expect(fixture.ids()).toEqual(ids);
  expect(await inventory(fixture)).toHaveLength(6);
});
