/**
 * Checks the Go, Java and TypeScript blocks of the documentation with their compilers, and the C# blocks without one.
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { captured } from "../../../../tools/support/command";
import { ToolError } from "../../../../tools/support/main";
import { ensureFetched } from "../../../../tools/support/npm";
import { root, toolsDir } from "../../../../tools/support/paths";
import { languages, missingTools, installed, WorkingCopy } from "../installing";
import { lineOf, reportLines, type Check, type Sample } from "./samples";

// ── Go: checks all blocks with one `go vet`, in a module in which the SDK is installed as a user does it.

export const go: Check = {
  skipReason: () => missingTools(languages.Go),

  async run(samples, report) {
    const example = await installed(languages.Go);
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
      const output = error.message.split("\n").slice(1);
      reportLines(samples, output, /\bblocks\/(\d+)\/main\.go:(\d+):/, report);
    }
  },
};

// ── Java: compiles each block in turn, as the program of a project in which the SDK is installed as a user does it.

export const java: Check = {
  skipReason: () => missingTools(languages.Java),

  async run(samples, report) {
    const example = await installed(languages.Java);
    using copy = new WorkingCopy(example);
    const { project: cwd } = copy;
    const sources = join(cwd, "src", "main", "java");
    for (const sample of samples) {
      const package_ = /^package ([\w.]+);/m.exec(sample.text)?.[1] ?? "";
      const class_ = /^public (?:final )?class (\w+)/m.exec(sample.text)?.[1] ?? "App";
      const file = join(sources, ...package_.split("."), `${class_}.java`);
      rmSync(sources, { recursive: true });
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, sample.text);
      try {
        const options = { cwd, env: { ...process.env, ...example.env } };
        await captured("mvn", ["--batch-mode", "--quiet", "compile"], options);
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        const line = /\.java:\[(\d+),/.exec(error.message)?.[1] ?? 0;
        report(sample, `${lineOf(sample, line)}: ${error.message}`);
      }
    }
  },
};

// ── TypeScript: checks all blocks in one strict run of the compiler, with the SDK of this repository.

export const typescript: Check = {
  async run(samples, report) {
    // The folder is inside the repository, whose node_modules contains the SDK.
    const folder = join(toolsDir, "scratch", "blocks-typescript");
    rmSync(folder, { recursive: true, force: true });
    for (const [index, { text }] of samples.entries()) {
      mkdirSync(join(folder, String(index)), { recursive: true });
      writeFileSync(join(folder, String(index), "index.ts"), text);
    }
    const settings = {
      extends: join(root, "examples", "instance", "tsconfig.json"),
      compilerOptions: {
        moduleDetection: "force",
        typeRoots: [join(root, "node_modules/@types")],
        paths: await commandPaths(samples),
      },
      files: samples.map((_, index) => `${index}/index.ts`),
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    try {
      await captured(process.execPath, [tsc, "-p", folder, "--pretty", "false"], { cwd: folder });
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      const output = error.message.split("\n").slice(1);
      reportLines(samples, output, /^(\d+)\/index\.ts\((\d+),/, report);
    }
  },
};

/** Fetches the command provider's SDK if a sample uses it, and returns where the compiler finds it. */
async function commandPaths(samples: readonly Sample[]): Promise<Record<string, string[]>> {
  if (!samples.some(({ text }) => text.includes('"@pulumi/command"'))) return {};
  const folder = await ensureFetched({
    name: "command",
    title: "Pulumi's command provider for programs",
    outputs: ["node_modules/@pulumi/command/index.d.ts"],
  });
  const pathOf = (name: string, installation: string) => join(installation, "node_modules", name);
  return {
    "@pulumi/command": [pathOf("@pulumi/command", folder)],
    // One copy for all, because classes of two copies are two types.
    "@pulumi/pulumi": [pathOf("@pulumi/pulumi", root)],
    "@pulumi/pulumi/*": [pathOf("@pulumi/pulumi/*", root)],
  };
}

// ── C#, without .NET: each argument must be a property of the SDK's class, and the brackets must match.

export const csharp: Check = {
  leftOut:
    "they are not compiled, because that needs .NET: only the names of arguments and the brackets are checked",

  run(samples, report) {
    for (const sample of samples) {
      const { text } = sample;
      for (const { index, 1: class_ = "", 2: body = "" } of text.matchAll(
        /new (\w+Args)\s*\{(.*?)\n\s*\}/gs,
      )) {
        const known = propertiesOf(class_);
        const given = [...body.matchAll(/^\s*(\w+) =/gm)].map(([, name = ""]) => name);
        const unknown = known ? given.filter((name) => !known.has(name)) : [class_];
        const line = lineOf(sample, text.slice(0, index).split("\n").length);
        for (const name of unknown) report(sample, `${line}: the SDK has no ${class_}.${name}`);
      }
      for (const [open = "", close = ""] of ["()", "{}", "[]"]) {
        const [opened, closed] = [open, close].map((sign) => text.split(sign).length);
        if (opened !== closed)
          report(sample, `${lineOf(sample, 0)}: ${open} and ${close} don't match`);
      }
    }
  },
};

const sources = globSync("*.cs", { cwd: join(root, "sdk", "dotnet") }).map((file) =>
  readFileSync(join(root, "sdk", "dotnet", file), "utf8"),
);

/** The public properties of a class of the .NET SDK. Undefined if the SDK has no such class. */
function propertiesOf(class_: string): ReadonlySet<string> | undefined {
  const declared = sources.map((text) => text.split(`class ${class_} `)[1]).find(Boolean);
  const own = declared?.split(/\n {4}\}/)[0];
  if (own === undefined) return undefined;
  return new Set([...own.matchAll(/public \S+ (\w+)\s*(?:\{|$)/gm)].map(([, name = ""]) => name));
}
