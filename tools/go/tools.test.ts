/** Checks that the engines that the tests run are those of which the provider and the documentation speak. */
import { expect, test } from "@jest/globals";
import { testedEngine } from "../../metadata.json";
import { oldestEngine } from "../../provider/process/executable";
import type { GoTool } from "../support/go";
import { engineVersions, hosts } from "./tools";

test("the tests run the engine with which all of them are said to have run, and the oldest one that the provider works with", () => {
  expect(engineVersions).toEqual({
    engine: `v${testedEngine}`,
    "engine-oldest": `v${oldestEngine}`,
  });
});

test("the two parts of a language host are built under different names, because each says how long it takes", () => {
  for (const { title, needs } of Object.values<GoTool>(hosts))
    if (needs) expect(needs.title).not.toContain(title);
});
