/** A stand-in for the Pulumi CLI, for the tests of the commands that read stacks. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tokenHash, type Origin } from "../../../provider/origin";
import { testToken, type World } from "./world";

/** Without an organization, the name of a stack is that in its URNs. */
export const urnOf = (name: string, stack = "dev") =>
  `urn:pulumi:${stack.replace(/.*\//, "")}::p::compute:index:Instance::${name}`;

/** An instance in the state of a stack. */
export interface HeldInstance {
  name: string;
  id: string;
  /** Whether the state only reads the instance (`get`). */
  external?: boolean;
  /** The URN and the id of its provider. The default provider by default. */
  provider?: string;
  inputs?: object;
  taint?: boolean;
  /** The ids of other instances that its create knew of. */
  known?: string[];
  /** Changes of the recorded origin: service, token kind and token hash. With null, the state has no origin. */
  origin?: Partial<Origin> | null;
}

/** An instance whose create is pending, or another resource. Some are given by their name alone. */
export type PendingCreate = string | { name: string; inputs: object; type?: string };

/** The selected stack, which is none by default, and its configuration as `pulumi config --json` prints it. */
interface Selected {
  config?: Record<string, { value?: string; secret?: boolean }>;
  selected?: string;
}

const commandsFile = "pulumi-commands.txt";

/** Returns the command lines that the CLI has got. */
export function pulumiCommands({ home }: World): string[] {
  return readFileSync(join(home, commandsFile), "utf8").trim().split("\n");
}

/** Writes a CLI that answers for these stacks what the commands ask. Returns the folder for PATH. */
export function fakePulumi(
  { home, service }: World,
  stacks: Record<
    string,
    | {
        held?: HeldInstance[];
        pending?: PendingCreate[];
        /** The ids of its provider resources. */
        providers?: string[];
      }
    | "broken"
  >,
  { config = {}, selected }: Selected = {},
): string {
  const origin = { baseUrl: service.url, tokenKind: "test" };
  const hash = tokenHash({ apiToken: testToken, baseUrl: service.url });
  const type = "compute:index:Instance";
  for (const [stack, state] of Object.entries(stacks)) {
    const deployment =
      state === "broken"
        ? { resources: [{ type, urn: "broken" }] }
        : {
            resources: [
              ...(state.providers ?? []).map((id) => ({
                type: "pulumi:providers:compute",
                urn: urnOf("default", stack),
                id,
              })),
              ...(state.held ?? []).map(({ name, origin: other, known, ...held }) => ({
                type,
                urn: urnOf(name, stack),
                ...held,
                outputs: {
                  __known: known,
                  ...(other !== null && { __origin: { ...origin, tokenHash: hash, ...other } }),
                },
              })),
            ],
            // An interrupted delete counts for no command.
            pending_operations: [...(state.pending ?? []), "deleted"].map((one) => {
              const { name, ...more } =
                typeof one === "string" ? { name: one, inputs: { name: one } } : one;
              return {
                type: name === "deleted" ? "deleting" : "creating",
                resource: { type, urn: urnOf(name, stack), ...more },
              };
            }),
          };
    writeFileSync(join(home, `${stack.replaceAll("/", "_")}.json`), JSON.stringify({ deployment }));
  }
  const names = JSON.stringify(Object.keys(stacks).map((name) => ({ name })));
  const noStack = "echo 'error: no stack selected; please use `pulumi stack select`' >&2; exit 1";
  const answers = {
    version: "echo v3.258.0",
    "stack ls": `echo '${names}'`,
    "stack export": `cat '${home}'/"$(echo "$4" | tr / _)".json`,
    config: selected === undefined ? noStack : `echo '${JSON.stringify(config)}'`,
    "stack --show-name": `echo '${selected}'`,
  };
  const script = Object.entries(answers).map(
    ([words, answer]) => `case "$*" in "${words} "*) ${answer}; exit;; esac`,
  );
  script.unshift("#!/bin/sh", `echo "$*" >> '${join(home, commandsFile)}'`);
  script.push("exit 1");
  const file = join(home, "pulumi");
  writeFileSync(file, `${script.join("\n")}\n`);
  chmodSync(file, 0o700);
  return home;
}
