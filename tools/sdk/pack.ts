/**
 * The SDKs as packages, as they are published: each in the form that its language's own tools make
 * and install. In `.tools/packages/LANGUAGE`.
 */
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

type Packed = Exclude<Language, "dotnet">;

/** The directory with the package, made if need be; what is in it says `packers`. */
export async function ensurePacked(language: Packed): Promise<string> {
  const packages = join(toolsDir, "packages", language);
  await ensureProduct({
    name: `the ${sdkLanguages[language].title} package`,
    outputs: [`.tools/packages/${language}`],
    stamp: `.tools/stamps/package-${language}`,
    async make() {
      // What Maven has fetched stays; its `install` puts a new package in the place of the old one.
      if (language !== "java") rmSync(packages, { recursive: true, force: true });
      mkdirSync(packages, { recursive: true });
      const inputs = (await packers[language](packages)) ?? [];
      return ["tools/sdk/pack.ts", ...generatedFiles(root, `sdk/${language}`), ...inputs];
    },
  });
  return packages;
}

/** Each may return what else it packs, as paths from the root. */
const packers: Readonly<Record<Packed, (packages: string) => Promise<readonly string[] | void>>> = {
  /** A tarball. */
  async nodejs(packages) {
    const { directory: cwd, inputs } = await writeNpmPackage();
    await captured("npm", ["pack", "--silent", `--pack-destination=${packages}`], { cwd });
    return ["tools/sdk/npmPackage.ts", ...inputs];
  },
  /** A wheel. */
  async python(packages) {
    const source = copyOf("python");
    await captured("python3", ["-m", "pip", "wheel", "--no-deps", `--wheel-dir=${packages}`, source]);
  },
  /** A directory for GOPROXY. */
  async go(packages) {
    const source = join(root, "sdk", "go", "compute");
    const version = `v${metadata.version}`;
    const tool = await ensureGoTool("gomodule");
    await captured(tool, ["-module", source, "-version", version, "-out", packages]);
  },
  /** A Maven repository, which also keeps what Maven fetches to build it. */
  async java(packages) {
    const cwd = copyOf("java");
    const repository = `-Dmaven.repo.local=${packages}`;
    await captured("mvn", ["--batch-mode", "--quiet", repository, "install"], { cwd });
  },
};

/** A copy of `sdk/DIRECTORY` to build in: building leaves files beside the sources. */
export function copyOf(directory: string): string {
  const source = `sdk/${directory}`;
  const copy = join(toolsDir, "scratch", source.replaceAll("/", "-"));
  rmSync(copy, { recursive: true, force: true });
  for (const file of generatedFiles(root, source)) {
    cpSync(join(root, file), join(copy, relative(source, file)));
  }
  return copy;
}
