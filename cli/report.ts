/** What `audit` finds. Its text, its JSON and its exit code come from one table: `sections`. */
import { ownCommand, withDependents } from "../provider/advice";
import { settleAdvice } from "./records";
import { count, type Terminal } from "./terminal";

/** A resource of a stack. */
interface StackResource {
  stack: string;
  urn: string;
}

/** An instance that the service lists. */
interface InstanceLine {
  id: string;
  name: string;
  status: string;
}

/** An instance that the service lists, with the resources that manage it. */
interface ManagedInstance extends InstanceLine {
  resources: readonly StackResource[];
}

/** An instance that no stack manages. */
interface UnmanagedInstance extends InstanceLine {
  baseUrl: string;
  tokenKind: string;
  ipv4: string | undefined;
  note: string | undefined;
  /** The URN of the create in doubt that may have made the instance. */
  createInDoubt: string | undefined;
}

/** An instance in a state. `why`: why the listings say nothing about it. */
interface HeldInstance extends StackResource {
  id: string;
  why?: string;
}

/** What `audit` finds, by kind. */
export interface Findings {
  inNoStack: UnmanagedInstance[];
  explained: UnmanagedInstance[];
  gone: HeldInstance[];
  inSeveral: ManagedInstance[];
  /** The number of creates for each stack. Its name is undefined if it can't be told. */
  createsInDoubt: { stack: string | undefined; creates: number }[];
  /** The instances, stacks and services of which something could not be decided. */
  undecided: { what: string; why: string }[];
  notCompared: HeldInstance[];
}

/** The options that change the printed advice. */
interface AdviceOptions {
  stack?: readonly string[];
  plan?: string;
  /** The words of the options for settings. */
  given: readonly string[];
}

/** A kind of finding. The row of a finding leaves out what is undefined or empty. */
interface Section<Finding> {
  /** What the exit code says of a finding of this kind. */
  result: "found" | "undecided" | "ok";
  title: string;
  row: (finding: Finding) => readonly (string | undefined)[];
  /** The reason for a finding, if others may have the same. It is printed once for all of them. */
  why?: (finding: Finding) => string | undefined;
  next?: (options: AdviceOptions) => string | undefined;
}

const instanceRow = ({ id, name, status }: InstanceLine) => [id, `"${name}"`, status];

/** In the order in which they are printed. The JSON has a list for each, under this name. */
const sections: { [K in keyof Findings]: Section<Findings[K][number]> } = {
  inNoStack: {
    result: "found",
    title: "In no stack",
    row: (instance) => [...instanceRow(instance), instance.ipv4, instance.note],
    next: ({ stack: [stack, ...others] = [], plan, given }) => {
      if (plan !== undefined) return undefined;
      const stackWords = stack === undefined ? [] : ["--stack", others[0] ? "<name>" : stack];
      return `Take them over (\`${ownCommand("audit", "--plan", "FILE", ...stackWords, ...given)}\`), or remove them at the service (its portal).`;
    },
  },
  explained: {
    result: "found",
    title: "In no stack, but explained by a create in doubt",
    row: (instance) => [...instanceRow(instance), instance.ipv4, `of ${instance.createInDoubt}`],
    next: () =>
      "Put the creates in doubt right, as said below, or remove an instance at the service (its portal) if no resource is to have it.",
  },
  gone: {
    result: "found",
    title: "In a stack but gone",
    row: ({ id, stack, urn }) => [id, stack, urn],
    next: () =>
      "`pulumi refresh --stack <stack>` drops them from the state. The next `pulumi up --stack <stack>` creates new ones.",
  },
  inSeveral: {
    result: "found",
    title: "Managed by more than one resource",
    row: (instance) => [
      ...instanceRow(instance),
      ...instance.resources.map(({ stack, urn }) => `${stack}: ${urn}`),
    ],
    next: () =>
      "Keep one resource of each instance. Run no `pulumi up` before all of this is done. Take the others out of their programs, and then out of their states: `pulumi state delete <urn> --force --stack <stack>` (--force, because an import protects the resource; " +
      `${withDependents}).`,
  },
  createsInDoubt: {
    result: "found",
    title: "Creates in doubt",
    row: ({ stack, creates }) => [
      `${count(creates, "create")} of ${stack ?? "a stack that is not known"}: ${settleAdvice(stack)}`,
    ],
  },
  undecided: {
    result: "undecided",
    title: "Not decided",
    row: ({ what }) => [what],
    why: ({ why }) => why,
    next: () =>
      "Run `audit` again when no run is under way. If that does not decide it, mend the cause that the line names.",
  },
  notCompared: {
    result: "ok",
    title: "Not compared",
    row: ({ stack }) => [stack],
    why: ({ why }) => why,
    next: () =>
      "Run `audit` with their base URL and token. `--stack NAME`, once for each stack of this folder's project, takes what the stack's configuration has, and the rest from the environment. For a provider that the program makes, give --base-url and COMPUTE_API_TOKEN.",
  },
};

type Kind = keyof Findings;
const kinds = Object.keys(sections) as Kind[];

/** Returns empty lists. */
export function noFindings(): Findings {
  return Object.fromEntries(kinds.map((kind) => [kind, []])) as unknown as Findings;
}

/** Adds something undecided, unless it is there: several settings may have one service. */
export function addUndecided({ undecided }: Findings, what: string, why: string): void {
  if (!undecided.some((known) => known.what === what && known.why === why))
    undecided.push({ what, why });
}

/** What `audit` has compared. */
export interface Summary {
  services: readonly {
    baseUrl: string;
    tokenKind: string;
    account: string | undefined;
    /** Where the settings come from. */
    settings: string;
    /** How many instances the service lists. */
    listed: number;
    complete: boolean;
  }[];
  stacks: { read: number; withInstances: number };
  managed: readonly ManagedInstance[];
}

/** What `audit` says in the end: in its JSON, as its exit code, and as the last line of its text. */
export const outcomes = {
  ok: {
    exitCode: 0,
    verdict:
      "Every listed instance is managed, and every managed instance that could be compared exists.",
  },
  found: { exitCode: 1, verdict: "Something was found: see above." },
  undecided: {
    exitCode: 3,
    verdict: "Nothing was found, but not everything could be decided.",
  },
} as const;

/** Returns the outcome of these findings. */
export function resultOf(findings: Findings): keyof typeof outcomes {
  const found = kinds.filter((kind) => findings[kind].length > 0);
  const results = found.map((kind) => sections[kind].result);
  if (results.includes("found")) return "found";
  return results.includes("undecided") ? "undecided" : "ok";
}

/** Prints the result as text. */
export function printReport(
  { services, stacks, managed }: Summary,
  findings: Findings,
  options: AdviceOptions,
  { print }: Terminal,
): void {
  const printLine = (label: string, value: string) => print(label.padEnd(11) + value);
  for (const { baseUrl, tokenKind, settings, listed, complete } of services) {
    const place = `${baseUrl} (${tokenKind} token; ${settings})`;
    const instances = `${count(listed, "instance")} listed${complete ? "" : ", and there may be more"}`;
    printLine("service", `${place}: ${instances}`);
  }
  printLine("stacks", `${stacks.read} read, ${stacks.withInstances} with instances`);
  printLine("managed", count(managed.length, "instance"));
  for (const kind of kinds) sectionLines(kind, findings, options).forEach(print);
  print("");
}

function sectionLines<K extends Kind>(
  kind: K,
  findings: Findings,
  options: AdviceOptions,
): readonly string[] {
  const section: Section<Findings[K][number]> = sections[kind];
  const found: readonly Findings[K][number][] = findings[kind];
  if (found.length === 0) return [];
  // The instances of a live token are billed.
  const isLive = found.some((one) => "tokenKind" in one && one.tokenKind === "live");
  const billed = isLive ? " (those of a live token are billed)" : "";
  const next = section.next?.(options);
  return [
    "",
    `${section.title}${billed} (${found.length}):`,
    ...rowsOf(found, section),
    ...(next === undefined ? [] : [`  → ${next}`]),
  ];
}

/** Returns the rows of a section. Rows with the same text are one, and several rows with the same reason stand below it. */
function rowsOf<Finding>(found: readonly Finding[], { row, why }: Section<Finding>): string[] {
  const textOf = (finding: Finding) => row(finding).filter(Boolean).join("  ");
  const folded = (some: readonly Finding[]) =>
    [...Map.groupBy(some, textOf)].map(([text, { length }]) =>
      length > 1 ? `${text} (${count(length, "instance")})` : text,
    );
  return [...Map.groupBy(found, (finding) => why?.(finding))].flatMap(([reason, same]) => {
    const [text, ...others] = folded(same);
    if (reason === undefined) return folded(same).map((one) => `  ${one}`);
    if (others.length === 0) return [`  ${text}: ${reason}`];
    return [`  ${reason}:`, ...folded(same).map((one) => `    ${one}`)];
  });
}
