/** Asks the Pulumi CLI on PATH for the configuration of a stack, and for the instances in the states. */
import { execFile, type ExecFileException } from "node:child_process";
import { promisify } from "node:util";
import * as z from "zod";
import { withoutPasswords } from "../backendUrl";
import { OperationFailed } from "../errors";
import { acceptedKey } from "../instance/state";
import { originKey, originSchema, type Origin } from "../origin";
import { propertyMap, Secret, type PropertyMap } from "../propertyValue";
import { instanceToken } from "../pulumiNames";
import { oldestEngine } from "../executable";

/** The Pulumi CLI failed, or gave something that can't be read; with the next step. */
export class PulumiError extends OperationFailed {
  override readonly name = "PulumiError";
  readonly problem: string;
  readonly next: string;
  /** There is no `pulumi` on PATH. */
  readonly isMissing: boolean;

  constructor(problem: string, next: string, isMissing: boolean) {
    super([problem, `→ ${next}`]);
    this.problem = problem;
    this.next = next;
    this.isMissing = isMissing;
  }
}

/** Some machines need seconds for one command of the CLI. */
const timeoutMs = 60_000;

/**
 * Runs a command of the Pulumi CLI, and gives its stdout. `next` is what to do where the command fails.
 *
 * @throws PulumiError with the last line that the CLI printed to stderr.
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
    // The CLI repeats the address of the backend, with its password.
    const lastLine = withoutPasswords(stderr.trim().split("\n").at(-1) ?? "");
    const problem = killed
      ? `did not end within ${timeoutMs / 1000} s`
      : `failed: ${lastLine.replace(/^error: /, "") || `exit code ${code}`}`;
    // The names of the command only: `pulumi stack export`, `pulumi version`.
    const names = args.slice(0, 2).filter((word) => /^[a-z]+$/.test(word));
    throw new PulumiError(`\`${["pulumi", ...names].join(" ")}\` ${problem}`, next, false);
  }
}

/** The next step where there is no CLI, or an old one. */
export const installAdvice = `Install Pulumi ${oldestEngine} or later: https://www.pulumi.com/docs/install/`;

const stackAdvice =
  "Run it in the folder of the Pulumi project; `pulumi stack ls` lists its stacks.";

/** @throws PulumiError where the CLI fails, or gives no JSON of this schema. */
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
    const command = `pulumi ${args.slice(0, 2).join(" ")}`;
    throw new PulumiError(`the output of \`${command}\` can't be read`, installAdvice, false);
  }
}

const configSchema = z.record(
  z.string(),
  z.object({ value: z.string().optional(), secret: z.boolean().optional() }),
);

/**
 * The settings of the provider in a stack's configuration, without the prefix `compute:`.
 *
 * @throws PulumiError where the CLI can't read them.
 */
export async function readConfig(stack: string, env: NodeJS.ProcessEnv): Promise<PropertyMap> {
  const args = ["config", "--json", "--show-secrets", "--stack", stack];
  const config = await readJson(configSchema, args, env);
  const settings = Object.entries(config).flatMap(([key, { value, secret }]) => {
    const [, name] = /^compute:(.+)$/.exec(key) ?? [];
    if (name === undefined || value === undefined) return [];
    return [[name, secret ? new Secret(value) : value] as const];
  });
  return propertyMap(Object.fromEntries(settings));
}

/** An instance in the state of a stack. */
export interface StackInstance {
  stack: string;
  urn: string;
  id: string;
  origin: Origin | undefined;
  /** When the service accepted it (ISO 8601), as long as no listing has shown it. */
  acceptedAt: string | undefined;
  /** The program only reads it (`Instance.get`): the stack does not manage it. */
  external: boolean;
}

/** The instances of one stack. */
interface StackState {
  stack: string;
  instances: readonly StackInstance[];
  /** Creates that were under way when the engine ended; without a name where that is a secret. */
  pending: readonly { urn: string; name: string | undefined }[];
}

/** All stacks of the backend. */
export interface BackendStacks {
  states: readonly StackState[];
  /** The stacks that could not be read. */
  unread: readonly { stack: string; problem: string }[];
}

const text = z.string().optional().catch(undefined);

/** An instance, or a resource of another kind, which may have any form. */
const resourceSchema = z.union([
  z.object({
    type: z.literal(instanceToken),
    urn: z.string().startsWith("urn:"),
    id: z.string().optional(),
    external: z.boolean().default(false),
    // A secret name is an object.
    inputs: z.object({ name: text }).optional(),
    outputs: z
      .object({ [originKey]: originSchema.optional().catch(undefined), [acceptedKey]: text })
      .optional(),
  }),
  z.object({ type: z.string().refine((type) => type !== instanceToken) }),
]);

const exportSchema = z.object({
  deployment: z.object({
    resources: z.array(resourceSchema).nullish(),
    pending_operations: z.array(z.object({ resource: resourceSchema, type: z.string() })).nullish(),
  }),
});

/**
 * Reads the instances in the state of a stack. The CLI exports the state without its secrets.
 *
 * @throws PulumiError where the CLI can't read the stack.
 */
export async function readState(stack: string, env: NodeJS.ProcessEnv): Promise<StackState> {
  const { deployment } = await readJson(exportSchema, ["stack", "export", "--stack", stack], env);
  const instances = (deployment.resources ?? []).flatMap((resource) => {
    if (!("urn" in resource) || resource.id === undefined) return [];
    const { urn, id, external, outputs } = resource;
    const [origin, acceptedAt] = [outputs?.[originKey], outputs?.[acceptedKey]];
    return [{ stack, urn, id, origin, acceptedAt, external }];
  });
  const pending = (deployment.pending_operations ?? []).flatMap(({ resource, type }) =>
    "urn" in resource && type === "creating"
      ? [{ urn: resource.urn, name: resource.inputs?.name }]
      : [],
  );
  return { stack, instances, pending };
}

/** How many processes of the CLI run at a time. */
const concurrentReads = 4;

/**
 * Reads every stack of the backend, in all projects.
 *
 * @throws PulumiError where the CLI can't list the stacks.
 */
export async function readAllStates(env: NodeJS.ProcessEnv): Promise<BackendStacks> {
  const args = ["stack", "ls", "--all", "--json", "--fully-qualify-stack-names"];
  const login = "Log in with `pulumi login`, or set PULUMI_BACKEND_URL.";
  const stacks = await readJson(z.array(z.object({ name: z.string() })), args, env, login);
  const read = ({ name }: { name: string }) =>
    readState(name, env).catch((error: unknown) => {
      if (!(error instanceof PulumiError)) throw error;
      return { stack: name, problem: error.problem };
    });
  const results: Awaited<ReturnType<typeof read>>[] = [];
  for (let n = 0; n < stacks.length; n += concurrentReads) {
    results.push(...(await Promise.all(stacks.slice(n, n + concurrentReads).map(read))));
  }
  return {
    states: results.filter((it) => "instances" in it),
    unread: results.filter((it) => "problem" in it),
  };
}
