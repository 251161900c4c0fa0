/**
 * Runs the unit tests of the rim (what is around a create) with one rule left out (`rim.txt`). A test file is bundled in memory, with
 * the changed code, and runs in this process: Jest would load everything anew for each rule. `tools/explore/rim.ts` uses it.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { jestExpect } from "@jest/expect";
import { build, type Plugin } from "esbuild";
import * as circus from "jest-circus";
import { root } from "../../tools/support/paths";
import { evaluate, readChanges, type Change } from "./mutation";

/** A rule of the rim, and the test that must fail without it. */
export interface RimRule extends Change {
  /** The path of the file that has the rule, from the root. */
  path: string;
  testFile: string;
  /** How the name of the test begins. Tests of a table may share that. */
  test: string;
}

/** A test that ran. */
interface Ran {
  name: string;
  isFailed: boolean;
}

const codeOf = (path: string) => readFileSync(join(root, path), "utf8");

/** Reads `rim.txt`. @throws Error unless the code of each rule is in its file exactly once */
export function readRim(): RimRule[] {
  return readChanges("rim.txt").map(({ place: path, after, ...change }) => {
    const { rule, from } = change;
    if (from === "" || codeOf(path).split(from).length !== 2)
      throw new Error(`The code of the rule "${rule}" is not in ${path} exactly once: ${from}`);
    const beside = path.replace(/\.ts$/, ".test.ts");
    const [, testFile = beside, test = ""] = /^(?:(\S+\.test\.ts): )?(.+)$/.exec(after("!")) ?? [];
    return { ...change, path, testFile, test };
  });
}

/** Runs the test of this rule without the rule. */
export function runWithout({ path, from, to, testFile, test }: RimRule): Promise<Ran[]> {
  const contents = codeOf(path).replace(from, () => to);
  const leaveOut: Plugin = {
    name: "leave-out",
    setup: (bundle) => {
      bundle.onLoad({ filter: /\.ts$/ }, (loaded) =>
        loaded.path === join(root, path) ? { contents, loader: "ts" } : null,
      );
    },
  };
  return runTests(testFile, test, [leaveOut]);
}

/** Runs the tests of a file whose names begin so. */
export async function runTests(
  testFile: string,
  test = "",
  plugins: Plugin[] = [],
): Promise<Ran[]> {
  const entry = join(root, testFile);
  const options = { bundle: true, platform: "node", format: "cjs", packages: "external" } as const;
  const { outputFiles } = await build({ ...options, entryPoints: [entry], write: false, plugins });
  circus.resetState();
  evaluate(outputFiles[0]?.text ?? "", entry, {
    "@jest/globals": { ...circus, expect: jestExpect },
    "fast-check": createRequire(__filename)("../support/fastCheck.cjs") as unknown,
  });
  const testNamePattern = new RegExp(`^${test.replace(/[^\w\s]/g, "\\$&")}`);
  circus.setState({ ...circus.getState(), testNamePattern, testTimeout: 600_000 });
  const { testResults } = await circus.run();
  return testResults
    .filter(({ status }) => status === "done")
    .map(({ testPath: [, ...names], errors }) => ({
      name: names.join(" "),
      isFailed: errors.length > 0,
    }));
}
