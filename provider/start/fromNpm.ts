/**
 * The plugin as npm puts it into node_modules/.bin. It runs on the project's own Node, which may be new enough
 * for the SDK but too old for the plugin. This file is built for any Node, and says if the Node is too old.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import metadata from "../../metadata.json";

/** The oldest Node that undici and `@pulumi/pulumi` run on. */
const oldest = metadata.sdk.nodejs.pluginNode;

const [oldestMajor = 0, oldestMinor = 0] = oldest.split(".").map(Number);
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) {
  createRequire(__filename)(join(__dirname, "start.js"));
} else {
  // The engine puts a line before this, which says that the plugin has a bug.
  process.stderr.write(
    `

This is no defect: the ${metadata.name} plugin that npm installed needs Node.js ${oldest} or later, and the one on PATH is ${process.versions.node}.
Use a newer one; or let Pulumi use the plugin that has its own Node.js inside, which it downloads:
  export PULUMI_IGNORE_AMBIENT_PLUGINS=true
`,
  );
  process.exitCode = 1;
}
