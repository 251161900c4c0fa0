/** Compares the walls of eslint.config.mjs with the rooms of the provider, which are its folders, and with their imports. */
import { execFileSync } from "node:child_process";
import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { root } from "../support/paths";

const folders = readdirSync(join(root, "provider"), { withFileTypes: true });
const rooms = folders
  .filter((entry) => entry.isDirectory() && entry.name !== "testing")
  .map(({ name }) => name)
  .sort();

/** Prints `roomsBelow`, and for each room what its wall refuses. Jest can't load the configuration, which is an ES module. */
const script = `
import { ESLint } from "eslint";
import { roomsBelow } from "./eslint.config.mjs";
const eslint = new ESLint();
const refused = {};
for (const room of ${JSON.stringify(rooms)}) {
  const { rules } = await eslint.calculateConfigForFile("provider/" + room + "/some.ts");
  const [, { patterns }] = rules["@typescript-eslint/no-restricted-imports"];
  refused[room] = patterns.map(({ regex }) => regex);
}
console.log(JSON.stringify({ roomsBelow, refused }));
`;
const { roomsBelow, refused } = JSON.parse(
  execFileSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: root,
    encoding: "utf8",
  }),
) as { roomsBelow: Record<string, string[]>; refused: Record<string, string[]> };

/** Returns the files of a room, as another room imports them, and one that does not exist yet. */
const filesOf = (room: string) =>
  globSync(`${room}/*.ts`, { cwd: join(root, "provider") }).map((path) => path.replace(".ts", ""));

/** Returns the rooms whose files this room imports. Tests may import any. */
function importedBy(room: string): string[] {
  const files = globSync(`provider/${room}/**/*.ts`, { cwd: root }).filter(
    (path) => !/\.test\.ts$|\/testing\//.test(path),
  );
  expect(files.length).toBeGreaterThan(0);
  const paths = files.flatMap((path) =>
    [
      ...readFileSync(join(root, path), "utf8").matchAll(/(?:from |import\()"(?:\.\.\/)+(\w+)\//g),
    ].map(([, folder = ""]) => folder),
  );
  return rooms.filter((other) => other !== room && paths.includes(other));
}

test("the walls name the rooms that exist", () => {
  expect(rooms.length).toBeGreaterThan(5);
  expect(Object.keys(roomsBelow).sort()).toEqual(rooms);
});

test.each(rooms)("provider/%s may import the rooms that it needs, and no other", (room) => {
  const isRefused = (path: string) =>
    refused[room]?.some((regex) => new RegExp(regex).test(`../${path}`));
  const permitted = rooms.filter(
    (other) => other !== room && filesOf(other).some((path) => !isRefused(path)),
  );
  expect(permitted).toEqual(importedBy(room));
});
