/**
 * The variables by which a person decides for one run. They win over the configuration and over recorded settings, and nothing saves
 * them. Only Configure asks for them: the commands judge by the settings that every run has.
 */
import { OperationFailed } from "../errors";
import type { Settings } from "./settings";

const names = { deletePolicy: "COMPUTE_DELETE_POLICY", leftovers: "COMPUTE_LEFTOVERS" } as const;

/**
 * Returns what the variables say.
 *
 * @throws OperationFailed if a variable has a value that means nothing
 */
export function wordsForRun(env: NodeJS.ProcessEnv) {
  return {
    deletePolicy: wordIn(env, names.deletePolicy, ["retain", "fail"]),
    leftovers: wordIn(env, names.leftovers, ["warn", "fail"]),
  };
}

/**
 * Returns the settings of a run with these words, the variables from which some of them come, and all such variables that are set,
 * as assignments.
 */
export function decideForRun(settings: Settings, words: ReturnType<typeof wordsForRun>) {
  const { deletePolicy: policy, leftovers } = words;
  const deletePolicy = policy ?? settings.deletePolicy;
  const isDecidedHere = deletePolicy !== settings.deletePolicy;
  // "retain" is for instances that a person has looked at. Nobody has looked at a leftover, so a leftover
  // still stops the create.
  const guardsLeftovers = isDecidedHere && settings.deletePolicy === "fail";
  return {
    settings: {
      ...settings,
      deletePolicy,
      leftovers: leftovers ?? settings.leftovers,
      guardsLeftovers,
    },
    variables: {
      ...(isDecidedHere && { deletePolicy: names.deletePolicy }),
      ...(leftovers && { leftovers: names.leftovers }),
    },
    assignments: [
      policy && `${names.deletePolicy}=${policy}`,
      leftovers && `${names.leftovers}=${leftovers}`,
    ].filter((assignment) => assignment !== undefined),
  };
}

/**
 * Returns the value of a variable. An empty one counts as not set.
 *
 * @throws OperationFailed if it is not one of the words
 */
function wordIn<T extends string>(
  env: NodeJS.ProcessEnv,
  name: string,
  words: readonly T[],
): T | undefined {
  const value = env[name] || undefined;
  const word = words.find((one) => one === value);
  if (value === word) return word;
  const quoted = words.map((one) => `"${one}"`).join(" or ");
  throw new OperationFailed(
    `${name} in the environment must be ${quoted}. Correct or unset it, and run again`,
  );
}
