/** Tests how an instance changes over time, and what survives a restart. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { startEmulator } from "../index";
import { seeded } from "../random";
import { caller } from "../testClient";
import { TestClock } from "../testClock";
import { parseNet, privateIpv4, publicIpv4, publicIpv4In } from "./addresses";

describe("provisioning", () => {
  test("takes as long as the option says, by the emulator's clock", async () => {
    const clock = new TestClock();
    await using emulator = await startEmulator({ clock, provisioningSeconds: 30 });
    const { create, statuses } = caller(emulator);
    await create("a");
    const readyAt = new Date(clock.now() + 30_000).toISOString();
    expect(emulator.control.instances()).toMatchObject([{ ready_at: readyAt }]);
    clock.advance(29.999);
    expect(await statuses()).toEqual(["PROVISIONING"]);
    clock.advance(0.001);
    expect(await statuses()).toEqual(["ACTIVE"]);
  });

  test("takes a time from a range, or one that depends on the name", async () => {
    const clock = new TestClock();
    const random = seeded(1);
    await using ranged = await startEmulator({ clock, random, provisioningSeconds: [10, 20] });
    const { create, statuses } = caller(ranged);
    for (const name of ["a", "b", "c", "d"]) await create(name);
    clock.advance(9.9);
    expect(new Set(await statuses())).toEqual(new Set(["PROVISIONING"]));
    clock.advance(5);
    expect(new Set(await statuses())).toEqual(new Set(["PROVISIONING", "ACTIVE"]));
    clock.advance(5.1);
    expect(new Set(await statuses())).toEqual(new Set(["ACTIVE"]));

    const secondsFor = (name: string) => (name === "slow" ? 60 : 1);
    await using named = await startEmulator({ clock, provisioningSeconds: secondsFor });
    await caller(named).create("slow");
    await caller(named).create("quick");
    clock.advance(2);
    expect(await caller(named).statuses()).toEqual(["PROVISIONING", "ACTIVE"]);
  });

  test("is the status in the 202 even if it takes no time", async () => {
    await using emulator = await startEmulator({ provisioningSeconds: 0 });
    expect((await caller(emulator).create("a")).body).toMatchObject({ status: "PROVISIONING" });
    expect(await caller(emulator).statuses()).toEqual(["ACTIVE"]);
  });

  test("ends OFFLINE for the names that the option says", async () => {
    const endStatus = (name: string) => (name.startsWith("off") ? "OFFLINE" : "ACTIVE");
    await using emulator = await startEmulator({ provisioningSeconds: 0, endStatus });
    await caller(emulator).create("off-1");
    await caller(emulator).create("on-1");
    expect(await caller(emulator).statuses()).toEqual(["OFFLINE", "ACTIVE"]);
  });
});

test("a sandbox instance is gone after a day, a live one is not", async () => {
  const clock = new TestClock();
  await using emulator = await startEmulator({ clock });
  for (const token of ["sk_test_acme_1", "sk_live_acme_1"])
    await caller(emulator, token).create("a");
  const kinds = () => emulator.control.instances().map(({ tokenKind }) => tokenKind);
  clock.advance(24 * 60 * 60 - 1);
  expect(kinds()).toEqual(["test", "live"]);
  clock.advance(1);
  expect(kinds()).toEqual(["live"]);
});

test("no two instances share an address", () => {
  const numbers = Array.from({ length: 200_000 }, (_, index) => index + 1);
  expect(new Set(numbers.map(publicIpv4)).size).toBe(numbers.length);
  expect(new Set(numbers.map(privateIpv4)).size).toBe(numbers.length);
  expect([1, 254, 255, 762, 763].map(publicIpv4)).toEqual([
    "198.51.100.1",
    "198.51.100.254",
    "203.0.113.1",
    "192.0.2.254",
    "100.64.0.1",
  ]);
});

test("with a net of their own, the public addresses are those of the net, and no other instance has them unless it is used up", async () => {
  await using emulator = await startEmulator({ addresses: "127.0.0.0/30", provisioningSeconds: 0 });
  for (const name of ["a", "b", "c"]) await caller(emulator).create(name);
  expect(emulator.control.instances().map(({ ipv4_public }) => ipv4_public)).toEqual([
    "127.0.0.1",
    "127.0.0.2",
    "127.0.0.1",
  ]);
  const addresses = (text: string, ...numbers: number[]) => {
    const net = parseNet(text);
    return net && numbers.map((seq) => publicIpv4In(net, seq));
  };
  expect(addresses("127.0.0.0/8", 1, 255, 256, 70_000)).toEqual([
    "127.0.0.1",
    "127.0.0.255",
    "127.0.1.0",
    "127.1.17.112",
  ]);
  expect(addresses("127.0.0.1/32", 1, 2)).toEqual(["127.0.0.1", "127.0.0.1"]);
  expect(addresses("192.168.7.9/24", 1)).toEqual(["192.168.7.1"]);
  for (const wrong of ["127.0.0.0", "127.0.0.256/8", "127.0.0.0/33", "::1/128", ""]) {
    expect(parseNet(wrong)).toBeUndefined();
    await expect(startEmulator({ addresses: wrong })).rejects.toThrow(
      "addresses must be a net of IPv4 addresses",
    );
  }
});

describe("a database file", () => {
  const folders: string[] = [];
  const newFolder = () => {
    const path = mkdtempSync(join(tmpdir(), "emulator-"));
    folders.push(path);
    return path;
  };
  afterEach(() => {
    for (const path of folders.splice(0)) rmSync(path, { recursive: true });
  });

  test("survives a restart, during which time passes", async () => {
    const database = join(newFolder(), "state.db");
    const clock = new TestClock();
    const options = { database, clock, provisioningSeconds: 30 };
    await using before = await startEmulator(options);
    await caller(before).create("a", { ssh_keys: ["k"] });
    const [created] = before.control.instances();
    await before.close();

    clock.advance(31);
    await using after = await startEmulator(options);
    expect(after.control.instances()).toEqual([{ ...created, status: "ACTIVE" }]);
    await caller(after).create("b");
    expect(new Set(after.control.instances().map((instance) => instance.ipv4_public)).size).toBe(2);
    clock.advance(24 * 60 * 60 - 31);
    expect(await caller(after).names()).toEqual(["b"]);
  });

  test("is refused, with its name, if it is another kind of file", async () => {
    const database = join(newFolder(), "notes.txt");
    writeFileSync(database, "These are my notes, and not a database of any kind.");
    await expect(startEmulator({ database })).rejects.toThrow(/notes\.txt can't be used/);
  });

  test("is refused in a folder that does not exist", async () => {
    const database = join(newFolder(), "missing", "state.db");
    await expect(startEmulator({ database })).rejects.toThrow(/does not exist/);
  });
});
