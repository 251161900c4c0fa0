/** Tests of what the processes of one run tell each other, and of what a Delete in another process makes of it (G4). */
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { Engine } from "./engine";
import { systemDisk } from "./ledger/disk";
import { propertyMap } from "./pulumi/propertyValue";
import { urnOf } from "./testing/scene";
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
  const fails = () => {
    throw new Error("EROFS");
  };
  const { processOf } = processesIn(temporaryFolder(), { ...systemDisk, makeFolder: fails });
  const [present, past] = [processOf(), processOf()];
  present.check({ urn: web, olds });
  present.hold(web, of("i-2"));
  expect(past.delete({ urn: web, id: "i-1" })).toEqual({ is: "removed" });
  present.end("finished");
});
