/** Whether the Node of an npm project can run the plugin and the emulator. */
import metadata from "../../metadata.json";
import { isOlder } from "../version";

/** The oldest Node that undici, `@pulumi/pulumi` and the emulator run on. */
export const oldestNode = metadata.sdk.nodejs.pluginNode;

/** Whether this Node is older than `oldestNode`. */
export function isNodeTooOld(): boolean {
  return isOlder(process.versions.node, oldestNode);
}
