/** Tests the options with which the emulator does what the service's document leaves open (`probe` tells these services apart). */
import { expect, test } from "@jest/globals";
import { startEmulator, type EmulatorOptions } from "./index";
import { seeded } from "./random";
import { caller } from "./testClient";
import { TestClock } from "./testClock";

const started = async (options: EmulatorOptions) => {
  const clock = new TestClock();
  const emulator = await startEmulator({ clock, random: seeded(7), ...options });
  return { emulator, clock, ...caller(emulator) };
};

test("page and offset are numbers, and other words are refused", async () => {
  for (const [cursorParameter, second, wrong] of [
    ["page", "2", "0"],
    ["offset", "2", "-1"],
  ] as const) {
    const { emulator, names, ask } = await started({ cursorParameter });
    await using _closed = emulator;
    for (const name of ["a", "b", "c"]) emulator.control.insert({ name, tenant: "acme" });
    expect(await names(`?limit=2&${cursorParameter}=${second}`)).toEqual(["c"]);
    for (const value of [wrong, "i-1"])
      expect(await ask("GET", `/instances?${cursorParameter}=${value}`)).toMatchObject({
        status: 400,
      });
  }
});

test("an unknown parameter is ignored, or refused", async () => {
  for (const refuseUnknownParameters of [false, true]) {
    const { emulator, ask } = await started({ refuseUnknownParameters, cursorParameter: "after" });
    await using _closed = emulator;
    const { status } = await ask("GET", "/instances?limit=1&starting_after=x");
    expect(status).toBe(refuseUnknownParameters ? 400 : 200);
    expect((await ask("GET", "/instances?limit=1&status=ACTIVE")).status).toBe(200);
  }
});

test("a name that another instance of the tenant has is refused, or gets a domain in the 202 and in listings", async () => {
  const { emulator, create, names } = await started({ uniqueNames: true, nameSuffix: ".dc1" });
  await using _closed = emulator;
  expect(await create("web")).toMatchObject({ status: 202, body: { name: "web.dc1" } });
  expect(await create("web")).toMatchObject({
    status: 409,
    body: { error: { code: "name_taken" } },
  });
  expect(await names()).toEqual(["web.dc1"]);
  emulator.control.insert({ name: "db.dc1", tenant: "other" });
  expect((await create("db")).status).toBe(202);
});

test("statuses, the address and the listing come one after the other", async () => {
  const { emulator, clock, create, list } = await started({
    provisioningSeconds: 2,
    statusesBetween: [
      { status: "BOOTING", seconds: 1 },
      { status: "OFFLINE", seconds: 1 },
    ],
    addressSeconds: 3,
    addressBefore: "0.0.0.0",
    listingSeconds: 1,
  });
  await using _closed = emulator;
  await create("web");
  emulator.control.insert({ name: "done", tenant: "acme" });
  const seen: string[] = [];
  for (let second = 0; second < 9; second++) {
    const web = (await list()).data.find(({ name }) => name === "web");
    seen.push(web ? `${web.status} ${web.ipv4_public}` : "not listed");
    clock.advance(1);
  }
  const none = "0.0.0.0";
  expect(seen).toEqual([
    ...["not listed", `PROVISIONING ${none}`, `BOOTING ${none}`, `OFFLINE ${none}`],
    ...[`ACTIVE ${none}`, `ACTIVE ${none}`, `ACTIVE ${none}`],
    ...["ACTIVE 198.51.100.1", "ACTIVE 198.51.100.1"],
  ]);
  expect((await list("?status=OFFLINE")).data).toEqual([]);
  // What a test inserts or ends changes no more.
  expect(emulator.control.instances()[1]).toMatchObject({ ipv4_public: "198.51.100.2" });
  const { id } = (await create("late")).body as { id: string };
  emulator.control.finishProvisioning();
  expect(emulator.control.instance(id)).toMatchObject({
    status: "ACTIVE",
    ipv4_public: "198.51.100.3",
  });
});
