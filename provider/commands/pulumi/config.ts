/** What a stack's configuration says of the provider, as the Pulumi CLI tells it. */
import * as z from "zod";
import { propertyMap, Secret, type PropertyMap } from "../../property/value";
import { count } from "../terminal";
import { failed, type Finding, ok } from "../finding";
import { parsedJson, pulumi } from "./cli";

const answer = z.record(
  z.string(),
  z.object({ value: z.string().optional(), secret: z.boolean().optional() }),
);

export async function readStack(
  name: string,
  env: NodeJS.ProcessEnv,
): Promise<{ finding: Finding; settings: PropertyMap }> {
  const config = await pulumi(["config", "--json", "--show-secrets", "--stack", name], env);
  const next = "Run it in the folder of the Pulumi project; `pulumi stack ls` lists its stacks.";
  const none = propertyMap({});
  if (!config.ok) return { finding: failed("stack", config.why, next), settings: none };
  const parsed = answer.safeParse(parsedJson(config.stdout));
  if (!parsed.success) {
    const found = "the Pulumi CLI gave a configuration that can't be read";
    return { finding: failed("stack", found, next), settings: none };
  }
  const ours = Object.entries(parsed.data).flatMap(([key, { value, secret }]) => {
    const [, setting] = /^compute:(.+)$/.exec(key) ?? [];
    if (setting === undefined || value === undefined) return [];
    return [[setting, secret ? new Secret(value) : value] as const];
  });
  const found = `${name}: ${count(ours.length, "setting")} of compute`;
  return { finding: ok("stack", found), settings: propertyMap(Object.fromEntries(ours)) };
}
