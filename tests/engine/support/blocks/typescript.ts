/** TypeScript: all in one run of the compiler, strictly, against the SDK as it is built. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "../../../../tools/support/main";
import { captured } from "../../../../tools/support/command";
import { root, toolsDir } from "../../../../tools/support/paths";
import { reportLines, type Check } from "./samples";

export const typescript: Check = {
  async run(samples, report) {
    // Below the repository, whose node_modules has the SDK.
    const folder = join(toolsDir, "scratch", "blocks-typescript");
    rmSync(folder, { recursive: true, force: true });
    for (const [index, { text }] of samples.entries()) {
      mkdirSync(join(folder, String(index)), { recursive: true });
      writeFileSync(join(folder, String(index), "index.ts"), text);
    }
    const settings = {
      extends: join(root, "examples", "instance", "tsconfig.json"),
      compilerOptions: { moduleDetection: "force", typeRoots: [join(root, "node_modules/@types")] },
      files: samples.map((_, index) => `${index}/index.ts`),
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    try {
      await captured(process.execPath, [tsc, "-p", folder, "--pretty", "false"], { cwd: folder });
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      const said = error.message.split("\n").slice(1);
      reportLines(samples, said, /^(\d+)\/index\.ts\((\d+),/, report);
    }
  },
};
