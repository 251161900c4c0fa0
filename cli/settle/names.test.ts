/** Tests how a person names a resource on the command line of `settle`. */
import { expect, test } from "@jest/globals";
import { typedName, withUrns } from "./names";
import { urnOf } from "./testing/states";

const inGroup = urnOf("web", "my:mod:Group$compute:index:Instance");
const none: readonly string[] = [];

test.each([
  ["web", []],
  ["a b", []],
  [urnOf("web"), [inGroup]],
  [urnOf("db=1"), []],
  [urnOf("-db"), []],
  [urnOf("urn:db"), []],
])("%s names one resource, and is read as that one", (typed, others) => {
  const urn = typed.startsWith("urn:") ? typed : urnOf(typed);
  const urns = new Set([urn, urnOf("db"), ...others]);
  expect(typedName(urn, urns)).toBe(typed);
  for (const word of [typed, urn])
    expect(withUrns({ take: [`${word}=i-1`, `${word}=i=1`], forget: [word] }, urns)).toEqual({
      take: [`${urn}=i-1`, `${urn}=i=1`],
      forget: [urn],
    });
});

test("a name that several resources have, or none, stays as it was typed", () => {
  const urns = new Set([urnOf("web"), inGroup]);
  const typed = { take: ["web=i-1"], forget: ["web", "db"] };
  expect(withUrns(typed, urns)).toEqual(typed);
  expect(withUrns({ take: none, forget: [inGroup] }, urns).forget).toEqual([inGroup]);
});
