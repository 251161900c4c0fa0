/** Packs the SDKs for the tests, in `.tools/packages/LANGUAGE`, as the tools of the language install them. */
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import metadata from "../../metadata.json";
import { ensureGoTool } from "../go/tools";
import { captured } from "../support/command";
import { ensureProduct } from "../support/products";
import { root, toolsDir } from "../support/paths";
import { generatedFiles } from "./write";
import { sdkLanguages, type Language } from "./languages";
import { writeNpmPackage } from "./npmPackage";

type PackedLanguage = Exclude<Language, "dotnet">;

/** Packs an SDK unless it is up to date. Returns its folder. */
export async function ensurePacked(language: PackedLanguage): Promise<string> {
  const packages = join(toolsDir, "packages", language);
  await ensureProduct({
    name: `the ${sdkLanguages[language].title} package`,
    outputs: [`.tools/packages/${language}`],
    stamp: `.tools/stamps/package-${language}`,
    async make() {
      // The folder for Java is kept, with what Maven has fetched.
      if (language !== "java") rmSync(packages, { recursive: true, force: true });
      mkdirSync(packages, { recursive: true });
      const inputs = (await packers[language](packages)) ?? [];
      return ["tools/sdk/pack.ts", ...generatedFiles(root, `sdk/${language}`), ...inputs];
    },
  });
  return packages;
}

/** Each may return further files that the package is made from. */
const packers: Readonly<
  Record<PackedLanguage, (packages: string) => Promise<readonly string[] | void>>
> = {
  async nodejs(packages) {
    const { directory: cwd, inputs } = await writeNpmPackage();
    await captured("npm", ["pack", "--silent", `--pack-destination=${packages}`], { cwd });
    return ["tools/sdk/npmPackage.ts", ...inputs];
  },
  async python(packages) {
    const source = copyOf("python");
    await captured("python3", [
      "-m",
      "pip",
      "wheel",
      "--no-deps",
      `--wheel-dir=${packages}`,
      source,
    ]);
  },
  async go(packages) {
    const source = join(root, "sdk", "go", "compute");
    const version = `v${metadata.version}`;
    const tool = await ensureGoTool("gomodule");
    await captured(tool, ["-module", source, "-version", version, "-out", packages]);
  },
  /** A Maven repository, also with what the build fetches. */
  async java(packages) {
    const cwd = copyOf("java");
    const repository = `-Dmaven.repo.local=${packages}`;
    await captured("mvn", ["--batch-mode", "--quiet", repository, "install"], { cwd });
  },
};

/** Copies `sdk/DIRECTORY`, because a build leaves files beside the sources. */
export function copyOf(directory: string): string {
  const source = `sdk/${directory}`;
  const copy = join(toolsDir, "scratch", source.replaceAll("/", "-"));
  rmSync(copy, { recursive: true, force: true });
  for (const file of generatedFiles(root, source)) {
    cpSync(join(root, file), join(copy, relative(source, file)));
  }
  return copy;
}
