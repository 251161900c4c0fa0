/** Checks that the files with the version that are written by hand agree, and reads its section of CHANGELOG.md. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import metadata from "../../metadata.json";
import { root } from "../support/paths";

const { version } = metadata;

type Packages = Record<"sdk/nodejs", { version: string }>;

/** The tag of the release, and that of the Go module, which must name its folder. */
export const releaseTag = `v${version}`;
export const goTag = `sdk/go/v${version}`;

/** Returns what must be fixed before `tag` can be released. */
export function disagreements(tag: string): string[] {
  const problems = versionDisagreements();
  if (tag !== releaseTag) {
    problems.push(
      `The tag is ${tag}, but metadata.json says ${version}: the tag must be ${releaseTag}`,
    );
  }
  if (releaseNotes() === undefined) {
    problems.push(
      `CHANGELOG.md has no section \`## [${version}] - YYYY-MM-DD\`, or the section is empty: ` +
        "give the section [Unreleased] that title",
    );
  }
  return problems;
}

/** In the files that are written by hand. `npm run check` compares the generated ones. */
export function versionDisagreements(): string[] {
  const lock = json("package-lock.json") as { version: string; packages: Packages };
  const places = {
    "package.json": (json("package.json") as { version: string }).version,
    "package-lock.json": lock.version,
    "package-lock.json, of the Node.js SDK,": lock.packages["sdk/nodejs"].version,
  };
  return Object.entries(places)
    .filter(([, found]) => found !== version)
    .map(([place, found]) => `${place} says ${found}, but metadata.json says ${version}`);
}

/** Returns this version's section of CHANGELOG.md, without its title. Undefined if missing or empty. */
export function releaseNotes(text = read("CHANGELOG.md")): string | undefined {
  const [, ...sections] = text.split(/^## /m);
  const section = sections.find((section) => section.startsWith(`[${version}] - `));
  const notes = section?.slice(section.indexOf("\n")).trim();
  return notes === "" ? undefined : notes;
}

function json(file: string): unknown {
  return JSON.parse(read(file));
}

function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}
