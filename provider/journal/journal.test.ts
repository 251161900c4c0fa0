import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { journalEntry } from "../testing/journalEntry";
import { temporaryFolder, urnOf } from "../testing/scene";
import { Journal } from "./journal";

const entry = journalEntry("web", { tokenKind: "live", name: "web-0123abc", before: ["i-0"] });

function open(home = temporaryFolder()) {
  const folder = join(home, "compute", "journal");
  const warnings: string[] = [];
  const run = () => new Journal(folder, (text) => warnings.push(text));
  return { folder, warnings, run, journal: run() };
}

test("what one run leaves open, the next one finds", () => {
  const { journal, run, warnings } = open();
  journal.write(entry);
  journal.write({ ...entry, id: "i-1" });
  expect(run().find(entry, entry.urn)).toEqual({ ...entry, id: "i-1" });
  expect(warnings).toEqual([]);
});

test("an entry that is cleared is gone for good, and clearing none is no fault", () => {
  const { journal, run, warnings, folder } = open();
  journal.write(entry);
  journal.clear(entry, entry.urn);
  journal.clear(entry, entry.urn);
  expect(journal.find(entry, entry.urn)).toBeUndefined();
  expect(run().entries()).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
  expect(warnings).toEqual([]);
});

test("an entry is of one resource at one place", () => {
  const { journal } = open();
  journal.write(entry);
  expect(journal.find(entry, urnOf("other"))).toBeUndefined();
  expect(journal.find({ ...entry, tokenKind: "test" }, entry.urn)).toBeUndefined();
  expect(journal.find({ ...entry, baseUrl: "https://b.example/v2" }, entry.urn)).toBeUndefined();
});

test("the resources noted for an id are found by it, those of earlier runs and of this one", () => {
  const { journal, run } = open();
  journal.write({ ...entry, id: "i-1" });
  const next = run();
  expect(next.resourcesOf(entry, "i-1")).toEqual([entry.urn]);
  next.write({ ...entry, urn: urnOf("b"), id: "i-2" });
  expect(next.resourcesOf(entry, "i-2")).toEqual([urnOf("b")]);
  expect(next.resourcesOf({ ...entry, tokenKind: "test" }, "i-1")).toEqual([]);
});

test("what is cleared is found by its id no more, and a newer id takes the place of the older", () => {
  const { journal } = open();
  expect(journal.resourcesOf(entry, "i-1")).toEqual([]);
  journal.write({ ...entry, id: "i-1" });
  journal.write({ ...entry, id: "i-2" });
  expect(journal.resourcesOf(entry, "i-1")).toEqual([]);
  expect(journal.resourcesOf(entry, "i-2")).toEqual([entry.urn]);
  journal.clear(entry, entry.urn);
  expect(journal.resourcesOf(entry, "i-2")).toEqual([]);
});

test("what another process writes meanwhile is seen after another look", () => {
  const { journal, run } = open();
  expect(journal.resourcesOf(entry, "i-1")).toEqual([]);
  run().write({ ...entry, id: "i-1" });
  journal.lookAgain();
  expect(journal.resourcesOf(entry, "i-1")).toEqual([entry.urn]);
});

test("only its owner can read it", () => {
  const { journal, folder } = open();
  journal.write(entry);
  const [file = ""] = readdirSync(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
});

test.each(["", "{", "null", "[]", '{"urn": 1}', "\u0000\u0001"])(
  "an entry that is %j is passed over with a warning that names it, once",
  (garbage) => {
    const { journal, run, folder, warnings } = open();
    journal.write(entry);
    const [file = ""] = readdirSync(folder);
    writeFileSync(join(folder, file), garbage);
    const next = run();
    expect(next.find(entry, entry.urn)).toBeUndefined();
    expect(next.find(entry, entry.urn)).toBeUndefined();
    expect(next.entries()).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining(join(folder, file))]);
    next.write(entry);
    expect(next.find(entry, entry.urn)).toEqual(entry);
  },
);

test("other files in the folder are none of its business", () => {
  const { journal, run, folder, warnings } = open();
  journal.write(entry);
  writeFileSync(join(folder, "notes.txt"), "x");
  writeFileSync(join(folder, ".0123.json.42"), "half an en");
  expect(run().entries()).toEqual([entry]);
  expect(warnings).toEqual([]);
});

test("a home that can't hold a journal is a warning at most, once", () => {
  const home = temporaryFolder();
  writeFileSync(join(home, "compute"), "a file where the folder would be");
  const { journal, warnings } = open(home);
  expect(journal.find(entry, entry.urn)).toBeUndefined();
  journal.write(entry);
  journal.write(entry);
  journal.clear(entry, entry.urn);
  expect(journal.entries()).toEqual([]);
  expect(warnings).toEqual([expect.stringContaining("can't be written")]);
});

test("of several entries that can't be read, each is named", () => {
  const { journal, run, folder, warnings } = open();
  const urns = [urnOf("a"), urnOf("b")];
  for (const urn of urns) journal.write({ ...entry, urn });
  for (const file of readdirSync(folder)) writeFileSync(join(folder, file), "{");
  const next = run();
  for (const urn of [...urns, ...urns]) expect(next.find(entry, urn)).toBeUndefined();
  expect(warnings).toHaveLength(2);
  for (const file of readdirSync(folder)) expect(warnings.join()).toContain(join(folder, file));
});

test("a folder that can't be written is a warning that says what it means", () => {
  const home = temporaryFolder();
  const { journal, warnings, folder } = open(home);
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o500);
  // As root everything can be written: a file in the way does the same.
  if (process.getuid?.() === 0) {
    journal.write(entry);
    const [file = ""] = readdirSync(folder);
    journal.clear(entry, entry.urn);
    mkdirSync(join(folder, file, "in the way"), { recursive: true });
  }
  journal.write(entry);
  expect(warnings).toEqual([expect.stringContaining("can't be written")]);
  expect(readdirSync(folder).filter((name) => name.startsWith("."))).toEqual([]);
});

test("a folder that can't be looked into is a warning that says what it means", () => {
  const home = temporaryFolder();
  mkdirSync(join(home, "compute"));
  symlinkSync("journal", join(home, "compute", "journal"));
  const { journal, warnings } = open(home);
  expect(journal.find(entry, entry.urn)).toBeUndefined();
  expect(journal.entries()).toEqual([]);
  expect(warnings).toEqual([expect.stringContaining("can't be read (ELOOP")]);
});

test("an entry that can't be removed is a warning, once", () => {
  const { journal, folder, warnings } = open();
  for (const name of ["a", "b"]) journal.write({ ...entry, urn: urnOf(name) });
  for (const file of readdirSync(folder)) {
    rmSync(join(folder, file));
    mkdirSync(join(folder, file));
  }
  for (const name of ["a", "b"]) expect(journal.clear(entry, urnOf(name))).toBe(false);
  expect(warnings).toEqual([expect.stringContaining("can't be removed")]);
});

test("an entry that another process removed is not there, without a word", () => {
  const { journal, run, warnings } = open();
  journal.write(entry);
  const other = run();
  other.clear(entry, entry.urn);
  expect(journal.find(entry, entry.urn)).toBeUndefined();
  journal.clear(entry, entry.urn);
  expect(warnings).toEqual([]);
});

test("a file says in words what it holds, for who finds it", () => {
  const { journal, folder } = open();
  journal.write(entry);
  const [file = ""] = readdirSync(folder);
  expect(JSON.parse(readFileSync(join(folder, file), "utf8"))).toEqual(entry);
});
