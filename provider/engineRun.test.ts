/**
 * Tests of the engine's run with conversations of the engine. Each call has its occasion in the field `is`.
 */
import { describe, expect, test } from "@jest/globals";
import { EngineRun } from "./engineRun";
import { propertyMap, Unknown } from "./propertyValue";
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
function hear(run: EngineRun, call: Recorded): string | undefined {
  const { urn = "", id = "", preview = false, oldInputs, oldOutputs, answer } = call;
  const unknown = (call.unknown ?? []).map((name) => [name, Unknown.value] as const);
  const news = propertyMap(Object.fromEntries(unknown));
  const shown = { id, isUnfinished: answer === "unfinished" };
  const given = (mark: string | undefined) =>
    mark === undefined ? undefined : propertyMap(mark === "empty" ? {} : { name: "web" });
  switch (call.call) {
    case "CheckConfig":
      return void run.checkConfig(urn);
    case "Configure":
      run.configure(urn);
      return run.kind;
    case "Check":
      return void run.check(urn);
    case "Diff": {
      const occasion = run.diff({ urn, news }, shown);
      if (answer === "replace") run.giveUp(urn);
      return occasion;
    }
    case "Read":
      return run.read({ urn, inputs: given(oldInputs), outputs: given(oldOutputs) });
    case "Create":
    case "Update": {
      const { is } = run.change({ urn, preview });
      run.hold(urn, { ...shown, id: id || (answer === "failed" ? "" : `of ${urn}`) });
      return is === "preview" ? "first" : is;
    }
    case "Delete":
      return run.delete({ urn, id }).is;
    case "Cancel":
      return void run.end("finished");
  }
  return undefined;
}

const of = (process: number, call: string, more: Partial<Recorded> = {}): Recorded => ({
  process,
  call,
  urn: urnOf("web"),
  ...more,
});
const seen = { id: "i-1", oldInputs: "given", oldOutputs: "another session" } as const;

/** Conversations by their commands. */
const conversations: Record<string, Recorded[]> = {
  "up --refresh": [
    of(1, "Configure", { is: "recorded" }),
    of(1, "Read", { ...seen, is: "refresh" }),
    of(1, "Diff", { ...seen, is: "refresh" }),
    of(1, "CheckConfig"),
    of(1, "Check"),
    of(1, "Diff", { ...seen, answer: "replace", is: "program" }),
    of(1, "Check"),
    of(1, "Create", { is: "first", answer: "failed" }),
    of(1, "Create", { is: "repeat" }),
    of(1, "Delete", { ...seen, is: "replaced" }),
    of(1, "Cancel"),
  ],
  import: [
    of(1, "CheckConfig"),
    of(1, "Configure", { is: "program" }),
    of(1, "Read", { id: "i-1", is: "import" }),
    of(1, "Check"),
    of(1, "Diff", { id: "i-1", is: "import" }),
  ],
  dependents: [of(1, "Diff", { ...seen, unknown: ["vpcId"], answer: "replace", is: "dependent" })],
};

test.each(Object.entries(conversations))("%s: each call is about what it says", (_, calls) => {
  const runs = new Map<number, EngineRun>();
  const heard = calls.map((call) => {
    const run = runs.get(call.process) ?? new EngineRun();
    runs.set(call.process, run);
    // The run knows of no second Check, and a Check is about nothing else.
    const is = call.call === "Check" ? (run.check(call.urn ?? ""), call.is) : hear(run, call);
    return { ...call, is };
  });
  expect(heard).toEqual(calls.map((call) => ({ is: undefined, ...call })));
});

describe("a Delete", () => {
  const of = (id: string) => ({ id, isUnfinished: false });
  const [web, other] = [urnOf("web"), urnOf("other")];

  test("is of a copied state if the program is another stack's", () => {
    const run = new EngineRun();
    run.check(web.replace("dev", "copy"));
    const stack = "urn:pulumi:copy::proj";
    expect(run.delete({ urn: web, id: "i-1" })).toEqual({ is: "otherStack", stack });
  });

  test("is of an old entry if its resource has taken the instance over, or another resource keeps it", () => {
    const run = new EngineRun();
    run.resource(web).hasTakenOver = true;
    run.hold(web, of("i-1"));
    expect(run.delete({ urn: web, id: "i-1" })).toEqual({ is: "shared", keeper: web });
    const next = new EngineRun();
    for (const urn of [web, other]) next.hold(urn, of("i-2"));
    expect(next.delete({ urn: web, id: "i-2" })).toEqual({ is: "shared", keeper: other });
    expect(next.delete({ urn: other, id: "i-2" })).toEqual({ is: "removed" });
  });

  test("is of a replaced instance if the resource has another one, also under the URN of an alias", () => {
    const run = new EngineRun();
    run.hold(other, of("i-1"));
    run.giveUp(other);
    run.hold(other, of("i-2"));
    for (const urn of [web, other])
      expect(run.delete({ urn, id: "i-1" })).toMatchObject({ is: "replaced", next: { id: "i-2" } });
  });
});

test("the last try of a call is the one before the engine stops asking its hook, or the next one after Ctrl-C", () => {
  const urn = urnOf("web");
  const run = new EngineRun();
  for (let n = 1; n < 99; n++) run.change({ urn, preview: false });
  expect(run.isLastTry(urn)).toBe(false);
  run.change({ urn, preview: false });
  expect(run.isLastTry(urn)).toBe(true);

  const interrupted = new EngineRun();
  interrupted.end("interrupted");
  expect(interrupted.isLastTry(urn)).toBe(false);
  interrupted.resource(urn).wasUnfinished = true;
  expect(interrupted.isLastTry(urn)).toBe(true);
});
