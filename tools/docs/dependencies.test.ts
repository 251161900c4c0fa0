/** Checks that ARCHITECTURE.md gives a reason for each dependency, and for no other package. */
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "@jest/globals";
import metadata from "../../metadata.json";
import { root } from "../support/paths";

const readText = (path: string) => readFileSync(join(root, path), "utf8");
const filesMatching = (pattern: string) => globSync(pattern, { cwd: root });

function npmPackages(path: string): string[] {
  const groups = ["dependencies", "devDependencies", "optionalDependencies", "overrides"];
  const json = JSON.parse(readText(path)) as Record<string, Record<string, string>>;
  // The SDK of this repository does not count as a dependency.
  return groups
    .flatMap((group) => Object.keys(json[group] ?? {}))
    .filter((it) => it !== metadata.sdk.nodejs.package);
}

const dependencies = [
  ...["package.json", ...filesMatching("{examples,tools/npm}/*/package.json")].flatMap(npmPackages),
  ...filesMatching("tools/go/*/go.sum").map((path) => basename(join(path, ".."))),
  ...filesMatching("tools/python/*/requirements.txt").flatMap((path) =>
    [...readText(path).matchAll(/^([\w-]+)==/gm)].map(([, name = ""]) => name),
  ),
];

const [, section = ""] = readText("ARCHITECTURE.md").split("## Dependencies");
const reasons = [...section.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = ""]) =>
  [...cell.matchAll(/`(?:overrides: )?([^`]*[^`/])`/g)].map(([, name = ""]) => name),
);

/** A reason that ends in `*` is for all names with that beginning. */
const isFor = (name: string, reason: string) =>
  reason.endsWith("*") ? name.startsWith(reason.slice(0, -1)) : name === reason;

test("each dependency has a reason", () => {
  expect(dependencies.length).toBeGreaterThan(40);
  const withoutReason = dependencies.filter(
    (name) => !reasons.some((reason) => isFor(name, reason)),
  );
  expect(withoutReason).toEqual([]);
});

test("each reason is for a dependency", () => {
  const unneeded = reasons.filter((reason) => !dependencies.some((name) => isFor(name, reason)));
  expect(unneeded).toEqual([]);
});
