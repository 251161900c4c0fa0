/** What cloud-init loses, without a word, of the cloud-configs in one message or archive. */
import type { Unusable, Yaml } from "./cloudConfig";
import { cloudConfigKeys } from "./cloudConfigKeys";

/** A part that is a cloud-config. */
export interface ConfigPart {
  /** From 1. */
  number: number;
  yaml: Yaml;
  /** The names of its headers or, in an archive, of its keys. */
  headers: readonly string[];
}

/** What says how a cloud-config is merged with those before it, or that it is for one of several servers only. */
const mergeWord = /^(?:merge_how|merge_type|(?:x-)?merge-type|launch-index)$/i;

/** So, cloud-init appends to lists and adds to mappings. */
const merging = "list(append)+dict(recurse_list,recurse_str)+str()";

/**
 * Says which parts replace lists and mappings of parts before them: each of its keys does that in a part that does not say how it is
 * merged. What is neither may be there to be replaced.
 */
export function replacedProblems(parts: readonly ConfigPart[]): Unusable[] {
  const found: Unusable[] = [];
  /** By key: the number of the part that has its list or mapping. */
  const holders = new Map<string, number>();
  for (const { number, yaml, headers } of parts) {
    const config = Object(yaml.value) as Record<string, unknown>;
    // No other key is named, because it may be secret.
    const keys = cloudConfigKeys.filter((key) => Object.hasOwn(config, key));
    const isMerged = [...headers, ...Object.keys(config)].some((name) => mergeWord.test(name));
    const replaced = isMerged ? [] : keys.filter((key) => holders.has(key));
    if (replaced.length > 0) {
      const others = [...new Set(replaced.map((key) => `part ${holders.get(key)}`))];
      const why = `part ${number} replaces ${shortened(replaced)} of ${shortened(others)}`;
      const remedy = `To keep both, add the line \`merge_how: ${merging}\` to part ${number}.`;
      found.push({ partly: true, why, remedy });
    }
    for (const key of keys) {
      const value = config[key];
      const hasItems = typeof value === "object" && Object.keys(value ?? {}).length > 0;
      if (hasItems) holders.set(key, number);
      else if (!isMerged) holders.delete(key);
    }
  }
  return found;
}

function shortened(names: readonly string[]): string {
  return [...names.slice(0, 2), ...(names.length > 2 ? ["…"] : [])].join(", ");
}
