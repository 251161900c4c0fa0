/** Checks what users see of an SDK before they install it: metadata, README, licence and examples. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import metadata from "../../metadata.json";
import { root } from "../support/paths";
import { exampleBlock, type ExampleLanguage } from "./examples";
import { sdkNamed } from "./pack";

const { version, license, repository, description, pluginDownloadURL, keywords } = metadata;
const java = "src/main/java/com/computeinstances/compute";

/** Language, folder, file with the metadata, file that names the plugin, file of the Instance. */
const packages: [ExampleLanguage, string, string, string, string][] = [
  ["typescript", "nodejs", "package.json", "package.json", "instance.ts"],
  [
    "python",
    "python",
    "pyproject.toml",
    "pulumi_compute_instances/pulumi-plugin.json",
    "pulumi_compute_instances/instance.py",
  ],
  ["csharp", "dotnet", "ComputeInstances.Compute.csproj", "pulumi-plugin.json", "Instance.cs"],
  ["go", "go", "README.md", "compute/pulumi-plugin.json", "compute/instance.go"],
  [
    "java",
    "java",
    "pom.xml",
    "src/main/resources/com/computeinstances/compute/plugin.json",
    `${java}/Instance.java`,
  ],
];

test.each(packages)(
  "the %s package is complete",
  (language, directory, about, plugin, instance) => {
    const read = (file: string) => readFileSync(join(root, "sdk", directory, file), "utf8");

    for (const fact of [description, license, repository]) expect(read(about)).toContain(fact);
    // Go takes its version from a tag; Go and Maven have no keywords.
    if (language !== "go") expect(read(about)).toContain(version);
    if (!["go", "java"].includes(language)) {
      for (const keyword of keywords) expect(read(about)).toContain(keyword);
    }
    for (const fact of [`"${version}"`, `"${pluginDownloadURL}"`]) {
      expect(read(plugin)).toContain(fact);
    }
    expect(read("README.md")).toContain(exampleBlock(language));
    expect(read("LICENSE")).toBe(readFileSync(join(root, "LICENSE"), "utf8"));
    // The doc comment, which an editor shows.
    expect(read(instance)).toMatch(/Example Usage/);
    expect(read(instance)).toMatch(/Runs once, on the first boot of each server/);
  },
);

test("the docstrings of the Python package have the names of a Python program", () => {
  const files = globSync("sdk/python/**/*.{py,pyi}", { cwd: root });
  const text = files.map((file) => readFileSync(join(root, file), "utf8")).join("\n");
  expect(text).toContain("`user_data_base64`");
  expect(text.match(/`[a-z]+[A-Z]\w*`/g)).toBeNull();
});

test("docs/install.md names the oldest Node that the plugin of the npm package runs on", () => {
  const page = readFileSync(join(root, "docs/install.md"), "utf8");
  expect(page).toContain(`needs Node ${metadata.sdk.nodejs.pluginNodes[0]} or later`);
});

test("`npm run release -- pack` without a language names the languages", () => {
  const languages = "nodejs, python, go, dotnet, java";
  expect(() => sdkNamed("")).toThrow(`Which language? Choose one of these: ${languages}`);
});
