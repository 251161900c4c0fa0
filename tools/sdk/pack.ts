/** Packs the SDKs: for the tests, and for the registries. */
import { cpSync, globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import metadata from "../../metadata.json";
import { goTag } from "../release/versions";
import { captured } from "../support/command";
import { temporaryFolder } from "../support/files";
import { goEnvironment } from "../support/go";
import { oneOf } from "../support/main";
import { ensureProduct } from "../support/products";
import { root, toolsDir } from "../support/paths";
import { ensurePythonTools } from "../support/python";
import { generatedFiles } from "./write";
import { sdkLanguages, sdkNames, type Language } from "./languages";
import { writeNpmPackage } from "./npmPackage";

type PackedLanguage = Exclude<Language, "dotnet">;

/**
 * Packs an SDK for the tests, as the tools of the language install it, unless it is up to date. Returns its folder,
 * `.tools/packages/LANGUAGE`.
 */
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
    return ["tools/sdk/npmPackage.ts", "tools/support/launchers.ts", ...inputs];
  },
  async python(packages) {
    const wheel = ["-m", "pip", "wheel", "--no-deps", `--wheel-dir=${packages}`];
    await captured("python3", [...wheel, copyOf("python")]);
  },
  /** What Go's proxy would have, made by Go itself of a repository in place of the one on GitHub. */
  async go(packages) {
    using scratch = temporaryFolder();
    const [cwd, modules] = [join(scratch.path, "repository"), join(scratch.path, "modules")];
    const config = join(scratch.path, "gitconfig");
    const user = "[user]\n  name = nobody\n  email = nobody@example.com\n";
    const github = `[url "file://${cwd}"]\n  insteadOf = ${metadata.repository}\n`;
    writeFileSync(config, user + github);
    const source = join("sdk", "go");
    cpSync(join(root, source), join(cwd, source), { recursive: true });
    const settings = { GOPROXY: "direct", GOSUMDB: "off", GOFLAGS: "-modcacherw" };
    const folders = { GIT_CONFIG_GLOBAL: config, GOMODCACHE: modules };
    const env = { ...goEnvironment(), ...settings, ...folders };
    for (const args of [
      "init --quiet",
      "add --force .",
      "commit --quiet --message=SDK",
      `tag ${goTag}`,
    ])
      await captured("git", args.split(" "), { cwd, env });
    const module = `${metadata.sdk.go.module}@v${metadata.version}`;
    await captured("go", ["mod", "download", module], { cwd: scratch.path, env });
    cpSync(join(modules, "cache", "download"), packages, { recursive: true });
  },
  /** A Maven repository, also with what the build fetches. */
  async java(packages) {
    const cwd = copyOf("java");
    const repository = `-Dmaven.repo.local=${packages}`;
    await captured("mvn", ["--batch-mode", "--quiet", repository, "install"], { cwd });
  },
};

/**
 * Packs the SDK for its registry, in `.tools/release/LANGUAGE`, also with sources and documentation, and checks the
 * package with the language's own tools. Returns the files to publish.
 */
export async function packForRelease(language: Language): Promise<string[]> {
  const out = join(toolsDir, "release", language);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  await releasePackers[language](out);
  return globSync("**/*", { cwd: out, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** Returns the SDK of this name, or for programs in this language. @throws {ToolError} if there is none */
export function sdkNamed(name: string): Language {
  const sdk = sdkNames.find((sdk) => sdkLanguages[sdk].example === name);
  return sdk ?? oneOf("language", sdkNames, name);
}

const releasePackers: Readonly<Record<Language, (out: string) => Promise<void>>> = {
  async nodejs(out) {
    copyInto(out, await ensurePacked("nodejs"), "*.tgz");
  },
  /** twine finds what PyPI would refuse. */
  async python(out) {
    const python = join(await ensurePythonTools("packaging"), "python");
    await captured(python, ["-m", "build", `--outdir=${out}`, copyOf("python")]);
    const files = globSync("*", { cwd: out }).map((file) => join(out, file));
    await captured(python, ["-m", "twine", "--no-color", "check", "--strict", ...files]);
  },
  /** What Go's proxy will make from the tag. Not uploaded. */
  async go(out) {
    copyInto(out, await ensurePacked("go"), `${metadata.sdk.go.module}/@v/v*.{zip,mod,info}`);
    const options = { cwd: copyOf("go"), env: goEnvironment() };
    await captured("go", ["vet", "-mod=readonly", "./..."], options);
  },
  /** The jar, its sources, its documentation and the POM, in the folders of a Maven repository. Not signed. */
  async java(out) {
    const cwd = copyOf("java");
    const repository = `-Dmaven.repo.local=${await ensurePacked("java")}`;
    const options = ["--batch-mode", "--quiet", "--activate-profiles=release", repository];
    await captured("mvn", [...options, "verify"], { cwd });
    const { groupId, artifactId } = metadata.sdk.java;
    const folder = join(out, ...groupId.split("."), artifactId, metadata.version);
    copyInto(folder, join(cwd, "target"), "*.jar");
    cpSync(join(cwd, "pom.xml"), join(folder, `${artifactId}-${metadata.version}.pom`));
  },
  async dotnet(out) {
    const cwd = copyOf("dotnet");
    await captured("dotnet", ["pack", "--configuration=Release", `--output=${out}`], { cwd });
  },
};

function copyInto(out: string, from: string, pattern: string): void {
  for (const file of globSync(pattern, { cwd: from })) {
    cpSync(join(from, file), join(out, basename(file)));
  }
}

/** Copies `sdk/DIRECTORY`, because a build leaves files beside the sources. */
function copyOf(directory: string): string {
  const source = `sdk/${directory}`;
  const copy = join(toolsDir, "scratch", source.replaceAll("/", "-"));
  rmSync(copy, { recursive: true, force: true });
  for (const file of generatedFiles(root, source)) {
    cpSync(join(root, file), join(copy, relative(source, file)));
  }
  return copy;
}
