/** Tests of the variables that decide for one run. */
import { expect, test } from "@jest/globals";
import { OperationFailed } from "../errors";
import { decideForRun, wordsForRun } from "./oneRun";
import { settingsFrom } from "./settings";

const settings = (more: Partial<Parameters<typeof settingsFrom>[0]> = {}) =>
  settingsFrom({ baseUrl: "https://api.example.com/v2", apiToken: "sk_live_1", ...more });

test.each([
  ["fail", "retain", "retain"],
  ["fail", "", "fail"],
  ["retain", "fail", "fail"],
  ["retain", "retain", "retain"],
  ["destroy", "retain", "retain"],
  ["destroy", "fail", "fail"],
] as const)("the policy %s with COMPUTE_DELETE_POLICY=%s is %s", (policy, variable, decided) => {
  const before = settings({ deletePolicy: policy });
  const found = decideForRun(before, wordsForRun({ COMPUTE_DELETE_POLICY: variable }));
  // A leftover that nobody has looked at still stops its create.
  const guardsLeftovers = policy === "fail" && decided === "retain";
  expect(found.settings).toEqual({ ...before, deletePolicy: decided, guardsLeftovers });
  expect(found.variables).toEqual(
    policy === decided ? {} : { deletePolicy: "COMPUTE_DELETE_POLICY" },
  );
  expect(found.assignments).toEqual(variable ? [`COMPUTE_DELETE_POLICY=${variable}`] : []);
});

test("COMPUTE_LEFTOVERS wins over the setting, and is told beside the other variable", () => {
  const words = wordsForRun({ COMPUTE_LEFTOVERS: "warn", COMPUTE_DELETE_POLICY: "retain" });
  const { settings: decided, assignments } = decideForRun(settings({ leftovers: "fail" }), words);
  expect(decided).toMatchObject({ leftovers: "warn", deletePolicy: "retain" });
  expect(assignments).toEqual(["COMPUTE_DELETE_POLICY=retain", "COMPUTE_LEFTOVERS=warn"]);
});

test.each([
  ["COMPUTE_DELETE_POLICY", "destroy", '"retain" or "fail"'],
  ["COMPUTE_LEFTOVERS", "WARN", '"warn" or "fail"'],
])("%s=%s is refused, and the value is not repeated (G8)", (name, value, words) => {
  const decide = () => wordsForRun({ [name]: value });
  expect(decide).toThrow(OperationFailed);
  expect(decide).toThrow(
    `${name} in the environment must be ${words}. Correct or unset it, and run again`,
  );
});
