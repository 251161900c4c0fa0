/** The NuGet package: what the generator leaves out. */
import { join } from "node:path";
import metadata from "../../metadata.json";
import type { SdkLanguage } from "./language";
import { replace } from "./edit";

const { package: name, targetFramework } = metadata.sdk.dotnet;

export const dotnet: SdkLanguage = {
  title: ".NET",
  generator: "sdkgen-more",
  example: "csharp",
  install: `\`\`\`sh\ndotnet add package ${name}\n\`\`\``,

  complete(directory) {
    const project = join(directory, `${name}.csproj`);
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
    replace(project, ">net6.0<", `>${targetFramework}<`);
  },
};
