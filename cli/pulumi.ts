/** Runs the Pulumi CLI on PATH: reads the configuration of a stack and the states and, for `settle`, writes a state. */
import { execFile, type ExecFileException } from "node:child_process";
import { promisify } from "node:util";
import * as z from "zod";
import { withoutPasswordsInText } from "../provider/addresses";
import { oldestEngine } from "../provider/executable";
import { propertyMap, Secret, type PropertyMap } from "../provider/propertyValue";
import { instanceToken } from "../provider/pulumiNames";
import { requestedBy, exportSchema, instanceIn, type StateResource } from "./settle/exported";
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
export async function runPulumi(
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

const stackAdvice =
  "Run this command in the folder of the Pulumi project. `pulumi stack ls` lists the stacks of the project.";

const loginAdvice =
  "Log in with `pulumi login` (and the URL of the state backend, unless it is Pulumi Cloud), or set PULUMI_BACKEND_URL.";

const passphraseAdvice =
  "Set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to the passphrase of the stack, and run this again. At a terminal: `read -rs PULUMI_CONFIG_PASSPHRASE && export PULUMI_CONFIG_PASSPHRASE`";

const slowAdvice = "Nothing was changed. Run this again once the state backend answers.";

const lockedAdvice =
  "Wait until the run that has locked the stack has ended. If that run is surely gone, `pulumi cancel` removes its lock.";

/** By what a failure says: its next step. */
const causes = [
  [/passphrase/, passphraseAdvice],
  [/^did not end/, slowAdvice],
  [/PULUMI_ACCESS_TOKEN|log ?in\b|unable to open bucket/, loginAdvice],
  [/currently locked|update is (currently|already) in progress/, lockedAdvice],
] as const;

/** @throws Problem if the CLI fails, or if its output is not JSON of this schema. */
async function readJson<T>(schema: z.ZodType<T>, args: string[], env: Env, next = stackAdvice) {
  const stdout = await runPulumi(args, env, next);
  try {
    return schema.parse(JSON.parse(stdout));
  } catch (error) {
    if (!(error instanceof z.ZodError || error instanceof SyntaxError)) throw error;
    throw new Problem(`the output of ${commandOf(args)} can't be read`, installAdvice);
  }
}

const configSchema = z.record(
  z.string(),
  z.object({ value: z.string().optional(), secret: z.boolean().optional() }),
);

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
    const config = Object.entries(await readJson(configSchema, args, env));
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
    if (stackOption !== undefined || env["PULUMI_STACK"]) await requireOwnStack(stack, env);
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

/** @throws Problem if the stack is of another project, since the CLI would read this folder's settings for it */
async function requireOwnStack(name: string, env: Env): Promise<void> {
  const args = ["stack", "ls", "--json", "--fully-qualify-stack-names"];
  const stacks = await readJson(stackListSchema, args, env);
  if (stacks.some((stack) => stack.name === name)) return;
  const problem = `stack ${name} does not belong to the project of this folder, which has its own settings`;
  throw new Problem(problem, stackAdvice);
}

/**
 * A resource in the state of a stack, with its origin, the input `name` unless it is secret, the URN of its provider if the
 * program makes that itself, and the id of its provider (`scope`).
 */
export type Resource = ReturnType<typeof resourceOf>;

function resourceOf(resource: StateResource, stack: string) {
  const { urn, type, id, external, inputs } = resource;
  const { origin, acceptedAt } = instanceIn(resource);
  const {
    name,
    isGenerated: hasGeneratedName,
    scope,
    explicitProvider: provider,
  } = requestedBy(resource);
  // In the export, a secret is an object.
  const isNameSecret = name === undefined && "name" in inputs;
  const held = { stack, urn, type, id, external, origin, acceptedAt };
  return { ...held, name, isNameSecret, hasGeneratedName, provider, scope };
}

/** Whether the resource is an instance, also one that the program only reads. */
export function isInstance({ type, id }: Resource): boolean {
  return type === instanceToken && id !== "";
}

/** The state of a stack. */
export interface StackState {
  stack: string;
  /** Why the state can't be read, in which case the lists are empty. */
  problem?: string;
  /** The resources of all types. */
  resources: readonly Resource[];
  /** The instances whose creates were under way when an engine ended. */
  pending: readonly Resource[];
}

/** Reads the state with its secrets encrypted. */
export async function readState(stack: string, env: Env): Promise<StackState> {
  const args = ["stack", "export", "--stack", stack];
  const exported = await readJson(exportSchema, args, env).catch(asProblem);
  if (exported instanceof Problem)
    return { stack, problem: exported.found, resources: [], pending: [] };
  const creates = exported.pending.filter(({ instance }) => instance !== undefined);
  return {
    stack,
    resources: exported.resources.map((resource) => resourceOf(resource, stack)),
    pending: creates.map(({ resource }) => resourceOf(resource, stack)),
  };
}

/**
 * Returns the export of a stack's state, with its secrets encrypted.
 *
 * @throws Problem if the CLI can't read it
 */
export function exportState(stack: string, env: Env): Promise<string> {
  return runPulumi(["stack", "export", "--stack", stack], env, stackAdvice);
}

/**
 * Gives the stack this state, without its pending operations.
 *
 * @throws Problem if the CLI refuses it, as when the stack is locked
 */
export async function importState(stack: string, state: string, env: Env): Promise<void> {
  const next = "Nothing was changed. Run the command again.";
  await runPulumi(["stack", "import", "--stack", stack], env, next, state);
}

/** How many processes of the CLI run at once. */
const concurrentReads = 4;

/**
 * Reads the states of all stacks of the backend.
 *
 * @throws Problem if the CLI can't list the stacks.
 */
export async function readAllStates(env: Env): Promise<StackState[]> {
  const args = ["stack", "ls", "--all", "--json", "--fully-qualify-stack-names"];
  const stacks = await readJson(stackListSchema, args, env, loginAdvice);
  const states: StackState[] = [];
  for (let start = 0; start < stacks.length; start += concurrentReads) {
    const some = stacks.slice(start, start + concurrentReads);
    states.push(...(await Promise.all(some.map(({ name }) => readState(name, env)))));
  }
  return states;
}
