/**
 * Packs the SDKs for the registries, in `.tools/release/LANGUAGE`, also with the sources and documentation that
 * tools/sdk/pack.ts leaves out.
 */
import { cpSync, globSync, mkdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { copyOf, ensurePacked } from "../sdk/pack";
import metadata from "../../metadata.json";
import { sdkLanguages, sdkNames, type Language } from "../sdk/languages";
import { captured } from "../support/command";
import { goEnvironment } from "../support/go";
import { oneOf } from "../support/main";
import { root, toolsDir } from "../support/paths";
import { ensurePythonTools } from "../support/python";

/** Packs and checks the package with the language's own tools. Returns the files to publish. */
export async function packForRelease(language: Language): Promise<string[]> {
  const out = join(toolsDir, "release", language);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  await packers[language](out);
  return globSync("**/*", { cwd: out, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** Returns the SDK of this name, or for programs in this language. @throws {ToolError} if there is none */
export function sdkNamed(name: string): Language {
  const sdk = sdkNames.find((it) => sdkLanguages[it].example === name);
  return sdk ?? oneOf("language", sdkNames, name);
}

/** Returns the command that installs the packed files in a project, or for Go and Java the sources. */
export function installCommand(language: Language, files: readonly string[]): string {
  const { go, dotnet } = metadata.sdk;
  const [first = ""] = files;
  const commands: Readonly<Record<Language, string>> = {
    nodejs: `npm install ${first}`,
    python: `pip install ${files.find((file) => file.endsWith(".whl"))}`,
    go: `go mod edit -replace ${go.module}=${join(root, "sdk", "go", "compute")}`,
    java: `mvn --file ${join(root, "sdk", "java")} install`,
    dotnet: `dotnet add package ${dotnet.package} --source ${dirname(first)}`,
  };
  return commands[language];
}

const packers: Readonly<Record<Language, (out: string) => Promise<void>>> = {
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
    copyInto(out, await ensurePacked("go"), "**/@v/v*.{zip,mod,info}");
    const options = { cwd: copyOf("go/compute"), env: goEnvironment() };
    await captured("go", ["vet", "-mod=readonly", "./..."], options);
  },
  /** The jar, its sources, its documentation and, if there is a key, their signatures. */
  async java(out) {
    const cwd = copyOf("java");
    await maven(cwd, "verify");
    copyInto(out, join(cwd, "target"), "*.{jar,asc}");
  },
  async dotnet(out) {
    const cwd = copyOf("dotnet");
    await captured("dotnet", ["pack", "--configuration=Release", `--output=${out}`], { cwd });
  },
};

/** Runs Maven with the profile that Maven Central requires. Signs if there is a key, and always for `deploy`. */
export async function maven(cwd: string, goal: "verify" | "deploy"): Promise<void> {
  const repository = `-Dmaven.repo.local=${await ensurePacked("java")}`;
  const isSigned = process.env["MAVEN_GPG_KEY"] !== undefined || goal === "deploy";
  const signing = isSigned ? [] : ["-Dgpg.skip"];
  await captured(
    "mvn",
    ["--batch-mode", "--quiet", "--activate-profiles=release", repository, ...signing, goal],
    { cwd },
  );
}

function copyInto(out: string, from: string, pattern: string): void {
  for (const file of globSync(pattern, { cwd: from })) {
    cpSync(join(from, file), join(out, basename(file)));
  }
}
