/** Asks the Pulumi CLI on PATH: for the configuration of a stack, and for the instances that states hold. */
import { execFile } from "node:child_process";
import * as z from "zod";
import { withoutPasswords } from "../backendUrl";
import { OperationFailed } from "../errors";
import { originKey, originSchema, type Origin } from "../origin";
import { propertyMap, Secret, type PropertyMap } from "../propertyValue";
import { acceptedKey } from "../instance/state";
import { instanceToken } from "../pulumiNames";

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

/** What the CLI answers in JSON, or why there is none of that form. */
async function ask<T>(
  what: string,
  form: z.ZodType<T>,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ answer: T } | { problem: string }> {
  const said = await pulumi(args, env);
  if (!said.ok) return { problem: said.why };
  try {
    return { answer: form.parse(JSON.parse(said.stdout)) };
  } catch (error) {
    if (!(error instanceof z.ZodError || error instanceof SyntaxError)) throw error;
    return { problem: `the Pulumi CLI gave ${what} that can't be read` };
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
  const args = ["config", "--json", "--show-secrets", "--stack", stack];
  const read = await ask("a configuration", configuration, args, env);
  if ("problem" in read) return read;
  const ours = Object.entries(read.answer).flatMap(([key, { value, secret }]) => {
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

const text = z.string().optional().catch(undefined);

const instance = z.object({
  urn: z.string().startsWith("urn:"),
  id: z.string().optional(),
  external: z.boolean().default(false),
  // A secret name is no text.
  inputs: z.object({ name: text }).optional(),
  outputs: z
    .object({ [originKey]: originSchema.optional().catch(undefined), [acceptedKey]: text })
    .optional(),
});

/** Other providers' resources may be as they like. */
const any = z.looseObject({ type: z.string() });

const ours = z
  .array(any)
  .transform((all): unknown[] => all.filter(({ type }) => type === instanceToken))
  .pipe(z.array(instance));

const creating = z
  .array(z.object({ resource: any, type: z.string() }))
  .transform((all): unknown[] =>
    all.filter(({ type }) => type === "creating").map(({ resource }) => resource),
  )
  .pipe(ours);

const exported = z.object({
  deployment: z.object({ resources: ours.nullish(), pending_operations: creating.nullish() }),
});

const list = z.array(z.object({ name: z.string() }));

/** At once: each is a process of its own. */
const readers = 4;

/**
 * Every stack of the backend, of whatever project.
 *
 * @throws OperationFailed where the backend does not tell which there are.
 */
export async function readAllStates(env: NodeJS.ProcessEnv): Promise<Stacks> {
  const args = ["stack", "ls", "--all", "--json", "--fully-qualify-stack-names"];
  const listed = await ask("a list", list, args, env);
  if ("problem" in listed) {
    throw new OperationFailed([
      `the stacks of the backend: ${listed.problem}`,
      "→ Log in with `pulumi login`, or set PULUMI_BACKEND_URL.",
    ]);
  }
  const read: Awaited<ReturnType<typeof readState>>[] = [];
  const next = listed.answer.entries();
  const work = async () => {
    for (const [at, { name }] of next) read[at] = await readState(name, env);
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
  const read = await ask("a state", exported, ["stack", "export", "--stack", stack], env);
  if ("problem" in read) return { stack, problem: read.problem };
  const { resources, pending_operations: pending } = read.answer.deployment;
  return {
    stack,
    instances: (resources ?? []).flatMap(({ urn, id, external, outputs }) => {
      if (id === undefined) return [];
      const origin = outputs?.[originKey];
      return [{ stack, urn, id, origin, acceptedAt: outputs?.[acceptedKey], external }];
    }),
    pending: (pending ?? []).map(({ urn, inputs }) => ({
      ...{ urn, ...(inputs?.name === undefined ? {} : { name: inputs.name }) },
    })),
  };
}
