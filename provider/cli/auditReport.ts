/** What an audit has found, as text and as data, and the exit code that it comes to. */
import type { ListItem } from "../api/contract";
import { ownCommand } from "../advice";
import type { Place } from "../origin";
import { count, type Terminal } from "./terminal";

type Shown = Pick<ListItem, "id" | "name" | "status">;
/** A resource of a stack. */
interface Resource {
  stack: string;
  urn: string;
}

export interface Report {
  services: readonly (Place & { account?: string; listed: number; complete: boolean })[];
  stacks: { read: number; withInstances: number };
  managed: readonly (Shown & { resources: readonly Resource[] })[];
  inNoStack: readonly (Shown & Place & { ipv4?: string; note?: string })[];
  inSeveral: readonly (Shown & { resources: readonly Resource[] })[];
  gone: readonly (Resource & { id: string })[];
  openCreates: readonly { urn: string; name?: string; at?: string; id?: string; stack?: string }[];
  /** What could not be decided, and why. */
  undecided: readonly { what: string; why: string }[];
  notComparable: readonly (Resource & { id: string; why: string })[];
}

/** A create that a run of this machine began: its ledger has it. */
export function isOfThisMachine({ at }: Report["openCreates"][number]): boolean {
  return at !== undefined;
}

/** For `--help`. */
export const exitCodes = [
  "  0  all that is listed is managed, all that is managed is there",
  "  1  something was found: an instance in no stack or in several, one that is gone, a pending create",
  "  2  the command line is wrong",
  "  3  nothing was found, but not everything could be decided: a listing that is not complete,",
  "     a stack or a service that could not be read",
];

export function exitCodeOf(report: Report): 0 | 1 | 3 {
  const { inNoStack, inSeveral, gone, openCreates, undecided } = report;
  if ([inNoStack, inSeveral, gone, openCreates].some((it) => it.length > 0)) return 1;
  return undecided.length > 0 ? 3 : 0;
}

export function printReport(report: Report, io: Terminal): void {
  const { services, stacks } = report;
  const line = (what: string, text: string) => io.print(text, what.padEnd(11));
  for (const { baseUrl, tokenKind, listed, complete } of services) {
    const more = complete ? "" : ", and there may be more";
    line("service", `${baseUrl} (${tokenKind} token): ${count(listed, "instance")} listed${more}`);
  }
  line("stacks", `${stacks.read} read, ${stacks.withInstances} with instances`);
  line("managed", count(report.managed.length, "instance"));

  const billed = report.inNoStack.some(({ tokenKind }) => tokenKind === "live");
  section(io, "red", `Running but in no stack${billed ? ", and billed" : ""}`, {
    rows: report.inNoStack.map((it) => [shown(it), it.ipv4, it.note]),
    next: `Take them over (\`${ownCommand("import-plan")}\`), or remove them at the service (its portal).`,
  });
  section(io, "red", "In a stack but gone", {
    rows: report.gone.map((it) => [it.id, it.stack, it.urn]),
    next: "`pulumi refresh` drops them from the state, and the next `pulumi up` makes them anew.",
  });
  section(io, "red", "In more than one place, each of which would destroy it", {
    rows: report.inSeveral.map((it) => [
      shown(it),
      ...it.resources.map(({ stack, urn }) => `${stack}: ${urn}`),
    ]),
    next: "Keep one; `pulumi state delete` takes it from the others.",
  });
  const rowOf = ({ urn, name, at, id, stack }: Report["openCreates"][number]) => [
    ...[urn, name && `"${name}"`, at && `begun ${at}`, id],
    stack && `pending in ${stack}`,
  ];
  section(io, "red", "Creates left open", {
    rows: report.openCreates.filter(isOfThisMachine).map(rowOf),
    next: `Run \`pulumi up\`, which goes on with them or says what to do; \`${ownCommand("discard")}\` lists them.`,
  });
  section(io, "red", "Creates left open, of which this machine knows nothing", {
    rows: report.openCreates.filter((it) => !isOfThisMachine(it)).map(rowOf),
    next: "Where no stack holds it by now, `pulumi up` makes it once more: if an instance above is its own, import that first. `pulumi refresh --clear-pending-creates` ends it.",
  });
  section(io, "yellow", "Not decided", {
    rows: report.undecided.map(({ what, why }) => [`${what}: ${why}`]),
    next: "Run it again once that is fixed.",
  });
  section(io, "gray", "Not compared", {
    rows: report.notComparable.map((it) => [it.id, it.stack, it.why]),
    next: "Run it with the address and the token of those, too (--stack NAME takes both from a stack).",
  });
  io.print("");
  io.print(verdicts[exitCodeOf(report)]);
}

interface Section {
  rows: readonly (readonly (string | undefined)[])[];
  next: string;
}

function section(
  io: Terminal,
  colour: "red" | "yellow" | "gray",
  title: string,
  { rows, next }: Section,
): void {
  if (rows.length === 0) return;
  io.print("");
  io.print("", io.paint(colour, `${title} (${rows.length}):`));
  for (const row of rows) io.print(row.filter(Boolean).join("  "), "  ");
  io.print(next, "  → ");
}

const verdicts = {
  0: "All that is listed is managed, and all that is managed is there.",
  1: "Something was found: see above.",
  3: "Nothing was found, but not everything could be decided.",
} as const;

function shown({ id, name = "", status = "" }: Shown): string {
  return `${id}  "${name}"  ${status}`;
}
