/** Tests of the engine's run. */
import { describe, expect, test } from "@jest/globals";
import { EngineRun } from "./engineRun";
import { propertyMap } from "./propertyValue";
import { urnOf } from "./testing/scene";

test("a Read has twice the same in a `.get()`, and what the state has in a refresh", () => {
  const given = propertyMap({ name: "web" });
  const [run, urn, none] = [new EngineRun(), urnOf("web"), propertyMap({})];
  expect(run.read({ urn, inputs: undefined, outputs: undefined })).toBe("import");
  for (const state of [none, given])
    expect(run.read({ urn, inputs: state, outputs: state })).toBe("get");
  expect(run.read({ urn, inputs: none, outputs: given })).toBe("refresh");
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
    expect(next.delete({ urn: other, id: "i-2" })).toEqual({ is: "replaced" });
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
