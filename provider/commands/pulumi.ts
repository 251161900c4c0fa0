/** Asks the Pulumi CLI on PATH: for the configuration of a stack, and for the instances that states hold. */
import { execFile } from "node:child_process";
import * as z from "zod";
import { withoutPasswords } from "../backendUrl";
import { OperationFailed } from "../errors";
import { originKey, originSchema, type Origin } from "../origin";
import { propertyMap, Secret, type PropertyMap } from "../property/value";
import { acceptedKey } from "../resources/instance/state";
import { instanceToken } from "../tokens";

type Said = { ok: true; stdout: string } | { ok: false; missing: boolean; why: string };

/** A slow machine needs seconds for it; one that hangs is not to hang us. */
const patienceMs = 60_000;

export function pulumi(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Said> {
  const { promise, resolve } = Promise.withResolvers<Said>();
  const options = {
    timeout: patienceMs,
    // A state may be of any size.
    maxBuffer: Infinity,
    env: { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" },
  };
  // Without what was asked with it.
  const command = ["pulumi", ...args.slice(0, 2).filter((word) => /^[a-z]+$/.test(word))].join(" ");
  const child = execFile(
    "pulumi",
    [...args, "--non-interactive"],
    options,
    (error, stdout, stderr) => {
      if (!error) return resolve({ ok: true, stdout });
      const missing = error.code === "ENOENT";
      // It repeats the backend's address, password and all.
      const said = withoutPasswords(stderr.trim().split("\n").at(-1) ?? "");
      const why = missing
        ? "there is no pulumi on PATH"
        : error.killed
          ? `\`${command}\` did not end within ${patienceMs / 1000} s`
          : `\`${command}\` failed: ${said.replace(/^error: /, "") || `exit code ${error.code}`}`;
      resolve({ ok: false, missing, why });
    },
  );
  child.stdin?.end();
  return promise;
}

/** What the CLI gave with --json; undefined where it is no JSON. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const configuration = z.record(
  z.string(),
  z.object({ value: z.string().optional(), secret: z.boolean().optional() }),
);

/** What a stack's configuration says of the provider, without the prefix `compute:`. */
export async function readConfig(
  stack: string,
  env: NodeJS.ProcessEnv,
): Promise<{ config: PropertyMap } | { problem: string }> {
  const said = await pulumi(["config", "--json", "--show-secrets", "--stack", stack], env);
  if (!said.ok) return { problem: said.why };
  const parsed = configuration.safeParse(parsedJson(said.stdout));
  if (!parsed.success) {
    return { problem: "the Pulumi CLI gave a configuration that can't be read" };
  }
  const ours = Object.entries(parsed.data).flatMap(([key, { value, secret }]) => {
    const [, setting] = /^compute:(.+)$/.exec(key) ?? [];
    if (setting === undefined || value === undefined) return [];
    return [[setting, secret ? new Secret(value) : value] as const];
  });
  return { config: propertyMap(Object.fromEntries(ours)) };
}

export interface StackState {
  stack: string;
  instances: readonly HeldInstance[];
  /** Instances whose create was under way when the engine ended. */
  pending: readonly PendingCreate[];
}

interface PendingCreate {
  urn: string;
  /** What it was to be called; absent where that is a secret. */
  name?: string;
}

export interface HeldInstance {
  stack: string;
  urn: string;
  id: string;
  /** Where it lives. */
  origin: Origin | undefined;
  /** When it was accepted (ISO 8601), as long as no listing has shown it. */
  acceptedAt: string | undefined;
  /** Only read by the program (`Instance.get`): the stack does not manage it. */
  external: boolean;
}

/** Stacks, but for those that the Pulumi CLI could not give. */
export interface Stacks {
  states: readonly StackState[];
  unread: readonly { stack: string; problem: string }[];
}

const instance = z.object({
  urn: z.string().startsWith("urn:"),
  id: z.string().optional(),
  external: z.boolean().optional(),
  inputs: z.looseObject({ name: z.unknown() }).optional(),
  outputs: z.record(z.string(), z.unknown()).optional(),
});

/** Other providers' resources may be as they like. */
const any = z.looseObject({ type: z.string() });

const exported = z.object({
  deployment: z.object({
    resources: z.array(any).nullish(),
    pending_operations: z.array(z.object({ resource: any, type: z.string() })).nullish(),
  }),
});

/** At once: each is a process of its own. */
const readers = 4;

/**
 * Every stack of the backend, of whatever project.
 *
 * @throws OperationFailed where the backend does not tell which there are.
 */
export async function readAllStates(env: NodeJS.ProcessEnv): Promise<Stacks> {
  const said = await pulumi(["stack", "ls", "--all", "--json", "--fully-qualify-stack-names"], env);
  const stacks = z
    .array(z.object({ name: z.string() }))
    .safeParse(said.ok ? parsedJson(said.stdout) : undefined);
  if (!stacks.success) {
    const why = said.ok ? "the Pulumi CLI gave a list that can't be read" : said.why;
    throw new OperationFailed([
      `the stacks of the backend: ${why}`,
      "→ Log in with `pulumi login`, or set PULUMI_BACKEND_URL.",
    ]);
  }
  const names = stacks.data.map(({ name }) => name);
  const read: Awaited<ReturnType<typeof readState>>[] = [];
  const next = names.entries();
  const work = async () => {
    for (const [at, stack] of next) read[at] = await readState(stack, env);
  };
  await Promise.all(Array.from({ length: readers }, work));
  return {
    states: read.filter((it) => "instances" in it),
    unread: read.filter((it) => "problem" in it),
  };
}

export async function readState(
  stack: string,
  env: NodeJS.ProcessEnv,
): Promise<StackState | { stack: string; problem: string }> {
  const said = await pulumi(["stack", "export", "--stack", stack], env);
  if (!said.ok) return { stack, problem: said.why };
  try {
    const { deployment } = exported.parse(parsedJson(said.stdout));
    const creating = deployment.pending_operations?.filter(({ type }) => type === "creating");
    return {
      stack,
      instances: ours(deployment.resources).flatMap((it) => heldAs(stack, it)),
      pending: ours(creating?.map(({ resource }) => resource)).map(({ urn, inputs }) => ({
        ...{ urn, ...(typeof inputs?.name === "string" ? { name: inputs.name } : {}) },
      })),
    };
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    return { stack, problem: "the Pulumi CLI gave a state that can't be read" };
  }
}

function ours(resources: readonly z.infer<typeof any>[] | null = []): z.infer<typeof instance>[] {
  return (resources ?? [])
    .filter(({ type }) => type === instanceToken)
    .map((resource) => instance.parse(resource));
}

function heldAs(
  stack: string,
  { urn, id, external = false, outputs }: z.infer<typeof instance>,
): HeldInstance[] {
  if (id === undefined) return [];
  const origin = originSchema.safeParse(outputs?.[originKey]).data;
  const accepted = outputs?.[acceptedKey];
  const acceptedAt = typeof accepted === "string" ? accepted : undefined;
  return [{ stack, urn, id, origin, acceptedAt, external }];
}
