/** Checks that ARCHITECTURE.md describes each folder of the repository, and no other folder. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "@jest/globals";
import { root, repositoryFiles } from "../support/paths";

const architecture = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
const [, section = ""] = architecture.split(/^## (?:Rooms|Guarantees)$/m);
const named = [...section.matchAll(/`([\w/.-]+)\/`/g)].map(([, folder = ""]) => folder);
/** A row may describe further folders below these in a sentence. */
const rooms = [...section.matchAll(/^\| (`.*?`) +\|/gm)].flatMap(([, cell = ""]) =>
  [...cell.matchAll(/`([\w/-]+)\/`/g)].map(([, folder = ""]) => folder),
);

/** Their subfolders need no description. */
const undivided = /^(docs|sdk|examples|templates|tools\/(go|npm|python)|\..*)\//;

test("each folder is described", () => {
  const folders = new Set(
    repositoryFiles()
      .map(dirname)
      .filter((it) => it !== "." && !undivided.test(`${it}/`)),
  );
  const missing = [...folders].filter((folder) => !isDescribed(folder));
  expect(missing).toEqual([]);
  expect(folders.size).toBeGreaterThan(rooms.length - 10);
});

function isDescribed(folder: string): boolean {
  if (rooms.includes(folder)) return true;
  const parts = folder.split("/");
  return parts.some((part, at) => at > 0 && named.includes(part));
}

test("each described folder exists", () => {
  expect(rooms.length).toBeGreaterThan(30);
  expect(rooms.filter((folder) => !existsSync(join(root, folder)))).toEqual([]);
});
