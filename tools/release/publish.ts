/**
 * Publishes a release to one place at a time. Each function may run again after it failed half way, and never
 * replaces a published file.
 */
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import metadata from "../../metadata.json";
import { copyOf, maven, packForRelease } from "../sdk/pack";
import { captured } from "../support/command";
import { say, ToolError } from "../support/main";
import { root } from "../support/paths";
import { goTag, releaseNotes, releaseTag } from "./versions";

export const places = {
  /** A draft until all files are there: nobody sees half a release. */
  async github() {
    const files = distFiles();
    const exists = await succeeds("gh", ["release", "view", releaseTag]);
    if (!exists) {
      const notes = `--notes=${releaseNotes()}`;
      await gh("create", releaseTag, "--draft", "--verify-tag", `--title=${releaseTag}`, notes);
    } else if (!(await isDraft())) {
      await compareWithPublished();
      return say(`${releaseTag} is published already, with these files.`);
    }
    await gh("upload", releaseTag, "--clobber", ...files);
    await gh("edit", releaseTag, "--draft=false");
    say(`${releaseTag}: ${files.length} files.`);
  },

  async npm() {
    const [file = ""] = await packForRelease("nodejs");
    const package_ = `${metadata.sdk.nodejs.package}@${metadata.version}`;
    if (await succeeds("npm", ["view", package_, "version", "--prefer-online"])) {
      return say(`${package_} is published already.`);
    }
    await captured("npm", ["publish", "--provenance", "--access=public", file]);
    say(package_);
  },

  /** The files that `pack dotnet` made. */
  async nuget() {
    const key = process.env["NUGET_API_KEY"];
    if (!key)
      throw new ToolError("NUGET_API_KEY is not set. The login step of the workflow sets it.");
    const packages = join(root, ".tools", "release", "dotnet", "*.nupkg");
    const source = "--source=https://api.nuget.org/v3/index.json";
    const options = [source, "--skip-duplicate", `--api-key=${key}`];
    await captured("dotnet", ["nuget", "push", packages, ...options]).catch((error: Error) => {
      // The error shows the failed command with all its arguments.
      throw new ToolError(error.message.replaceAll(key, "…"));
    });
    say(metadata.sdk.dotnet.package);
  },

  async maven() {
    const { groupId, artifactId } = metadata.sdk.java;
    const file = `${artifactId}-${metadata.version}.pom`;
    const directory = `${groupId.replaceAll(".", "/")}/${artifactId}/${metadata.version}`;
    if (await isServed(`https://repo1.maven.org/maven2/${directory}/${file}`)) {
      return say(`${file} is published already.`);
    }
    await maven(copyOf("java"), "deploy");
    say(file);
  },

  /** With the tag, Go's proxy finds the module in the repository. */
  go: () => pushGoTag(root),
} satisfies Record<string, () => Promise<void>>;

const dist = join(root, "dist");
const checksumsFile = join(dist, "SHA256SUMS");

function distFiles(): string[] {
  const files = globSync("*", { cwd: dist }).map((name) => join(dist, name));
  if (!files.includes(checksumsFile)) {
    throw new ToolError("There is no dist/SHA256SUMS. Run `npm run release -- plugins` first.");
  }
  return files.sort();
}

export type Place = keyof typeof places;

/**
 * Tags the commit that is checked out, which must be that of the release. @throws {ToolError} if the tag is on
 * another
 */
export async function pushGoTag(repository: string): Promise<void> {
  const options = { cwd: repository };
  const git = (...args: string[]) => captured("git", args, options).then((text) => text.trim());
  const commit = await git("rev-parse", "HEAD");
  const reference = `refs/tags/${goTag}`;
  const [taggedCommit] = (await git("ls-remote", "origin", reference)).split("\t");
  if (taggedCommit === commit) return say(`${goTag} is pushed already.`);
  if (taggedCommit) {
    throw new ToolError(
      `${goTag} is on commit ${taggedCommit}, not on ${commit}. Go keeps a version's content for ever, ` +
        "so leave the tag where it is, and release another version.",
    );
  }
  await git("push", "origin", `${commit}:${reference}`);
  say(goTag);
}

function gh(...args: string[]): Promise<string> {
  return captured("gh", ["release", ...args]);
}

async function isDraft(): Promise<boolean> {
  return (await gh("view", releaseTag, "--json=isDraft", "--jq=.isDraft")).trim() === "true";
}

async function compareWithPublished(): Promise<void> {
  const name = basename(checksumsFile);
  const published = await gh("download", releaseTag, `--pattern=${name}`, "--output=-");
  if (published === readFileSync(checksumsFile, "utf8")) return;
  throw new ToolError(
    `${releaseTag} is published already, with other files than those built now (${name} differs). ` +
      "Published files can't be replaced, so release another version.",
  );
}

async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  return captured(command, args).then(
    () => true,
    () => false,
  );
}

async function isServed(url: string): Promise<boolean> {
  return (await fetch(url, { method: "HEAD" })).ok;
}
