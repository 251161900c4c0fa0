/**
 * An SDK newer than this plugin: the engine passes a plugin of any version on, from PATH or from
 * `plugins.providers`, with a warning that does not say what to do.
 */
import metadata from "../../metadata.json";
import type { PropertyMap } from "../propertyValue";
import { isOlder } from "../versions";

/** What to tell of the version that the program's SDK asks for; undefined where this one will do. */
export function sdkAdvice(
  inputs: PropertyMap,
  { plugin, folder }: { plugin: string; folder: string },
): string | undefined {
  const { version: sdk } = inputs;
  if (typeof sdk !== "string" || !isOlder(plugin, sdk)) return undefined;
  const { name, pluginDownloadURL } = metadata;
  return (
    `the program asks for version ${sdk} of the ${name} plugin, and this one, in ${folder}, is ` +
    `${plugin}: what is new in ${sdk} does not work. Take ${folder} from PATH or from ` +
    `plugins.providers in Pulumi.yaml, and Pulumi uses an installed one: ` +
    `\`pulumi plugin install resource ${name} ${sdk} --server ${pluginDownloadURL}\``
  );
}
