/** The languages that have an SDK, and what each package needs beyond what the official generator writes. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import metadata from "../../metadata.json";
import { goVersion, requiredVersion, tidy } from "../support/go";
import { root } from "../support/paths";
import type { ExampleLanguage } from "./examples";
import { pythonSchema } from "./pythonSchema";
import type { PackageSchema } from "./schema";

export interface SdkLanguage {
  title: string;
  /** Which of the two generator programs knows the language. */
  generator: "sdkgen" | "sdkgen-more";
  example: ExampleLanguage;
  /** A fenced block that adds the package to a project. */
  install: string;
  /** Returns the schema for the generator, if it is not that of the package. */
  schema?(schema: PackageSchema): object;
  complete(directory: string): void | Promise<void>;
}

const { license, publisher, version, displayName, description, homepage, repository } = metadata;
const { nodejs, python, go, dotnet, java } = metadata.sdk;

export const sdkLanguages = {
  nodejs: {
    title: "Node.js",
    generator: "sdkgen",
    example: "typescript",
    install: shellBlock(`npm install ${nodejs.package}`),
    /**
     * The generator expects that bin/ is published by itself. With an entry point, programs import from the folder.
     */
    complete(directory) {
      const manifest = JSON.stringify(
        {
          author: publisher,
          main: "bin/index.js",
          types: "bin/index.d.ts",
          exports: {
            ".": { types: "./bin/index.d.ts", default: "./bin/index.js" },
            "./testing": {
              types: "./bin/testing/index.d.ts",
              default: "./bin/testing/index.js",
            },
            "./package.json": "./package.json",
          },
          // For TypeScript's `moduleResolution: node`, which does not read `exports`.
          typesVersions: { "*": { testing: ["bin/testing/index.d.ts"] } },
          files: ["bin"],
          engines: { node: nodejs.node },
        },
        undefined,
        4,
      );
      insert(
        join(directory, "package.json"),
        `\n    "license": "${license}",`,
        `${manifest.slice(1, -2)},`,
      );
    },
  },

  python: {
    title: "Python",
    generator: "sdkgen",
    example: "python",
    install: shellBlock(`pip install ${python.package}`),
    schema: pythonSchema,
    complete(directory) {
      // The package's README.md is the one beside pyproject.toml.
      rmSync(join(directory, python.package, "README.md"));
      for (const file of ["provider.py", "get_instances.py"])
        takeWords(join(directory, python.package, file));
      const classifiers = [
        "Intended Audience :: Developers",
        "Programming Language :: Python :: 3 :: Only",
        "Topic :: System :: Systems Administration",
        "Typing :: Typed",
      ];
      const project = join(directory, "pyproject.toml");
      insert(
        project,
        "[project]\n",
        `  authors = [{ name = "${publisher}" }]\n  classifiers = ${JSON.stringify(classifiers)}\n  license = "${license}"\n`,
      );
      // The generator writes the license as a table, of which setuptools warns.
      replace(project, `  [project.license]\n    text = "${license}"\n`, "");
      replace(project, '"setuptools>=61.0"', '"setuptools>=77.0"');
    },
  },

  go: {
    title: "Go",
    generator: "sdkgen",
    example: "go",
    install: shellBlock(`go get ${go.package}`),
    async complete(directory) {
      // The Pulumi SDK of the generator's version, which has what the generated code calls. The generator itself would name
      // 3.269.0, but Go's module proxy refused a module that this one needs (pulumi-cloud-sdk).
      const pulumi = requiredVersion("engine", "github.com/pulumi/pulumi/pkg/v3");
      writeFileSync(
        join(directory, "go.mod"),
        `module ${go.module}\n\ngo ${goVersion("engine")}\n\nrequire github.com/pulumi/pulumi/sdk/v3 ${pulumi}\n`,
      );
      await tidy(directory);
    },
  },

  dotnet: {
    title: ".NET",
    generator: "sdkgen-more",
    example: "csharp",
    install: shellBlock(`dotnet add package ${dotnet.package}`),
    complete(directory) {
      const project = join(directory, `${dotnet.package}.csproj`);
      const tags = metadata.keywords.join(";");
      replace(
        project,
        "    <PackageIcon>logo.png</PackageIcon>\n",
        `    <PackageReadmeFile>README.md</PackageReadmeFile>\n    <PackageTags>${tags}</PackageTags>\n`,
      );
      replace(
        project,
        `    <None Include="logo.png">
      <Pack>True</Pack>
      <PackagePath></PackagePath>
    </None>`,
        `    <None Include="README.md" Pack="True" PackagePath="" />\n    <None Include="LICENSE" Pack="True" PackagePath="" />`,
      );
      replace(project, ">net6.0<", `>${dotnet.targetFramework}<`);
    },
  },

  java: {
    title: "Java",
    generator: "sdkgen-more",
    example: "java",
    install: `\`\`\`xml
<dependency>
  <groupId>${java.groupId}</groupId>
  <artifactId>${java.artifactId}</artifactId>
  <version>${version}</version>
</dependency>
\`\`\``,
    complete(directory) {
      // We build with Maven, not with Gradle.
      for (const file of ["build.gradle", "settings.gradle"]) rmSync(join(directory, file));
      const values: Readonly<Record<string, string>> = {
        displayName,
        description,
        homepage,
        repository,
        license,
        publisher,
        version,
        groupId: java.groupId,
        artifactId: java.artifactId,
        release: String(java.release),
        // The SDK of the generator's version.
        pulumi: requiredVersion("sdkgen-more", "github.com/pulumi/pulumi-java/pkg").slice(1),
      };
      const template = readFileSync(join(root, "tools", "sdk", "pom.xml"), "utf8");
      const pom = template.replace(/@(\w+)@/g, (_, name: string) => values[name] ?? "");
      writeFileSync(join(directory, "pom.xml"), pom);
      // The generated code reads version.txt, and the language host reads plugin.json.
      const resources = join(
        directory,
        ...["src", "main", "resources", ...java.basePackage.split("."), metadata.name],
      );
      mkdirSync(resources, { recursive: true });
      writeFileSync(join(resources, "version.txt"), `${version}\n`);
      const { name, pluginDownloadURL: server } = metadata;
      const plugin = JSON.stringify({ resource: true, name, version, server }, undefined, 2);
      writeFileSync(join(resources, "plugin.json"), `${plugin}\n`);
    },
  },
} satisfies Record<string, SdkLanguage>;

export type Language = keyof typeof sdkLanguages;
export const sdkNames = Object.keys(sdkLanguages) as Language[];

function shellBlock(command: string): string {
  return `\`\`\`sh\n${command}\n\`\`\``;
}

/**
 * Lets an argument that is an enum take a string too, so that a type checker accepts its plain words. (In the schema, this
 * would be a union, which Pulumi's generator makes the SDKs send as JSON text.)
 *
 * @throws if the generator no longer writes such an argument
 */
function takeWords(file: string): void {
  const before = readFileSync(file, "utf8");
  const after = before.replace(/Optional\['(\w+)'\]/g, "Optional[Union[_builtins.str, '$1']]");
  if (after === before) throw new Error(`${file}: the generator writes no enum as an argument`);
  writeFileSync(file, after);
}

function insert(file: string, after: string, insertion: string): void {
  replace(file, after, after + insertion);
}

/** @throws if the generator no longer writes `old` exactly once */
function replace(file: string, old: string, replacement: string): void {
  const before = readFileSync(file, "utf8");
  if (before.split(old).length !== 2) {
    throw new Error(`${file}: the generator no longer writes this exactly once: ${old}`);
  }
  writeFileSync(
    file,
    before.replace(old, () => replacement),
  );
}
