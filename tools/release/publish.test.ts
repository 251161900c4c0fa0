/** Tests the push of the Go module's tag to a real repository. Tests can't publish to the other places. */
import { join } from "node:path";
import { beforeEach, expect, test } from "@jest/globals";
import { temporaryFolder } from "../../provider/testing/temporaryFolder";
import { captured } from "../support/command";
import { pushGoTag } from "./publish";
import { goTag } from "./versions";

let folder: string;
let clone: string;

beforeEach(async () => {
  folder = temporaryFolder();
  clone = join(folder, "clone");
  await captured("git", ["init", "--quiet", "--bare", join(folder, "origin")]);
  await captured("git", ["clone", "--quiet", join(folder, "origin"), clone]);
  await commit();
});

const git = (...args: string[]) => captured("git", args, { cwd: clone });
const tags = async () => (await git("ls-remote", "origin", "refs/tags/*")).trim();
const head = async () => (await git("rev-parse", "HEAD")).trim();
const commit = () =>
  git(
    ...["-c", "user.name=test", "-c", "user.email=test@example.com"],
    ...["commit", "--quiet", "--allow-empty", "--message=change"],
  );

test("the tag is pushed for the commit that is checked out, and a second run does not move it", async () => {
  await pushGoTag(clone);
  const expected = `${await head()}\trefs/tags/${goTag}`;
  expect(await tags()).toBe(expected);
  await pushGoTag(clone);
  expect(await tags()).toBe(expected);
});

test("a tag that exists on another commit is not moved, and the error says what to do", async () => {
  await pushGoTag(clone);
  const before = await tags();
  await commit();
  await expect(pushGoTag(clone)).rejects.toThrow(/is on commit .*release another version/s);
  expect(await tags()).toBe(before);
});
