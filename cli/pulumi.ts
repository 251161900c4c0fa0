/** Runs the Pulumi CLI on PATH: reads the configuration of a stack and the states and, for `settle`, writes a state. */
import { execFile, type ExecFileException } from "node:child_process";
import { promisify } from "node:util";
import * as z from "zod";
import { withoutPasswordsInText } from "../provider/addresses";
import { oldestEngine } from "../provider/process/executable";
import { propertyMap, Secret, type PropertyMap } from "../provider/pulumi/propertyValue";
import { parseState, type StackState } from "./state";
import { asProblem, Problem } from "./terminal";

type Env = NodeJS.ProcessEnv;

/** The problem if there is no CLI. */
export const noPulumi = "there is no pulumi on PATH";

/** When a command of the CLI that only reads is killed. On some machines a command needs many seconds. */
const timeoutMs = 60_000;

/**
 * Runs a command of the Pulumi CLI, and returns its stdout. One that gets an `input` may write, and so may take any time.
 *
 * @param next the next step that an error names
 * @throws Problem if there is no CLI, or if it fails or does not end in time
 */
async function runPulumi(
  args: readonly string[],
  env: Env,
  next: string,
  input?: string,
): Promise<string> {
  const running = promisify(execFile)("pulumi", [...args, "--non-interactive"], {
    timeout: input === undefined ? timeoutMs : 0,
    // A state may be of any size.
    maxBuffer: Infinity,
    env: { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" },
  });
  // The CLI may end before it has read all, and then says why.
  running.child.stdin?.on("error", () => undefined).end(input);
  try {
    return (await running).stdout;
  } catch (error) {
    const { code, killed, stderr = "" } = error as ExecFileException & { stderr?: string };
    if (code === "ENOENT") throw new Problem(noPulumi, installAdvice);
    // The CLI prints the URL of the backend with its password.
    const lines = withoutPasswordsInText(stderr.trim()).split("\n");
    const line = lines.findLast((one) => one.startsWith("error: ")) ?? lines.at(-1) ?? "";
    const problem = killed
      ? `did not end within ${timeoutMs / 1000} s`
      : `failed: ${line.replace(/^error: /, "") || `exit code ${code}`}`;
    const [, advice = next] = causes.find(([cause]) => cause.test(problem)) ?? [];
    throw new Problem(`${commandOf(args)} ${problem}`, advice);
  }
}

/** The command for messages: its words (`pulumi stack export`), but no options or values. */
function commandOf(args: readonly string[]): string {
  const words = args.slice(0, 2).filter((word) => !word.startsWith("-"));
  return `\`${["pulumi", ...words].join(" ")}\``;
}

/** The next step if the CLI is missing or too old. */
export const installAdvice = `Install Pulumi ${oldestEngine} or later: https://www.pulumi.com/docs/install/`;

/** @throws Problem if there is no CLI */
export async function engineVersion(env: Env): Promise<string> {
  return (await runPulumi(["version"], env, installAdvice)).trim().replace(/^v/, "");
}

const stackAdvice =
  "Run this command in the folder of the Pulumi project. `pulumi stack ls` lists the stacks of the project.";

const loginAdvice =
  "Log in with `pulumi login` (and the URL of the state backend, unless it is Pulumi Cloud), or set PULUMI_BACKEND_URL.";

const passphraseAdvice =
  "Set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to the passphrase of the stack, and run this again. At a terminal: `read -rs PULUMI_CONFIG_PASSPHRASE && export PULUMI_CONFIG_PASSPHRASE`";

const slowAdvice = "Nothing was changed. Run this again once the state backend answers.";

const lockedAdvice =
  "Wait until the run that has locked the stack has ended. If that run is surely gone, `pulumi cancel --yes` removes its lock.";

const brokenFileAdvice = "Correct that file, and run this again.";

/** A file backend writes this file with each state, and a kill can cut it. */
const brokenStateAdvice =
  "In a file backend, a killed run can leave an empty file beside the state, whose name ends in .json.attrs: remove that file, and run this again.";

/** By what a failure says: its next step. */
const causes = [
  [/passphrase/, passphraseAdvice],
  [/^did not end/, slowAdvice],
  [/PULUMI_ACCESS_TOKEN|log ?in\b|unable to open bucket/, loginAdvice],
  [/could not (unmarshal|validate) '/, brokenFileAdvice],
  [/failed to load checkpoint/, brokenStateAdvice],
  [/currently locked|update is (currently|already) in progress/, lockedAdvice],
] as const;

/** @throws Problem if the CLI fails, or if `parse` can't read its output */
async function readOutput<T>(
  parse: (stdout: string) => T,
  args: readonly string[],
  env: Env,
  next = stackAdvice,
): Promise<T> {
  const stdout = await runPulumi(args, env, next);
  try {
    return parse(stdout);
  } catch (error) {
    if (!(error instanceof z.ZodError || error instanceof SyntaxError)) throw error;
    throw new Problem(
      `the output of ${commandOf(args)} can't be read`,
      "Update the plugin and Pulumi.",
    );
  }
}

const configSchema = z.record(
  z.string(),
  z.object({ value: z.string().optional(), secret: z.boolean().optional() }),
);
const parseConfig = (stdout: string) => configSchema.parse(JSON.parse(stdout));

/** The settings of a stack. */
export interface StackConfig {
  /** The name with organization and project. Undefined if no stack is used. */
  stack?: string;
  config: PropertyMap;
  /** Why no stack is used. */
  whyNone?: string;
}

/**
 * Reads the provider's settings from the configuration of a stack. Without `stackOption`, it is that of PULUMI_STACK, or else
 * the selected one.
 *
 * @throws Problem if the CLI can't read the configuration
 */
export async function readConfig(stackOption: string | undefined, env: Env): Promise<StackConfig> {
  const stackArgs = stackOption === undefined ? [] : ["--stack", stackOption];
  const read = async (...moreArgs: string[]) => {
    const args = ["config", "--json", "--open", ...moreArgs, ...stackArgs];
    const config = Object.entries(await readOutput(parseConfig, args, env));
    return config.filter(([key]) => key.startsWith("compute:"));
  };
  try {
    let config = await read();
    // To decrypt needs the passphrase, so it is done only for a setting of the provider.
    if (config.some(([, { secret }]) => secret)) config = await read("--show-secrets");
    const settings = config.map(([key, { value, secret }]) => {
      const setting = secret && value !== undefined ? new Secret(value) : value;
      return [key.replace("compute:", ""), setting] as const;
    });
    const nameArgs = ["stack", "--show-name", "--fully-qualify-stack-names", ...stackArgs];
    const stack = (await runPulumi(nameArgs, env, stackAdvice)).trim();
    if (stackOption !== undefined || env["PULUMI_STACK"]) await requireStackOfProject(stack, env);
    return { stack, config: propertyMap(Object.fromEntries(settings)) };
  } catch (error) {
    const { found } = asProblem(error);
    if (stackOption !== undefined) throw error;
    if (found === noPulumi) return { config: {}, whyNone: noPulumi };
    if (found.includes("no Pulumi.yaml project file"))
      return { config: {}, whyNone: "this folder has no Pulumi project" };
    if (!found.includes("no stack selected")) throw error;
    // The CLI says the same in both cases.
    if (env["PULUMI_STACK"])
      throw new Problem("this project has no stack of the name in PULUMI_STACK", stackAdvice);
    return { config: {}, whyNone: "no stack is selected" };
  }
}

const stackListSchema = z.array(z.object({ name: z.string() }));

/** Returns the names of stacks: those of this folder's project or, with `--all`, of the backend. */
async function listStacks(env: Env, next: string, ...options: string[]): Promise<string[]> {
  const args = ["stack", "ls", "--json", "--fully-qualify-stack-names", ...options];
  const parse = (stdout: string) => stackListSchema.parse(JSON.parse(stdout));
  return (await readOutput(parse, args, env, next)).map(({ name }) => name);
}

/** @throws Problem if the stack is of another project, since the CLI would read this folder's settings for it */
async function requireStackOfProject(name: string, env: Env): Promise<void> {
  if ((await listStacks(env, stackAdvice)).includes(name)) return;
  const problem = `stack ${name} does not belong to the project of this folder, which has its own settings`;
  throw new Problem(problem, stackAdvice);
}

/** Reads the state of a stack, with its secrets encrypted. A state that can't be read has a `problem`. */
export async function readState(stack: string, env: Env): Promise<StackState> {
  const args = ["stack", "export", "--stack", stack];
  const state = await readOutput((text) => parseState(stack, text), args, env).catch(asProblem);
  if (!(state instanceof Problem)) return state;
  return { stack, text: "", problem: state, resources: [], pending: [] };
}

/**
 * Gives the stack this state, without its pending operations.
 *
 * @throws Problem if the CLI refuses it, as when the stack is locked
 */
export async function importState(stack: string, state: string, env: Env): Promise<void> {
  const next = "Run the command again: it looks at the state anew.";
  await runPulumi(["stack", "import", "--stack", stack], env, next, state);
}

/**
 * Makes sure that no run has locked the stack, as far as its backend tells before the state is changed. Backends other than Pulumi
 * Cloud look at their locks before they refuse to make a stack that is there already.
 *
 * @throws Problem if the stack is locked
 */
export async function requireUnlocked(stack: string, env: Env): Promise<void> {
  const refusal = await runPulumi(["stack", "init", stack], env, "").catch(asProblem);
  if (refusal instanceof Problem && refusal.next === lockedAdvice)
    throw new Problem(
      "the stack is currently locked, or was when its run was killed",
      lockedAdvice,
    );
}

/** How many processes of the CLI run at once. */
const concurrentReads = 4;

/**
 * Reads the states of all stacks of the backend, but for those that are known.
 *
 * @throws Problem if the CLI can't list the stacks
 */
export async function readAllStates(env: Env, ...known: StackState[]): Promise<StackState[]> {
  const names = await listStacks(env, loginAdvice, "--all");
  const unknown = names.filter((name) => !known.some(({ stack }) => stack === name));
  const states = [...known];
  for (let start = 0; start < unknown.length; start += concurrentReads) {
    const some = unknown.slice(start, start + concurrentReads);
    states.push(...(await Promise.all(some.map((name) => readState(name, env)))));
  }
  return states;
}
