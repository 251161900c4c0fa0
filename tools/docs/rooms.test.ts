/** Each folder of the repository has its sentence in ARCHITECTURE.md, and each that has one is there. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "@jest/globals";
import { root, repositoryFiles } from "../support/paths";

const architecture = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
const [, section = ""] = architecture.split(/^## (?:Rooms|Guarantees)$/m);
const named = [...section.matchAll(/`([\w/.-]+)\/`/g)].map(([, folder = ""]) => folder);
/** What has a row; a sentence names what else lies in such a room. */
const rooms = [...section.matchAll(/^\| (`.*?`) +\|/gm)].flatMap(([, cell = ""]) =>
  [...cell.matchAll(/`([\w/-]+)\/`/g)].map(([, folder = ""]) => folder),
);

/** What is inside these is told where they lie. */
const closed = /^(docs|sdk|examples|tools\/(go|npm|python)|\..*)\//;

test("each folder has its sentence", () => {
  const folders = new Set(
    repositoryFiles()
      .map(dirname)
      .filter((it) => it !== "." && !closed.test(`${it}/`)),
  );
  const untold = [...folders].filter((folder) => !isTold(folder));
  expect(untold).toEqual([]);
  expect(folders.size).toBeGreaterThan(rooms.length - 10);
});

function isTold(folder: string): boolean {
  if (rooms.includes(folder)) return true;
  const parts = folder.split("/");
  return parts.some((part, at) => at > 0 && named.includes(part));
}

test("no sentence is left of what is gone", () => {
  expect(rooms.length).toBeGreaterThan(30);
  expect(rooms.filter((folder) => !existsSync(join(root, folder)))).toEqual([]);
});
