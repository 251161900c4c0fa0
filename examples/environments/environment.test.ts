/** The component with the engine replaced by mocks, as Pulumi's guide to unit tests shows it. */
import { beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { Environment, type EnvironmentArgs, type Server } from "./environment";

let made: pulumi.runtime.MockResourceArgs[] = [];

const mocks: pulumi.runtime.Mocks = {
  call: ({ inputs }) => inputs,
  newResource(resource) {
    made.push(resource);
    const { type, name, inputs } = resource;
    if (type === "random:index/randomPet:RandomPet") {
      return { id: `${inputs.prefix}-otter`, state: inputs };
    }
    if (type === "random:index/randomId:RandomId") {
      return { id: name, state: { ...inputs, hex: "a1b2c3" } };
    }
    const addresses = { ipv4: "203.0.113.7", privateIpv4: "10.0.0.7" };
    return { id: `i-${name}`, state: { ...inputs, ...addresses } };
  },
};

const args: EnvironmentArgs = {
  network: { vpcId: "vpc-1", sshKeys: ["key-b", "key-a"], bastion: "10.0.0.2" },
  imageId: "debian-12",
  groups: {
    web: { count: 2, flavorId: "standard-2" },
    worker: { count: 1, flavorId: "standard-8" },
  },
  agentToken: pulumi.secret("s3cret"),
};

const of = (type: string) =>
  made.filter((resource) => resource.type.endsWith(type)).map((resource) => resource.inputs);

/** Once its outputs are known, all its resources are. */
function environment(changes: Partial<EnvironmentArgs> = {}): Promise<Server[]> {
  const { inventory } = new Environment("dev", { ...args, ...changes });
  return new Promise((resolve) => void inventory.apply(resolve));
}

beforeAll(() => pulumi.runtime.setMocks(mocks, "environments-example", "dev"));
beforeEach(() => void (made = []));

test("each group has as many servers as it is to have, of its flavor", async () => {
  const inventory = await environment();

  expect(of("Instance").map(({ flavorId }) => flavorId)).toEqual([
    ...["standard-2", "standard-2"],
    "standard-8",
  ]);
  expect(inventory[2]).toEqual({
    name: "dev-otter-worker-1-a1b2c3",
    role: "worker",
    ipv4: "203.0.113.7",
    privateIpv4: "10.0.0.7",
  });
});

test("a group of none is no server", async () => {
  const none = { count: 0, flavorId: "standard-2" };
  expect(await environment({ groups: { web: none, worker: none } })).toEqual([]);
  expect(of("RandomId")).toEqual([]);
});

test("the script is a secret, and has the role's packages and the agent's token", async () => {
  await environment();
  const scripts = of("Instance").map(({ userData }) => userData);
  expect(scripts[0]).toMatchObject({ value: expect.stringContaining('packages: ["nginx","ufw"]') });
  for (const script of scripts) {
    // How a secret looks to the engine.
    expect(Object.values(script)).toContain("1b47061264138c4ac30d75fd1eb44270");
    expect(script.value).toContain("\\nTOKEN=s3cret\\n");
    expect(script.value).toContain('from, "10.0.0.2", to');
  }
});

describe("a server's name", () => {
  const keepers = async (changes: Partial<EnvironmentArgs> = {}) => {
    made = [];
    await environment(changes);
    return of("RandomId").map((inputs) => JSON.stringify(inputs.keepers));
  };

  test.each<[string, Partial<EnvironmentArgs>]>([
    ["image", { imageId: "debian-13" }],
    ["VPC", { network: { ...args.network, vpcId: "vpc-2" } }],
    ["keys", { network: { ...args.network, sshKeys: ["key-a"] } }],
    ["script", { agentToken: "another" }],
  ])("is a new one with another %s, which makes a new server", async (_, change) => {
    const [before, after] = [await keepers(), await keepers(change)];
    for (const [index, keeper] of after.entries()) expect(keeper).not.toBe(before[index]);
  });

  test("is a new one in the group whose flavor changes, and in no other", async () => {
    const web = { count: 2, flavorId: "standard-4" };
    const [before, after] = [await keepers(), await keepers({ groups: { ...args.groups, web } })];
    expect(after.map((keeper, index) => keeper === before[index])).toEqual([false, false, true]);
  });

  test("stays with more servers, or keys in another order", async () => {
    const web = { count: 3, flavorId: "standard-2" };
    const before = await keepers();
    const more = await keepers({ groups: { ...args.groups, web } });
    const turned = await keepers({ network: { ...args.network, sshKeys: ["key-a", "key-b"] } });
    expect(more.slice(0, 2)).toEqual(before.slice(0, 2));
    expect(turned).toEqual(before);
  });
});
