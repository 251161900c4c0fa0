/** Real processes that write one journal at once: every entry is whole, and nobody complains (G1). */
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "../testing/scene";
import { Journal } from "./journal";

const writer = join(__dirname, "..", "testing", "journalWriter.ts");
const rounds = 150;

test("two processes that hammer one journal spoil nothing of each other", async () => {
  const folder = join(temporaryFolder(), "not", "made", "yet");
  const names = ["one", "two"];

  const printed = await Promise.all(
    names.map((name) =>
      promisify(execFile)(process.execPath, ["--import", "tsx", writer, folder, name, `${rounds}`]),
    ),
  );

  expect(printed.map(({ stdout, stderr }) => stdout + stderr)).toEqual(["", ""]);
  const warnings: string[] = [];
  const entries = new Journal(folder, (text) => warnings.push(text)).entries();
  const expected = names.flatMap((name) =>
    Array.from({ length: rounds }, (_, n) => `${name}-${n}`),
  );
  const left = entries.map(({ name }) => name).filter((name) => name !== "shared");
  expect(left.sort()).toEqual(expected.sort());
  expect(readdirSync(folder).filter((name) => name.startsWith("."))).toEqual([]);
  expect(warnings).toEqual([]);
});
