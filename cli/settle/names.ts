/** How a person names a resource after `--take` and `--forget`: by its logical name or, if several have that, by its URN. */
import { logicalName } from "../../provider/pulumi/urn";
import type { Choices } from "./decide";

/** Returns what a person types for the resource. `urns`: the resources among which the name has to be unique. */
export function typedName(urn: string, urns: ReadonlySet<string>): string {
  const name = logicalName(urn);
  const isUnique = [...urns].every((other) => other === urn || logicalName(other) !== name);
  // A dash begins an option, and the first equals sign ends a name.
  return isUnique && /^(?!urn:|-)[^=]+$/.test(name) ? name : urn;
}

/** Returns the choices with the URN in place of each name. What names none of the resources stays as it was typed. */
export function withUrns({ take, forget }: Choices, urns: ReadonlySet<string>): Choices {
  const byName = new Map([...urns].map((urn) => [typedName(urn, urns), urn]));
  const urnOf = (typed: string) => byName.get(typed) ?? typed;
  // A URN has no equals sign before that of its name, so only a name ends at the first one.
  const withUrn = (word: string) => word.replace(/^[^=]+/, urnOf);
  return { take: take.map(withUrn), forget: forget.map(urnOf) };
}
