/** The version: whether all files that hold it agree, and what CHANGELOG.md says about it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import metadata from "../../metadata.json";
import { root } from "../support/paths";

const { version } = metadata;

type Packages = Record<"sdk/nodejs", { version: string }>;

/** The tags of the release itself, and of the Go module, which names the module's folder. */
export const releaseTag = `v${version}`;
export const goTag = `sdk/go/compute/v${version}`;

/** What must be fixed before `tag` can be released; empty if nothing. */
export function disagreements(tag: string): string[] {
  const found = versionDisagreements();
  if (tag !== releaseTag) {
    found.push(
      `The tag is ${tag}, but metadata.json says ${version}: the tag must be ${releaseTag}`,
    );
  }
  if (releaseNotes() === undefined) {
    found.push(
      `CHANGELOG.md has no section \`## [${version}] - YYYY-MM-DD\`, or nothing in it: ` +
        "give [Unreleased] that title",
    );
  }
  return found;
}

/** Compares the files that are written by hand; `npm run check` compares the generated ones. */
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

/** The section of CHANGELOG.md about this version, without its title; undefined if there is none. */
export function releaseNotes(text = read("CHANGELOG.md")): string | undefined {
  const [, ...sections] = text.split(/^## /m);
  const section = sections.find((it) => it.startsWith(`[${version}] - `));
  const notes = section?.slice(section.indexOf("\n")).trim();
  return notes === "" ? undefined : notes;
}

function json(file: string): unknown {
  return JSON.parse(read(file));
}

function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}
