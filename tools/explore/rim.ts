/** Runs the unit tests of the rim without each of its rules in turn. The test that the list names must then fail. */
import { readRim, runTests, runWithout } from "../../tests/explorer/rim";
import { ToolError } from "../support/main";

/** `file`: the path of the only file whose rules are left out. @throws {ToolError} if a test does not notice that a rule is left out */
export async function exploreRim(file?: string): Promise<void> {
  const start = performance.now();
  const rules = readRim().filter(({ path }) => file === undefined || path === file);
  if (rules.length === 0) throw new ToolError(`The list has no rule of ${file}.`);
  const passing = new Map<string, readonly string[]>();
  for (const testFile of new Set(rules.map((rule) => rule.testFile))) {
    const ran = await runTests(testFile);
    passing.set(
      testFile,
      ran.filter(({ isFailed }) => !isFailed).map(({ name }) => name),
    );
  }
  const unnoticed: string[] = [];
  for (const one of rules) {
    const { rule, path, testFile, test } = one;
    const names = passing.get(testFile) ?? [];
    const ran = await runWithout(one);
    const isNoticed = ran.some(({ name, isFailed }) => isFailed && names.includes(name));
    const verdict = isNoticed ? "fails" : `DOES NOT FAIL (${testFile})`;
    console.log(`without "${rule}" (${path}): "${test}" ${verdict}`);
    if (!isNoticed) unnoticed.push(rule);
  }
  const seconds = (performance.now() - start) / 1000;
  console.log(
    `rules of the rim whose test fails without them: ${rules.length - unnoticed.length} of ${rules.length}, ${seconds.toFixed(0)} s in all`,
  );
  if (unnoticed.length > 0)
    throw new ToolError(`No test fails without these rules: ${unnoticed.join("; ")}`);
}
