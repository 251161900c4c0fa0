/** Tests the checks of the version, and of its section in the changelog. */
import { describe, expect, test } from "@jest/globals";
import metadata from "../../metadata.json";
import { disagreements, releaseNotes, releaseTag, versionDisagreements } from "./versions";

const { version } = metadata;

test("all versions that are written by hand are the same", () =>
  expect(versionDisagreements()).toEqual([]));

test("a tag of another version is refused", () => {
  expect(disagreements("v9.9.9").join("\n")).toContain(`the tag must be ${releaseTag}`);
  expect(disagreements(releaseTag).join("\n")).not.toContain("the tag must be");
});

describe("the section of CHANGELOG.md about this version", () => {
  const changelog = (title: string, notes: string) =>
    `# Changelog\n\n## [Unreleased]\n\n## ${title}\n${notes}\n## [0.0.1] - 2020-01-01\n\n- Old.\n`;

  test("is the text from its title to the next title", () => {
    const text = changelog(`[${version}] - 2026-01-31`, "\n### Added\n\n- New.\n");
    expect(releaseNotes(text)).toBe("### Added\n\n- New.");
  });

  test.each([
    ["without a date", changelog(`[${version}]`, "\n- New.\n")],
    ["without text below its title", changelog(`[${version}] - 2026-01-31`, "")],
    ["with the title of a longer version", changelog(`[${version}0] - 2026-01-31`, "\n- New.\n")],
  ])("is not found %s", (_, text) => expect(releaseNotes(text)).toBeUndefined());
});
