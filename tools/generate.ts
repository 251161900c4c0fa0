/**
 * `npm run generate`: everything that is made from the definitions: schema.json, sdk/nodejs, and the
 * tables in README.md. With `--check`, writes nothing and fails where a committed file is stale.
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { format } from "prettier";
import { readmeWithTables } from "./docs/tables";
import { packageSchema } from "./schema/packageSchema";
import { runTool, say, ToolError } from "./support/main";
import { root } from "./support/paths";
import { ensureSdkgen } from "./toolchain";

const sdk = "sdk/nodejs";
/** Compiled or installed, not generated. */
const notGenerated = ["bin/**", "node_modules/**"];

async function main(args: readonly string[]): Promise<void> {
  const check = args.includes("--check");
  const scratch = mkdtempSync(join(tmpdir(), "compute-generate-"));
  try {
    const schema = join(scratch, "schema.json");
    writeFileSync(schema, `${JSON.stringify(packageSchema(), undefined, 2)}\n`);
    const sdkgen = await ensureSdkgen();
    execFileSync(sdkgen, ["-schema", schema, "-check"], { stdio: "inherit" });
    execFileSync(sdkgen, ["-schema", schema, "-language", "nodejs", "-out", join(scratch, sdk)], {
      stdio: "inherit",
    });
    const readme = await format(readmeWithTables(readFileSync(join(root, "README.md"), "utf8")), {
      parser: "markdown",
      printWidth: 100,
    });
    writeFileSync(join(scratch, "README.md"), readme);

    const made = ["README.md", "schema.json", ...filesIn(scratch)];
    const stale = [
      ...made.filter((file) => !same(join(scratch, file), join(root, file))),
      ...filesIn(root).filter((file) => !existsSync(join(scratch, file))),
    ];
    if (stale.length === 0) return say("Everything generated is up to date.");
    if (check) {
      throw new ToolError(
        `Stale: ${stale.join(", ")}\nRun \`npm run generate\` and commit what it writes.`,
      );
    }
    for (const file of stale) {
      if (existsSync(join(scratch, file))) cpSync(join(scratch, file), join(root, file));
      else rmSync(join(root, file));
      say(`${existsSync(join(root, file)) ? "wrote" : "removed"} ${file}`);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function filesIn(base: string): string[] {
  const cwd = join(base, sdk);
  return globSync("**/*.*", { cwd, exclude: notGenerated, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(base.length + 1))
    .concat(existsSync(join(cwd, ".gitattributes")) ? [`${sdk}/.gitattributes`] : [])
    .sort();
}

function same(made: string, there: string): boolean {
  return existsSync(there) && readFileSync(made).equals(readFileSync(there));
}

runTool(main);
