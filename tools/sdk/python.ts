/** The Python package: what the generator leaves out. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import metadata from "../../metadata.json";
import type { SdkLanguage } from "./language";
import { insert } from "./edit";

const { package: name } = metadata.sdk.python;

const classifiers = [
  "Intended Audience :: Developers",
  "Programming Language :: Python :: 3 :: Only",
  "Topic :: System :: Systems Administration",
  "Typing :: Typed",
];

export const python: SdkLanguage = {
  title: "Python",
  generator: "sdkgen",
  example: "python",
  install: `\`\`\`sh\npip install ${name}\n\`\`\``,

  complete(directory) {
    // The one beside pyproject.toml is the package's.
    rmSync(join(directory, name, "README.md"));
    insert(
      join(directory, "pyproject.toml"),
      "[project]\n",
      `  authors = [{ name = "${metadata.publisher}" }]\n  classifiers = ${JSON.stringify(classifiers)}\n`,
    );
  },
};
