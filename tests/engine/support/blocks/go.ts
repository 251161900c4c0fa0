/** Go: all in one `go vet`, in a module that has the SDK as a user would. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { captured } from "../../../../tools/support/command";
import { ToolError } from "../../../../tools/support/main";
import { guests, hindrance, installed, WorkingCopy } from "../installing";
import { reportLines, type Check } from "./samples";

export const go: Check = {
  hindrance: () => hindrance(guests.Go),

  async run(samples, report) {
    const example = await installed(guests.Go);
    using copy = new WorkingCopy(example);
    const { project: cwd } = copy;
    for (const [index, { text }] of samples.entries()) {
      mkdirSync(join(cwd, "blocks", String(index)), { recursive: true });
      writeFileSync(join(cwd, "blocks", String(index), "main.go"), text);
    }
    try {
      await captured("go", ["vet", "./blocks/..."], {
        cwd,
        env: { ...process.env, ...example.env },
      });
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      const said = error.message.split("\n").slice(1);
      reportLines(samples, said, /\bblocks\/(\d+)\/main\.go:(\d+):/, report);
    }
  },
};
