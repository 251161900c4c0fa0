/** The npm package: what the generator leaves out. */
import { join } from "node:path";
import metadata from "../../metadata.json";
import type { SdkLanguage } from "./language";
import { insert } from "./edit";

export const nodejs: SdkLanguage = {
  title: "Node.js",
  generator: "sdkgen",
  example: "typescript",
  install: `\`\`\`sh\nnpm install ${metadata.sdk.nodejs.package}\n\`\`\``,

  /**
   * Where the compiled SDK is: the generator means bin/ to be published by itself. With an entry the
   * directory is a workspace that programs import from, and `npm pack` packs what they import.
   */
  complete(directory) {
    insert(
      join(directory, "package.json"),
      `\n    "license": "${metadata.license}",`,
      `
    "author": "${metadata.publisher}",
    "main": "bin/index.js",
    "types": "bin/index.d.ts",
    "files": [
        "bin"
    ],
    "engines": {
        "node": "${metadata.sdk.nodejs.node}"
    },`,
    );
  },
};
