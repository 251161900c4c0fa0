/** Tests of what the processes of one run tell each other, and of what a Delete in another process makes of it (G4). */
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { Engine } from "./engine";
import { ledgerFolder } from "./ledger/folder";
import { systemDisk, type Disk } from "./ledger/disk";
import { createProvider } from "./provider";
import { propertyMap, Secret } from "./pulumi/propertyValue";
import { ready } from "./testing/fakeService";
import { createOf, inputsOf, liveToken, scene, scopeId, urnOf } from "./testing/scene";
import { temporaryFolder } from "./testing/temporaryFolder";

const [web, other] = [urnOf("web"), urnOf("other")];
const of = (id: string) => ({ id, isUnfinished: false });
const olds = propertyMap({ name: "web" });

/** Returns what makes processes of engines whose Pulumi home is this folder, and the folder of their runs. */
function processesIn(home: string, disk = systemDisk) {
  const processOf = (address = "127.0.0.1:1") =>
    new Engine({ env: { PULUMI_HOME: home }, engineAddress: () => address, disk });
  return { processOf, runs: join(home, "compute", "runs") };
}

describe("a Delete that comes to a process to which the program has said nothing of the resource", () => {
  test("is of a replaced instance: the process of the new provider says by what, and which policy the program has", () => {
    const { processOf, runs } = processesIn(temporaryFolder());
    const [present, past] = [processOf(), processOf()];
    present.configured({ deletePolicy: "retain" });
    present.checkConfig(web);
    expect(past.delete({ urn: web, id: "i-1" })).toEqual({ is: "removed" });
    // Before its Create, as with deleteBeforeReplace, and after it.
    present.check({ urn: web, olds: propertyMap({}) });
    const deletePolicy = "retain";
    expect(past.delete({ urn: web, id: "i-1" })).toEqual({ is: "replaced", deletePolicy });
    present.hold(web, { ...of("i-2"), status: "OFFLINE" }, true);
    const next = { ...of("i-2"), status: "OFFLINE", known: [], isAwaited: true };
    expect(past.delete({ urn: web, id: "i-1" })).toEqual({ is: "replaced", next, deletePolicy });
    // Another engine, and the end of the run.
    expect(processOf("127.0.0.1:2").delete({ urn: web, id: "i-1" })).toEqual({ is: "removed" });
    present.end("interrupted");
    // What was under way.
    present.hold(web, of("i-2"));
    expect(past.delete({ urn: web, id: "i-1" })).toEqual({ is: "removed" });
    expect(readdirSync(runs)).toEqual([]);
  });

  test("is of a replaced instance also in the next run, in which only a Diff shows the new one", () => {
    const { processOf } = processesIn(temporaryFolder());
    const [present, past] = [processOf(), processOf()];
    present.check({ urn: web, olds });
    present.diff({ urn: web, news: propertyMap({}) }, { id: "i-2", isUnfinished: true });
    const next = { id: "i-2", isUnfinished: true };
    expect(past.delete({ urn: web, id: "i-1" })).toMatchObject({ is: "replaced", next });
  });

  test("finds the new instance also under the URN of an alias", () => {
    const { processOf } = processesIn(temporaryFolder());
    const [present, past] = [processOf(), processOf()];
    present.check({ urn: other, olds });
    present.diff({ urn: other, news: propertyMap({}) }, of("i-1"));
    present.check({ urn: other, olds: propertyMap({}) });
    expect(past.delete({ urn: web, id: "i-1" })).toEqual({ is: "replaced" });
    present.hold(other, of("i-2"));
    expect(past.delete({ urn: web, id: "i-1" })).toMatchObject({ next: { id: "i-2" } });
  });

  test("leaves the instance to a resource of another provider that keeps it, and its own process need not know less", () => {
    const { processOf } = processesIn(temporaryFolder());
    const [one, two] = [processOf(), processOf()];
    for (const [run, urn] of [
      [one, web],
      [two, other],
    ] as const) {
      run.check({ urn, olds });
      run.diff({ urn, news: propertyMap({}) }, of("i-1"));
    }
    one.check({ urn: web, olds: propertyMap({}) });
    expect(one.delete({ urn: web, id: "i-1" })).toEqual({ is: "shared", keeper: other });
    two.check({ urn: other, olds: propertyMap({}) });
    expect(one.delete({ urn: web, id: "i-1" })).toEqual({ is: "replaced" });
  });
});

test("lines of another version, and half a line, say nothing", () => {
  const { processOf, runs } = processesIn(temporaryFolder());
  const past = processOf();
  processOf().check({ urn: web, olds });
  const [run = ""] = readdirSync(runs);
  const [file = ""] = readdirSync(join(runs, run));
  systemDisk.append(join(runs, run, file), '{"urn":"urn:pulu');
  expect(past.delete({ urn: web, id: "i-1" })).toMatchObject({ is: "replaced" });
  writeFileSync(join(runs, run, file), `{"version":2}\n{"urn":"${web}"}\n`);
  expect(past.delete({ urn: web, id: "i-1" })).toEqual({ is: "removed" });
});

test("the folder of a killed run is removed after a week, and that of another run that may go on is not", () => {
  const { processOf, runs } = processesIn(temporaryFolder());
  for (const [name, days] of [
    ["young", 6],
    ["old", 8],
  ] as const) {
    mkdirSync(join(runs, name), { recursive: true });
    writeFileSync(join(runs, name, "s1"), "");
    const at = Date.now() / 1000 - days * 24 * 60 * 60;
    utimesSync(join(runs, name), at, at);
  }
  const run = processOf();
  run.checkConfig(web);
  run.end("finished");
  expect(readdirSync(runs)).toEqual(["young"]);
});

test("a folder that can't be written tells nothing, and breaks nothing", () => {
  const { processOf } = processesIn(temporaryFolder(), unwritable("runs"));
  const [present, past] = [processOf(), processOf()];
  present.check({ urn: web, olds });
  present.hold(web, of("i-2"));
  expect(past.delete({ urn: web, id: "i-1" })).toEqual({ is: "removed" });
  present.end("finished");
});

test.each([
  ["the folder of the run", "runs"],
  ["the ledger", "ledger"],
  ["both", "compute"],
])("a run warns once if it can't write %s", async (_, folder) => {
  const { ctx, service, messages } = scene();
  const engineAddress = () => "127.0.0.1:1";
  const provider = createProvider({ ...ctx, engineAddress, disk: unwritable(folder) });
  const apiToken = new Secret(liveToken);
  const args = propertyMap({ baseUrl: "https://api.example.com/v2", apiToken });
  await provider.configure({ args, scope: scopeId });
  const asked = { olds: propertyMap({}), randomSeed: new Uint8Array() };
  // In the run after one whose Delete failed, no Create follows.
  for (const name of ["web", "other"])
    await provider.check({ ...asked, urn: urnOf(name), news: inputsOf({ name }) });
  expect(messages.warnings).toHaveLength(folder === "ledger" ? 0 : 1);
  service.posts.push(ready);
  await provider.create(createOf());
  const runs = join(ctx.env["PULUMI_HOME"] ?? "", "compute", "runs");
  const named = folder === "ledger" ? ledgerFolder(ctx.env) : runs;
  expect(messages.warnings).toEqual([
    `warning the provider's files can't be written (EROFS): if this run is killed while it creates an instance, the next run may not know, and a resource that changes its provider may lose the old instance before the new one is ready. Check that ${named} is writable and that its disk has room`,
  ]);
});

/** A disk on which the folder of this name, with all that is in it, can't be made. */
function unwritable(name: string): Disk {
  const makeFolder = (folder: string) => {
    if (folder.split(sep).includes(name)) throw new Error("EROFS");
    systemDisk.makeFolder(folder);
  };
  return { ...systemDisk, sync: async () => undefined, makeFolder };
}
