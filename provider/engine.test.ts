/**
 * Tests of the engine's run. They replay conversations of the real engine, which `tests/engine/support/recordedCalls` records.
 * What each call is about stands beside it, in the field `is`. In older/ are those recorded with 3.180 whose Reads differ from today's
 * (it sends no Cancel), and that of 3.258 with an error hook, which 3.180 does not have.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { Engine } from "./engine";
import { Instance } from "./instance/instance";
import { propertyMap, Unknown } from "./pulumi/propertyValue";
import { urnOf } from "./testing/scene";

/** One call of a conversation. A field that is left out was not sent. */
interface Recorded {
  process: number;
  call: string;
  urn?: string;
  id?: string;
  preview?: true;
  oldInputs?: "empty" | "given";
  oldOutputs?: "empty" | "unstamped" | "this session" | "another session";
  unknown?: string[];
  answer?: string;
  is?: string;
}

/** Tells the run of a call and of its answer. Returns what the call is about. */
function hear(run: Engine, call: Recorded): string | undefined {
  const { urn = "", id = "", preview = false, oldInputs, oldOutputs, answer } = call;
  const unknown = (call.unknown ?? []).map((name) => [name, Unknown.value] as const);
  const news = propertyMap(Object.fromEntries(unknown));
  const shown = { id, isUnfinished: answer === "unfinished" };
  const given = (mark: Recorded["oldInputs"] | Recorded["oldOutputs"]) => {
    const isStamped = mark !== "given" && mark !== "unstamped";
    return propertyMap(
      mark === undefined || mark === "empty"
        ? {}
        : { name: "web", __run: isStamped ? mark : undefined },
    );
  };
  switch (call.call) {
    case "CheckConfig":
      return void run.checkConfig(urn);
    case "Configure":
      run.configure(urn);
      return run.kind;
    case "Check":
      return void run.check({ urn, olds: given(oldInputs) });
    case "Diff": {
      return run.diff({ urn, news }, shown);
    }
    case "Read":
      return run.read({ urn, inputs: given(oldInputs), outputs: given(oldOutputs) });
    case "Create":
    case "Update": {
      const occasion = run.change({ urn, preview, ...(id && { id }) });
      const isOfCreate = occasion.is === "repeat" && occasion.of === "create";
      run.hold(urn, { ...shown, id: id || (answer === "failed" ? "" : `of ${urn}`) });
      return isOfCreate && id ? "repeat of the create" : occasion.is;
    }
    case "Delete":
      return run.delete({ urn, id }).is;
    case "Cancel":
      return void run.end("finished");
  }
  return undefined;
}

const folder = join(__dirname, "testing", "conversations");
/** Also those of older engines. */
const scenes = globSync("**/*.json", { cwd: folder });

// What a Check is about makes no difference.
test.each(scenes)("%s: each call is about what it says", (scene) => {
  const { calls } = JSON.parse(readFileSync(join(folder, scene), "utf8")) as { calls: Recorded[] };
  const runs = new Map<number, Engine>();
  const heard = calls.map((call) => {
    const run = runs.get(call.process) ?? new Engine();
    runs.set(call.process, run);
    const is = hear(run, call);
    return is === undefined ? call : { ...call, is };
  });
  const isToldApart = ({ call }: { call: string }) => call !== "Check";
  expect(heard.filter(isToldApart)).toEqual(calls.filter(isToldApart));
});

describe("a Delete", () => {
  const of = (id: string) => ({ id, isUnfinished: false });
  const [web, other] = [urnOf("web"), urnOf("other")];

  test("is of a copied state if the program is another stack's", () => {
    const run = new Engine();
    run.check({ urn: web.replace("dev", "copy"), olds: propertyMap({}) });
    const stack = "urn:pulumi:copy::proj";
    expect(run.delete({ urn: web, id: "i-1" })).toEqual({ is: "otherStack", stack });
    // By an alias, this program has it.
    run.diff({ urn: web.replace("dev", "copy"), news: propertyMap({}) }, of("i-1"));
    expect(run.delete({ urn: web, id: "i-1" })).toMatchObject({ is: "shared" });
  });

  test("is of a second entry of an instance that its resource, or another one, keeps", () => {
    const run = new Engine();
    const replace = (urn: string) => run.check({ urn, olds: propertyMap({}) });
    for (const urn of [web, other]) run.hold(urn, of("i-1"));
    replace(web);
    expect(run.delete({ urn: web, id: "i-1" })).toEqual({ is: "shared", keeper: other });
    replace(other);
    expect(run.delete({ urn: other, id: "i-1" })).toEqual({ is: "replaced" });
    // The create of the replacement takes over what the state has already.
    run.hold(web, of("i-1"));
    expect(run.delete({ urn: web, id: "i-1" })).toEqual({ is: "shared", keeper: web });
  });

  test("is of a replaced instance if the resource has another one, also under the URN of an alias", () => {
    const run = new Engine();
    run.check({ urn: other, olds: propertyMap({ name: "web" }) });
    run.diff({ urn: other, news: propertyMap({}) }, of("i-1"));
    run.check({ urn: other, olds: propertyMap({}) });
    // Before its Create, as with deleteBeforeReplace, and after it.
    expect(run.delete({ urn: web, id: "i-1" })).toEqual({ is: "replaced" });
    run.hold(other, of("i-2"));
    for (const urn of [web, other])
      expect(run.delete({ urn, id: "i-1" })).toMatchObject({ is: "replaced", next: { id: "i-2" } });
  });

  test("that failed in an earlier run is of a replaced instance also if an alias has renamed the resource since", () => {
    const run = new Engine();
    run.check({ urn: other, olds: propertyMap({ name: "web" }) });
    run.diff({ urn: other, news: propertyMap({}) }, { ...of("i-2"), known: ["i-1"] });
    expect(run.delete({ urn: web, id: "i-1" })).toMatchObject({ next: { id: "i-2" } });
    expect(run.delete({ urn: web, id: "i-0" })).toEqual({ is: "removed" });
  });
});

describe("a run", () => {
  const urn = urnOf("web");
  const olds = propertyMap({ name: "web" });
  const found = new Instance({ urn, id: "i-1", inputs: olds, outputs: olds });
  const reading = { urn, inputs: propertyMap({}), outputs: propertyMap({}) };

  test("has a program once a Check shows it, or the Update of a step that is skipped, but not by a Create of one", () => {
    const runs = Array.from({ length: 3 }, () => new Engine());
    runs[0]?.check({ urn, olds });
    runs[1]?.change({ urn, preview: true, id: "i-1" });
    runs[2]?.change({ urn, preview: true });
    expect(runs.map((run) => [run.kind, run.hasRegistered])).toEqual([
      ["program", true],
      ["program", true],
      ["recorded", false],
    ]);
  });

  test("takes a Read without outputs for a lookup, also if it has inputs", () => {
    const run = new Engine();
    expect(run.read({ urn, inputs: olds, outputs: propertyMap({}) })).toBe("lookup");
  });

  test("tells an import once, and only by the last Read", () => {
    const run = new Engine();
    const read = () => {
      run.read(reading);
      Object.assign(run.resource(urn), { found, drift: ["status"] });
    };
    read();
    expect([run.check({ urn, olds }), run.check({ urn, olds })]).toEqual([found, undefined]);
    read();
    run.read(reading);
    expect([run.check({ urn, olds }), run.resource(urn).drift]).toEqual([undefined, []]);
  });

  test("takes a Diff after a Read for that of a refresh, unless a Check has come since", () => {
    const run = new Engine();
    run.check({ urn, olds });
    run.read({ urn, inputs: olds, outputs: propertyMap({ status: "ACTIVE" }) });
    expect(run.diff({ urn, news: olds }, { id: "i-1", isUnfinished: false })).toBe("refresh");
  });

  test("has to create what a Create has failed to make, and not what a resource keeps or the state may keep", () => {
    const run = new Engine();
    run.check({ urn: urnOf("mail"), olds });
    for (const [name, id] of [
      ["web", ""],
      ["db", "i-1"],
    ] as const) {
      run.check({ urn: urnOf(name), olds: propertyMap({}) });
      run.hold(urnOf(name), { id, isUnfinished: false });
    }
    run.hold(urnOf("removed"), { id: "", isUnfinished: false });
    expect(run.toCreate().urns).toEqual([urn]);
  });

  test("forgets what its preview has said of a create in doubt once it acts, since that may have reached nobody", () => {
    const run = new Engine();
    run.resource(urn).isDoubtSaid = true;
    run.change({ urn, preview: false });
    expect(run.resource(urn).isDoubtSaid).toBe(false);
  });

  test("knows a name by the resource for which the program chose it first", () => {
    const run = new Engine();
    const names = [urn, urnOf("db"), urn, urnOf("db")].map((of) => run.noteName("web", of));
    expect(names).toEqual([false, true, false, true]);
  });

  test("has ended for good once its engine is gone", () => {
    const run = new Engine();
    run.end("engineGone");
    run.end("finished");
    expect(run.ending).toBe("engineGone");
  });
});

test("the last try of a call is the one before the engine stops asking its hook, or the next one after Ctrl-C", () => {
  const urn = urnOf("web");
  const run = new Engine();
  for (let n = 1; n < 99; n++) run.change({ urn, preview: false });
  expect(run.mustSucceed(urn)).toBe(false);
  run.change({ urn, preview: false });
  expect(run.mustSucceed(urn)).toBe(true);

  const interrupted = new Engine();
  interrupted.end("interrupted");
  expect(interrupted.mustSucceed(urn)).toBe(false);
  interrupted.resource(urn).wasUnfinished = true;
  expect(interrupted.mustSucceed(urn)).toBe(true);
});
