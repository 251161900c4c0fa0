/** Compares our judgement of user data with that of cloud-init itself, case by case. */
import { expect, test } from "@jest/globals";
import { unusableIn } from "../../provider/userData/cloudInit";
import { corpus, forOthers } from "./corpus";
import { cloudInit, verdicts } from "./verdicts.json";

/** What only cloud-init complains of, by why we do not. Elsewhere, both complain or both are silent. */
const silent: Record<string, readonly string[]> = {
  "the user meant it so": [
    "nothing at all",
    "a cloud-config: no keys",
    "a cloud-config: only comments",
    "a cloud-config: null",
    "a cloud-config: a tilde",
  ],
  "its schema, below a known top-level key": [
    "a cloud-config: a mapping in braces without a space",
    "a cloud-config: binary",
    "a cloud-config: a day",
    "a cloud-config: an octal number",
    "the key: an unknown key below a key",
    "the key: commands in lists, texts and nothing",
    "the key: no commands",
    "the key: a known key without a value",
  ],
  "what a template makes": [
    "a template that makes no header",
    "a template with a loop that does not end",
    "a template with an unknown variable",
  ],
  "what a program, a patch or a URL has in it": [
    "script, with a header in capitals",
    "part handler, indented as in a program",
    "a part handler that is no Python",
    "JSON patch, with a header in capitals",
    "a template of a JSON patch",
    "a JSON patch that is no list",
    "a JSON patch that is no JSON",
  ],
  "a value that YAML's parser does not take": ["a cloud-config: a day that no month has"],
  "it is for another program": Object.keys(forOthers),
};

const judged = Object.entries(corpus).map(async ([name, text]) => {
  const problems = await unusableIn(Buffer.from(text as string));
  return { name, problems, verdict: (verdicts as Record<string, string>)[name] ?? "" };
});

test("each case has a verdict of cloud-init", () => {
  expect(cloudInit).toBe("25.1.4-1+deb13u1");
  expect(Object.keys(verdicts).sort()).toEqual(Object.keys(corpus).sort());
});

test("we warn of what cloud-init can't use, and of nothing else (G9)", async () => {
  const cases = await Promise.all(judged);
  const names = (complains: boolean, warned: boolean) =>
    cases
      .filter(({ problems }) => problems.length > 0 === warned)
      .filter(({ verdict }) => (verdict !== "used") === complains)
      .map(({ name }) => name);

  expect(names(false, true)).toEqual([]);
  expect(names(true, false).sort()).toEqual(Object.values(silent).flat().sort());
  expect({ both: names(true, true).length, neither: names(false, false).length }).toEqual({
    both: 288,
    neither: 187,
  });
});

test("an unknown key is what cloud-init calls one, and the rest is then used", async () => {
  const partly = (await Promise.all(judged)).filter(
    ({ verdict, problems }) =>
      verdict.startsWith("keys:") || problems.some(({ why }) => why.includes("top-level key")),
  );
  const odd = partly.filter(
    ({ verdict, problems }) => !verdict.startsWith("keys:") || !problems.every((one) => one.partly),
  );
  expect(odd).toEqual([]);
});

test("a line that says what is wrong has at most 160 characters (G9)", async () => {
  for (const { name, problems } of await Promise.all(judged)) {
    for (const { why } of problems) {
      const line = `cloud-init would ignore a part of userDataBase64: ${why}.`;
      expect([name, line.length <= 160]).toEqual([name, true]);
    }
  }
});
