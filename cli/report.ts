/** What `audit` finds: the kinds of findings (`sections`), how they are printed, and what the command ends with. */
import { inStack, pageAt, stateDeleteCommand } from "../provider/advice";
import { serviceLine, type summaryOf } from "./listings";
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
  /** The name of its resource in the plan, if it is there. */
  plannedAs?: string;
}

/** An instance in a state. `why`: set only if it was not compared. */
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
  /** The number of creates for each stack and kind of token, which are undefined if they can't be told. */
  createsInDoubt: { stack: string | undefined; tokenKind: string | undefined; creates: number }[];
  /** The instances, stacks and services of which something could not be decided. */
  undecided: { what: string; why: string }[];
  notCompared: HeldInstance[];
}

/** A kind of finding. */
interface Section<Finding> {
  /** The result of `audit` if there is such a finding. */
  result: "found" | "undecided" | "ok";
  title: string;
  /** The lines of a finding. */
  row: (finding: Finding) => string;
  /** The reason for a finding, if others may have the same. It is printed once for all of them. */
  why?: (finding: Finding) => string | undefined;
  /** The next steps. `planning`: the command that makes a plan, unless this command makes one. */
  next?: (found: readonly Finding[], planning: string | undefined) => string | readonly string[];
}

/** Makes a line of these words. What is undefined or empty is left out. */
const wordsOf = (...words: readonly (string | undefined)[]) => words.filter(Boolean).join("  ");

const instanceWords = ({ id, name, status }: InstanceLine) => wordsOf(id, `"${name}"`, status);

/** In the order in which they are printed. The JSON has a list for each, under this name. */
const sections: { [K in keyof Findings]: Section<Findings[K][number]> } = {
  inNoStack: {
    result: "found",
    title: "In no stack",
    row: (instance) => {
      const { name, ipv4, note, plannedAs } = instance;
      const as = plannedAs === name ? "" : ` as ${plannedAs}`;
      return wordsOf(instanceWords(instance), ipv4, note, plannedAs && `in the plan${as}`);
    },
    next: (_, planning) =>
      planning === undefined
        ? []
        : `Take them over (\`${planning}\`), or remove them at the service (its portal).`,
  },
  explained: {
    result: "found",
    title: "In no stack, but explained by a create in doubt",
    row: (instance) =>
      wordsOf(instanceWords(instance), instance.ipv4, `of ${instance.createInDoubt}`),
    next: () =>
      "Put the creates in doubt right, as said below, or remove an instance at the service (its portal) if no resource is to have it.",
  },
  gone: {
    result: "found",
    title: "In a stack but gone",
    row: ({ id, stack, urn }) => wordsOf(id, stack, urn),
    next: (gone) =>
      [...new Set(gone.map(({ stack }) => stack))].map(
        (stack) =>
          `\`${inStack("pulumi refresh", stack)}\` drops what is gone from the state. The next \`${inStack("pulumi up", stack)}\` creates it anew.`,
      ),
  },
  inSeveral: {
    result: "found",
    title: "Managed by more than one resource",
    row: (instance) => {
      const ways = instance.resources.map(
        ({ stack, urn }) => `\`${inStack(stateDeleteCommand(urn), stack)}\``,
      );
      return [instanceWords(instance), ...ways].join("\n    ");
    },
    next: () =>
      `Keep one resource of each instance: take the others out of their programs, then type their commands. Run no \`pulumi up\` in between. More: ${pageAt("audit.md")}`,
  },
  createsInDoubt: {
    result: "found",
    title: "Creates in doubt",
    row: ({ stack, tokenKind, creates }) => {
      const what = `${count(creates, "create")} of ${stack ?? "a stack that is not known"}`;
      const token = tokenKind === undefined ? "" : `, with a ${tokenKind} token`;
      return `${what}: ${settleAdvice(stack)}${token}`;
    },
  },
  undecided: {
    result: "undecided",
    title: "Not decided",
    row: ({ what }) => what,
    why: ({ why }) => why,
    next: () =>
      "Run `audit` again when no run is under way. If that does not decide it, mend the cause that the line names.",
  },
  notCompared: {
    result: "ok",
    title: "Not compared",
    row: ({ stack }) => stack,
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
  services: readonly ReturnType<typeof summaryOf>[];
  stacks: { read: number; withInstances: number };
  managed: readonly ManagedInstance[];
}

/** What `audit` says in the end: in its JSON and, without `--plan`, as its exit code and the last line of its text. */
const outcomes = {
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

/** Returns the outcome of these findings, which are undefined if nothing could be compared. */
export function auditOutcome(findings: Findings | undefined) {
  const found = kinds.filter((kind) => findings && findings[kind].length > 0);
  const results = found.map((kind) => sections[kind].result);
  const worst = (["found", "undecided"] as const).find((one) => results.includes(one)) ?? "ok";
  const result = findings ? worst : "undecided";
  return { result, ...outcomes[result] };
}

/** Prints the result as text. */
export function printReport(
  { services, stacks, managed }: Summary,
  findings: Findings,
  planning: string | undefined,
  { print }: Terminal,
): void {
  services.map(serviceLine).forEach(print);
  print(`stacks     ${stacks.read} read, ${stacks.withInstances} with instances`);
  print(`managed    ${count(managed.length, "instance")}`);
  for (const kind of kinds) sectionLines(kind, findings, planning).forEach(print);
  print("");
}

function sectionLines<K extends Kind>(
  kind: K,
  findings: Findings,
  planning: string | undefined,
): readonly string[] {
  const section: Section<Findings[K][number]> = sections[kind];
  const found: readonly Findings[K][number][] = findings[kind];
  if (found.length === 0) return [];
  // The instances of a live token are billed.
  const isLive = found.some((one) => "tokenKind" in one && one.tokenKind === "live");
  const billed = isLive ? " (those of a live token are billed)" : "";
  return [
    "",
    `${section.title}${billed} (${found.length}):`,
    ...rowsOf(found, section).flatMap((row) => row.split("\n")),
    ...[section.next?.(found, planning) ?? []].flat().map((next) => `  → ${next}`),
  ];
}

/** Returns the rows of a section. Equal rows are one, and several rows with the same reason stand below it. */
function rowsOf<Finding>(found: readonly Finding[], { row, why }: Section<Finding>): string[] {
  return [...Map.groupBy(found, (finding) => why?.(finding))].flatMap(([reason, same]) => {
    const rows = [...Map.groupBy(same, row)].map(([text, { length }]) =>
      length > 1 ? `${text} (${count(length, "instance")})` : text,
    );
    if (reason === undefined) return rows.map((text) => `  ${text}`);
    if (rows.length === 1) return [`  ${rows[0]}: ${reason}`];
    return [`  ${reason}:`, ...rows.map((text) => `    ${text}`)];
  });
}
