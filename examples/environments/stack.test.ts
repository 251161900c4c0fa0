/**
 * The component through the real engine, against the emulator of the service: nothing is billed, and no account is
 * needed. `npm run test:stack` runs it, with `pulumi` on PATH.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { LocalWorkspace, type Stack } from "@pulumi/pulumi/automation";
import { startEmulator, type Emulator } from "pulumi-compute-instances/testing";
import { Environment, type EnvironmentArgs, type Server } from "./environment";

const network = { vpcId: "vpc-1", sshKeys: ["key"], bastion: "10.0.0.2" };
let groups: EnvironmentArgs["groups"];

let emulator: Emulator;
let stack: Stack;
const folder = mkdtempSync(join(tmpdir(), "environments-"));

beforeAll(async () => {
  emulator = await startEmulator();
  const program = async () => {
    const { inventory } = new Environment("test", { network, imageId: "debian-12", groups });
    return { inventory };
  };
  stack = await LocalWorkspace.createStack(
    { stackName: "test", projectName: "environments-example", program },
    {
      envVars: {
        COMPUTE_BASE_URL: emulator.url,
        COMPUTE_API_TOKEN: emulator.token,
        // On Windows, Pulumi wants no slash before the drive.
        PULUMI_BACKEND_URL: pathToFileURL(folder).href.replace(/^file:\/\/\/(?=\w:)/, "file://"),
        PULUMI_CONFIG_PASSPHRASE: "test",
      },
    },
  );
}, 120_000);

afterAll(async () => {
  await emulator?.close();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(() => emulator.forgetRequests());

const creates = () => emulator.requests().filter(({ method }) => method === "POST");

test("each group has its servers, of its flavor", async () => {
  groups = {
    web: { count: 2, flavorId: "standard-2" },
    worker: { count: 1, flavorId: "standard-8" },
  };
  const { outputs } = await stack.up();

  const inventory = outputs["inventory"]?.value as Server[];
  expect(inventory.map(({ role }) => role)).toEqual(["web", "web", "worker"]);
  const made = emulator.instances();
  expect(made.map(({ name }) => name).sort()).toEqual(inventory.map(({ name }) => name).sort());
  expect(made.map(({ request }) => request.flavor_id).sort()).toEqual([
    ...["standard-2", "standard-2", "standard-8"],
  ]);
}, 120_000);

test("a second run asks for nothing", async () => {
  const { summary } = await stack.up();
  expect(summary.resourceChanges).not.toHaveProperty("create");
  expect(creates()).toEqual([]);
}, 120_000);

test("a group grows by one server, although the service is busy at first", async () => {
  groups = { ...groups, worker: { count: 2, flavorId: "standard-8" } };
  const busy = emulator.fault({ kind: "status", status: 429, retryAfter: 1, method: "POST" });
  await stack.up();
  expect(busy.hits).toBe(1);
  expect(creates().map(({ status }) => status)).toEqual([429, 202]);
  expect(emulator.instances()).toHaveLength(4);
}, 120_000);
