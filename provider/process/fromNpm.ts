/** The entry point that npm puts into node_modules/.bin. It runs on any Node, and says if this one is too old. */
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import metadata from "../../metadata.json";
import { isNodeTooOld, neededNode } from "../version";

if (!isNodeTooOld()) {
  createRequire(__filename)(join(__dirname, "start.js"));
} else {
  // Pulumi.yaml names the folder of the package, and npm the folder .bin.
  const isNamed = basename(dirname(process.argv[1] ?? "")) !== ".bin";
  const removal = isNamed
    ? "  remove the provider's entry under `plugins` from Pulumi.yaml, and if npm starts Pulumi, also:\n"
    : "";
  // Before this message, the engine prints that the plugin has a bug.
  process.stderr.write(
    `

This is no defect: the ${metadata.name} plugin that npm installed needs ${neededNode}, and the one on PATH is ${process.versions.node}.
Put a newer Node.js first on PATH, or let Pulumi download and use the plugin that contains its own Node.js:
${removal}  export PULUMI_IGNORE_AMBIENT_PLUGINS=true
`,
  );
  process.exitCode = 1;
}
