/**
 * What npm puts into node_modules/.bin, for whatever Node the project has: the SDK runs on an older
 * one than the plugin does. So this file is built for any Node, and says so where it is too old.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import metadata from "../../metadata.json";

/** What undici and Pulumi's protocol ask for. */
const oldest = metadata.sdk.nodejs.pluginNode;

const [oldestMajor = 0, oldestMinor = 0] = oldest.split(".").map(Number);
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) {
  createRequire(__filename)(join(__dirname, "start.js"));
} else {
  // The engine puts a line of its own before it, which takes this for a defect.
  process.stderr.write(
    `

This is no defect: the ${metadata.name} plugin that npm installed needs Node.js ${oldest} or later, and the one on PATH is ${process.versions.node}.
Use a newer one; or let Pulumi use the plugin that has its own Node.js inside, which it downloads:
  export PULUMI_IGNORE_AMBIENT_PLUGINS=true
`,
  );
  process.exitCode = 1;
}
