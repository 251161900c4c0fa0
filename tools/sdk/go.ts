/** The Go module: what the generator leaves out. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import metadata from "../../metadata.json";
import { goVersion, requiredVersion, tidy } from "../support/go";
import type { SdkLanguage } from "./language";

const path = metadata.sdk.go.module;
const pulumi = "github.com/pulumi/pulumi/sdk/v3";

export const go: SdkLanguage = {
  title: "Go",
  generator: "sdkgen",
  example: "go",
  install: `\`\`\`sh\ngo get ${path}\n\`\`\``,
  /** The import path ends in it, and the generator writes it, too. */
  root: "compute",

  async complete(directory) {
    // Against the Pulumi that the generator belongs to.
    const version = requiredVersion("sdkgen", "github.com/pulumi/pulumi/pkg/v3");
    writeFileSync(
      join(directory, "go.mod"),
      `module ${path}\n\ngo ${goVersion("sdkgen")}\n\nrequire ${pulumi} ${version}\n`,
    );
    await tidy(directory);
  },
};
