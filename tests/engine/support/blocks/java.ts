/** Java: each in turn as the program of a project that has the SDK as a user would. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { captured } from "../../../../tools/support/command";
import { readIfThere } from "../../../../tools/support/files";
import { ToolError } from "../../../../tools/support/main";
import { guests, hindrance, installed, WorkingCopy } from "../installing";
import { lineOf, type Check } from "./samples";

export const java: Check = {
  hindrance: () => hindrance(guests.Java),

  async run(samples, report) {
    const example = await installed(guests.Java);
    using copy = new WorkingCopy(example);
    const { project: cwd } = copy;
    const sources = join(cwd, "src", "main", "java");
    for (const sample of samples) {
      const package_ = /^package ([\w.]+);/m.exec(sample.text)?.[1] ?? "";
      const class_ = /^public (?:final )?class (\w+)/m.exec(sample.text)?.[1] ?? "App";
      const file = join(sources, ...package_.split("."), `${class_}.java`);
      // The example itself: installing it has compiled it.
      if (readIfThere(file) === sample.text) continue;
      rmSync(sources, { recursive: true });
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, sample.text);
      try {
        const options = { cwd, env: { ...process.env, ...example.env } };
        await captured("mvn", ["--batch-mode", "--quiet", "--offline", "compile"], options);
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        const line = /\.java:\[(\d+),/.exec(error.message)?.[1] ?? 0;
        report(sample, `${lineOf(sample, line)}: ${error.message}`);
      }
    }
  },
};
