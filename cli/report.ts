/** What `audit` finds. Its text, its JSON and its exit code come from one table: `sections`. */
import { ownCommand, withDependents } from "../provider/advice";
import { settleAdvice } from "./creates";
import { count, type Terminal } from "./terminal";

/** The name of a resource: its stack, and its URN. */
interface ResourceName {
  stack: string;
  urn: string;
}

/** An instance that the service lists. */
interface InstanceLine {
  id: string;
  name: string;
  status: string;
}

/** With the resources that manage it. */
interface ManagedInstance extends InstanceLine {
  resources: readonly ResourceName[];
}

/** One that no stack manages. */
interface UnmanagedInstance extends InstanceLine {
  baseUrl: string;
  tokenKind: string;
  ipv4: string | undefined;
  /** What may have made the instance, and how it gets into a stack. */
  note: string | undefined;
  /** The URN of the create in doubt that may have made the instance. */
  createInDoubt: string | undefined;
}

/** An instance in a state. */
interface HeldInstance extends ResourceName {
  id: string;
}

/** An instance in a state that is gone. */
interface GoneInstance extends HeldInstance {
  /** How it gets out of the state, if a refresh does not drop it. */
  note: string | undefined;
}

/** An instance in a state that no listing shows, and why the listings say nothing about it. */
interface NotCompared extends HeldInstance {
  why: string;
}

/** A create that has made, or may have made, an instance that no state has. */
export interface CreateInDoubt {
  urn: string;
  name: string | undefined;
  /** The stack whose state calls it pending. */
  stack: string | undefined;
  /** When it began (ISO 8601). Undefined if this machine's ledger does not have it. */
  at: string | undefined;
  id: string | undefined;
  /** The instance that the state has for the resource. */
  heldId: string | undefined;
}

/** Something that could not be decided: an instance, a stack or a service. */
interface Doubt {
  what: string;
  why: string;
}

interface FindingOf {
  inNoStack: UnmanagedInstance;
  explained: UnmanagedInstance;
  gone: GoneInstance;
  inSeveral: ManagedInstance;
  createsInDoubt: CreateInDoubt;
  undecided: Doubt;
  notCompared: NotCompared;
}

type Kind = keyof FindingOf;

/** What `audit` finds, by kind. */
export type Findings = { [K in Kind]: FindingOf[K][] };

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
  title: (found: readonly Finding[]) => string;
  row: (finding: Finding) => readonly (string | undefined)[];
  /** The reason for a finding, if others may have the same. It is printed once for all of them. */
  why?: (finding: Finding) => string;
  next: (found: readonly Finding[], options: AdviceOptions) => string;
}

const instanceRow = ({ id, name, status }: InstanceLine) => [id, `"${name}"`, status];

const unmanagedRow = (instance: UnmanagedInstance) => [
  ...instanceRow(instance),
  instance.ipv4,
  instance.note,
];

/** The instances of a live token are billed. */
const unmanagedTitle = (title: string) => (found: readonly UnmanagedInstance[]) =>
  found.some(({ tokenKind }) => tokenKind === "live")
    ? `${title} (those of a live token are billed)`
    : title;

/** In the order in which they are printed. The JSON has a list for each, under this name. */
const sections: { [K in Kind]: Section<FindingOf[K]> } = {
  inNoStack: {
    result: "found",
    title: unmanagedTitle("In no stack"),
    row: unmanagedRow,
    next: (_, { stack: [stack, ...others] = [], plan, given }) => {
      const stackWords = stack === undefined ? [] : ["--stack", others[0] ? "<name>" : stack];
      return plan === undefined
        ? `Take them over (\`${ownCommand("audit", "--plan", "FILE", ...stackWords, ...given)}\`), or remove them at the service (its portal).`
        : "Take them over with the plan, or remove them at the service (its portal).";
    },
  },
  explained: {
    result: "found",
    title: unmanagedTitle("In no stack, but explained by a create in doubt"),
    row: unmanagedRow,
    next: () =>
      "Do what the line of each says, or remove the instance at the service (its portal) if no resource is to have it.",
  },
  gone: {
    result: "found",
    title: () => "In a stack but gone",
    row: ({ id, stack, urn, note }) => [id, stack, urn, note],
    next: (found) => {
      const kept = found.filter(({ note }) => note !== undefined).length;
      const renew = "The next `pulumi up --stack <stack>` creates new ones.";
      if (kept === found.length) return `Do what the line of each says. ${renew}`;
      const start = kept > 0 ? "First do what the lines with a command say. Then " : "";
      return `${start}\`pulumi refresh --stack <stack>\` drops ${kept > 0 ? "the others" : "them"} from the state. ${renew}`;
    },
  },
  inSeveral: {
    result: "found",
    title: () => "Managed by more than one resource",
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
    title: () => "Creates in doubt",
    row: ({ urn, name, at, id, stack, heldId }) => [
      urn,
      name && `"${name}"`,
      at && `started ${at}`,
      id,
      stack && `pending in ${stack}`,
      heldId && `its resource has instance ${heldId}`,
    ],
    next: (found) => {
      const [stack, ...others] = new Set(found.map((create) => create.stack));
      return `For each stack: ${settleAdvice(others.length > 0 ? "<stack>" : stack)}.`;
    },
  },
  undecided: {
    result: "undecided",
    title: () => "Not decided",
    row: ({ what }) => [what],
    why: ({ why }) => why,
    next: () =>
      "Run `audit` again when no run is under way. If that does not decide it, mend the cause that the line names.",
  },
  notCompared: {
    result: "ok",
    title: () => "Not compared",
    row: ({ id, stack }) => [id, stack],
    why: ({ why }) => why,
    next: () =>
      "Run `audit` with their base URL and token. `--stack NAME`, once for each stack of this folder's project, takes what the stack's configuration has, and the rest from the environment. For a provider that the program makes, give --base-url and COMPUTE_API_TOKEN.",
  },
};

const kinds = Object.keys(sections) as Kind[];

/** Returns empty lists. */
export function noFindings(): Findings {
  return {
    inNoStack: [],
    explained: [],
    gone: [],
    inSeveral: [],
    createsInDoubt: [],
    undecided: [],
    notCompared: [],
  };
}

/** Adds a doubt, unless it is there: several settings may have one service. */
export function addDoubt({ undecided }: Findings, what: string, why: string): void {
  if (!undecided.some((doubt) => doubt.what === what && doubt.why === why))
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
  const results = kinds
    .filter((kind) => findings[kind].length > 0)
    .map((kind) => sections[kind].result);
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
    const place = `${baseUrl} (${tokenKind} token; settings from ${settings})`;
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
  const section: Section<FindingOf[K]> = sections[kind];
  const found: readonly FindingOf[K][] = findings[kind];
  if (found.length === 0) return [];
  return [
    "",
    `${section.title(found)} (${found.length}):`,
    ...rowsOf(found, section),
    `  → ${section.next(found, options)}`,
  ];
}

/** Returns the rows of a section, those with the same reason below it. */
function rowsOf<Finding>(found: readonly Finding[], { row, why }: Section<Finding>): string[] {
  const textOf = (finding: Finding) => row(finding).filter(Boolean).join("  ");
  if (!why) return found.map((finding) => `  ${textOf(finding)}`);
  return [...Map.groupBy(found, why)].flatMap(([reason, same]) =>
    same.length === 1
      ? same.map((finding) => `  ${textOf(finding)}: ${reason}`)
      : [`  ${reason}:`, ...same.map((finding) => `    ${textOf(finding)}`)],
  );
}
