/** Says in words what `settle` has found and does: as text, and as JSON. */
import { importCommand, inStack, settleCommand } from "../../provider/advice";
import type { ListItem } from "../../provider/api/contract";
import { redactionMark } from "../../provider/redaction";
import type { UnreadableCreate } from "../creates";
import type { Row } from "./decide";
import type { Leftover } from "./leftovers";

/** A create or an instance, as a person reads of it. */
export interface Shown {
  urn: string;
  /** Undefined if it is not known. */
  name: string | undefined;
  /** The instance, if one was found. */
  id: string | undefined;
  found: string;
  does: string;
  /** The commands for a person who decides. */
  ways: string[];
}

/** Describes what was found of a create in doubt, and what becomes of it. `options` are the words of `--stack`. */
export function show({ doubt, does }: Row, stack: string, options: readonly string[]): Shown {
  const { urn, record, pending } = doubt;
  const isSecret = doubt.name === undefined;
  const base = { urn, name: isSecret ? redactionMark : doubt.name, id: record?.id, ways: [] };
  const at = record ? `, sent at ${record.at}` : "";
  const settle = (...words: string[]) => settleCommand("--yes", ...options, ...words);
  const forget = settle("--forget", urn);
  switch (does.kind) {
    case "held": {
      const holder = `${does.holder.stack} has the instance, as ${does.holder.urn}`;
      return { ...base, found: holder, does: "nothing is in doubt: the create is forgotten" };
    }
    case "absent": {
      const none = `nothing left behind, as two complete listings show${at}`;
      return { ...base, found: none, does: "the create is forgotten" };
    }
    case "forget":
      return {
        ...base,
        found: does.why ?? "not looked at",
        does: does.isSandbox
          ? "the create is forgotten: what it may have left is in a sandbox, where nothing is billed"
          : "the create is forgotten, and what it may have left goes on running",
      };
    case "put": {
      const next = "comes into the state; the next `pulumi up` goes on with it";
      const then = does.replaces === undefined ? "" : `, then deletes ${does.replaces}`;
      const { item, namesakes } = does;
      const others =
        namesakes.length === 0 ? "" : `; of the same name, in no state: ${namesakes.join(", ")}`;
      return { ...base, id: item.id, found: describe(item, isSecret) + others, does: next + then };
    }
    case "import": {
      const { id } = does.item;
      const explicitProvider = pending[0]?.instance?.explicitProvider;
      const way = inStack(importCommand({ urn, provider: explicitProvider }, id), stack);
      const found = `${describe(does.item, isSecret)}; ${does.why}`;
      return { ...base, id, found, does: "nothing: import it, or forget it", ways: [way, forget] };
    }
    case "ask": {
      const { items, why, occupant } = does;
      const has = occupant === undefined ? [] : [`the state has ${occupant} there`];
      const found = [...items.map((item) => describe(item, isSecret)), ...has, why].join("; ");
      const id = items.length === 1 ? items[0]?.id : undefined;
      const way = wayOf(does, pending.length > 0);
      const take = way === "take" ? [settle("--take", `${urn}=${id ?? "ID"}`)] : [];
      const bring = way === "import" ? [inStack(importCommand({ urn }, id ?? "ID"), stack)] : [];
      const decision = `nothing: ${decisionOf(way, occupant)}`;
      return { ...base, id, found, does: decision, ways: [...take, ...bring, forget] };
    }
    case "running":
      return { ...base, found: "its run is under way on this machine", does: "nothing" };
  }
}

/** What a person can do with the instance, besides forgetting the create. */
type Way = "take" | "import" | "remove" | "nothing";

function wayOf(
  { items, occupant }: Extract<Row["does"], { kind: "ask" }>,
  isPending: boolean,
): Way {
  if (items.length === 0) return "nothing";
  if (isPending) return "take";
  if (occupant !== undefined) return "remove";
  return items.length === 1 ? "import" : "nothing";
}

/** Says what a person decides, and what follows for the instance that the state has. */
function decisionOf(way: Way, occupant: string | undefined): string {
  switch (way) {
    case "take":
      return `a person takes it${occupant === undefined ? "" : ` (the next run then deletes ${occupant})`}, or forgets it`;
    case "import":
      return "a person imports it, or forgets it";
    case "remove":
      return "a person removes it at the service (its portal), and forgets it";
    case "nothing":
      return "a person forgets it";
  }
}

/** Describes an instance of the stack that no state holds, and that nothing in the ledger or the state explains. */
export function showLeftover({ item, urn }: Leftover, stack: string): Shown {
  const found = `${describe(item, false)}, in no state, and no create in doubt explains it`;
  const ways = [inStack(importCommand({ urn }, item.id), stack)];
  const does =
    "nothing: import it, remove it at the service (its portal), or set compute:leftovers to warn for a second one";
  return { urn, name: item.name, id: item.id, found, does, ways };
}

/** Describes a create whose file can't be read. The state and the listing still show what it has left. */
export function showUnreadable({ urn, path }: UnreadableCreate): Shown {
  const found = `its file in the ledger can't be read: ${path}`;
  const does = "nothing: once nothing else is in doubt, remove that file";
  return { urn, name: undefined, id: undefined, found, does, ways: [] };
}

/** The lines of one entry of the table. */
export function linesOf({ urn, found, does, ways }: Shown): string[] {
  return [
    urn,
    `  found  ${found}`,
    `  does   ${does}`,
    ...ways.map((way) => `         → \`${way}\``),
  ];
}

function describe({ id, name, status }: ListItem, isSecret: boolean): string {
  const words = [id, !isSecret && name !== undefined && `"${name}"`, status];
  return `instance ${words.filter(Boolean).join(", ")}`;
}
