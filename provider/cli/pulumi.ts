/** Runs the Pulumi CLI on PATH, to read the configuration of a stack and the instances in the states. */
import { execFile, type ExecFileException } from "node:child_process";
import { promisify } from "node:util";
import * as z from "zod";
import { withoutPasswords } from "../addresses";
import { OperationFailed } from "../errors";
import { acceptedKey } from "../instance/state";
import { originKey, originSchema, type Origin } from "../origin";
import { propertyMap, Secret, type PropertyMap } from "../propertyValue";
import { instanceToken } from "../pulumiNames";
import { oldestEngine } from "../executable";

/** The Pulumi CLI is missing or failed, or its output can't be read. */
export class PulumiError extends OperationFailed {
  override readonly name = "PulumiError";

  constructor(
    readonly problem: string,
    /** The next step. */
    readonly next: string,
    /** Whether there is no `pulumi` on PATH. */
    readonly isMissing = false,
  ) {
    super([problem, `→ ${next}`]);
  }
}

/** When a command of the CLI is killed. On some machines a command needs many seconds. */
const timeoutMs = 60_000;

/**
 * Runs a command of the Pulumi CLI, and returns its stdout.
 *
 * @param next the next step that an error names
 * @throws PulumiError if there is no CLI, or if it fails or does not end in time
 */
export async function runPulumi(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  next: string,
): Promise<string> {
  const running = promisify(execFile)("pulumi", [...args, "--non-interactive"], {
    timeout: timeoutMs,
    // A state may be of any size.
    maxBuffer: Infinity,
    env: { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" },
  });
  running.child.stdin?.end();
  try {
    return (await running).stdout;
  } catch (error) {
    const { code, killed, stderr = "" } = error as ExecFileException & { stderr?: string };
    if (code === "ENOENT") throw new PulumiError("there is no pulumi on PATH", installAdvice, true);
    // The CLI prints the URL of the backend with its password.
    const lastLine = withoutPasswords(stderr.trim().split("\n").at(-1) ?? "");
    const problem = killed
      ? `did not end within ${timeoutMs / 1000} s`
      : `failed: ${lastLine.replace(/^error: /, "") || `exit code ${code}`}`;
    const advice = /passphrase/.test(problem)
      ? passphraseAdvice
      : /PULUMI_ACCESS_TOKEN|log ?in\b/.test(problem)
        ? loginAdvice
        : next;
    throw new PulumiError(`${commandOf(args)} ${problem}`, advice);
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

const loginAdvice = "Log in with `pulumi login`, or set PULUMI_BACKEND_URL.";

const passphraseAdvice =
  "Set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to the passphrase of the stack, which decrypts the settings. Or run this command outside the project's folder and without --stack: it then reads the settings from the environment.";

/** @throws PulumiError if the CLI fails, or if its output is not JSON of this schema. */
async function readJson<T>(
  schema: z.ZodType<T>,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  next = stackAdvice,
): Promise<T> {
  const stdout = await runPulumi(args, env, next);
  try {
    return schema.parse(JSON.parse(stdout));
  } catch (error) {
    if (!(error instanceof z.ZodError || error instanceof SyntaxError)) throw error;
    throw new PulumiError(`the output of ${commandOf(args)} can't be read`, installAdvice);
  }
}

const configSchema = z.record(
  z.string(),
  z.object({ value: z.string().optional(), secret: z.boolean().optional() }),
);

/** The settings of the provider in a stack's configuration. */
export interface StackConfig {
  /** The name with organization and project. Undefined if no stack is used. */
  stack?: string;
  /** The settings without the prefix `compute:`. A setting that the stack encrypts is a `Secret`. */
  config: PropertyMap;
  /** Why no stack is used, as a clause. */
  whyNone?: string;
}

/**
 * Reads the configuration of a stack. Without `stack`, it is the one that is selected in this folder, if any.
 *
 * @throws PulumiError if the CLI can't read the configuration
 */
export async function readConfig(
  stack: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<StackConfig> {
  const stackArgs = stack === undefined ? [] : ["--stack", stack];
  const read = (...moreArgs: string[]) =>
    readJson(configSchema, ["config", "--json", "--open", ...moreArgs, ...stackArgs], env);
  const isProviderSetting = (key: string) => key.startsWith("compute:");
  try {
    let config = await read();
    // Only an encrypted setting of the provider needs the passphrase.
    if (Object.entries(config).some(([key, { secret }]) => isProviderSetting(key) && secret)) {
      config = await read("--show-secrets");
    }
    const settings = Object.entries(config).flatMap(([key, { value, secret }]) =>
      isProviderSetting(key) && value !== undefined
        ? [[key.replace("compute:", ""), secret ? new Secret(value) : value] as const]
        : [],
    );
    const nameArgs = ["stack", "--show-name", "--fully-qualify-stack-names", ...stackArgs];
    const name = (await runPulumi(nameArgs, env, stackAdvice)).trim();
    if (stack !== undefined || env["PULUMI_STACK"]) await requireOwnStack(name, env);
    return { stack: name, config: propertyMap(Object.fromEntries(settings)) };
  } catch (error) {
    if (stack !== undefined || !(error instanceof PulumiError)) throw error;
    const { problem, isMissing } = error;
    if (isMissing) return { config: {}, whyNone: problem };
    if (problem.includes("no Pulumi.yaml project file"))
      return { config: {}, whyNone: "this folder has no Pulumi project" };
    // The CLI says the same if the stack that PULUMI_STACK names does not exist.
    if (problem.includes("no stack selected") && !env["PULUMI_STACK"])
      return { config: {}, whyNone: "no stack is selected" };
    throw error;
  }
}

const stackListSchema = z.array(z.object({ name: z.string() }));

/** @throws PulumiError if the stack belongs to another project: the CLI would take its settings from this folder. */
async function requireOwnStack(name: string, env: NodeJS.ProcessEnv): Promise<void> {
  const args = ["stack", "ls", "--json", "--fully-qualify-stack-names"];
  const stacks = await readJson(stackListSchema, args, env);
  if (stacks.some((it) => it.name === name)) return;
  const problem = `stack ${name} does not belong to the project of this folder, which has its own settings`;
  throw new PulumiError(problem, stackAdvice);
}

/** A resource of a stack. */
export interface Resource {
  stack: string;
  urn: string;
}

/** An instance in the state of a stack. */
export interface StackInstance extends Resource {
  id: string;
  /** The service, token and account of the instance. Undefined if the state does not have them. */
  origin: Origin | undefined;
  /** When the service accepted the create (ISO 8601). Undefined after an import, or if a Read has removed it. */
  acceptedAt: string | undefined;
  /** Whether the program only reads the instance (`Instance.get`), so that the stack does not manage it. */
  external: boolean;
}

/** A create of an instance that was under way when the engine ended, according to a state. */
export interface PendingOperation extends Resource {
  /** Undefined if the name is secret or not set. */
  name: string | undefined;
}

interface StackState {
  stack: string;
  /** The resources of all types. */
  resources: readonly { urn: string; type: string; id?: string | undefined }[];
  instances: readonly StackInstance[];
  pendingOperations: readonly PendingOperation[];
}

/** The states of all stacks of the backend. */
export interface BackendStacks {
  states: readonly StackState[];
  unreadable: readonly { stack: string; problem: string }[];
}

const optionalString = z.string().optional().catch(undefined);

const resourceSchema = z.object({
  type: z.string(),
  urn: z.string().startsWith("urn:"),
  id: z.string().optional(),
  external: z.boolean().default(false),
  // In the export, a secret name is an object. Other resources may have any values here.
  inputs: z.object({ name: optionalString }).optional().catch(undefined),
  outputs: z
    .object({
      [originKey]: originSchema.optional().catch(undefined),
      [acceptedKey]: optionalString,
    })
    .optional()
    .catch(undefined),
});

const exportSchema = z.object({
  deployment: z.object({
    resources: z.array(resourceSchema).nullish(),
    pending_operations: z.array(z.object({ resource: resourceSchema, type: z.string() })).nullish(),
  }),
});

/** @throws PulumiError if the CLI can't export the state. The export has its secrets encrypted. */
async function readState(stack: string, env: NodeJS.ProcessEnv): Promise<StackState> {
  const { deployment } = await readJson(exportSchema, ["stack", "export", "--stack", stack], env);
  const resources = deployment.resources ?? [];
  const instances = resources.flatMap(({ type, urn, id, external, outputs }) => {
    if (type !== instanceToken || id === undefined) return [];
    const [origin, acceptedAt] = [outputs?.[originKey], outputs?.[acceptedKey]];
    return [{ stack, urn, id, origin, acceptedAt, external }];
  });
  const pendingOperations = (deployment.pending_operations ?? [])
    .filter(({ resource, type }) => type === "creating" && resource.type === instanceToken)
    .map(({ resource: { urn, inputs } }) => ({ stack, urn, name: inputs?.name }));
  return { stack, resources, instances, pendingOperations };
}

/** How many processes of the CLI run at once. */
const concurrentReads = 4;

/** @throws PulumiError if the CLI can't list the stacks of the backend. */
export async function readAllStates(env: NodeJS.ProcessEnv): Promise<BackendStacks> {
  const args = ["stack", "ls", "--all", "--json", "--fully-qualify-stack-names"];
  const stacks = await readJson(stackListSchema, args, env, loginAdvice);
  const readStack = ({ name }: { name: string }) =>
    readState(name, env).catch((error: unknown) => {
      if (!(error instanceof PulumiError)) throw error;
      return { stack: name, problem: error.problem };
    });
  const results: Awaited<ReturnType<typeof readStack>>[] = [];
  for (let start = 0; start < stacks.length; start += concurrentReads) {
    results.push(
      ...(await Promise.all(stacks.slice(start, start + concurrentReads).map(readStack))),
    );
  }
  return {
    states: results.filter((it) => "instances" in it),
    unreadable: results.filter((it) => "problem" in it),
  };
}
