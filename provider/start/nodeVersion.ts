/** Whether the Node of an npm project can run the plugin and the emulator. The entry points of the npm package ask. */
import metadata from "../../metadata.json";

/** The version of the oldest Node that undici, `@pulumi/pulumi` and the emulator run on. */
export const oldestNode = metadata.sdk.nodejs.pluginNode;

/** Whether this Node is older than `oldestNode`. */
export function isNodeTooOld(): boolean {
  const [oldestMajor = 0, oldestMinor = 0] = oldestNode.split(".").map(Number);
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}
