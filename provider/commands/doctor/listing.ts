/** What a listing of the service's instances shows, in the words that `pulumi up` has for it. */
import { cursorIgnored, nameCursor } from "../../advice";
import { instanceStatuses } from "../../api/documented";
import { count } from "../terminal";
import { type Finding, ofError, ok, skipped, warning } from "../finding";
import type { Listed, Visit } from "./visit";

export function listing({ items, unreadable, complete }: Listed): Finding {
  const seen = count(items.size, "instance");
  if (unreadable > 0) {
    return warning(
      "listing",
      `${seen}, and ${count(unreadable, "item")} that can't be read, so that none is ever taken for gone`,
      "Check that compute:baseUrl is the address of the Compute Instances Service; tell its operator.",
    );
  }
  return ok("listing", `${seen}${complete ? "" : ", and more that are not shown: see paging"}`);
}

export async function paging(visit: Visit, whole: Listed): Promise<Finding> {
  const { cursorParameter } = visit.settings;
  if (cursorParameter === undefined) {
    if (whole.complete) return ok("paging", "one page shows all");
    if (whole.unreadable > 0) return skipped("paging", "can't be told: see listing");
    return warning(
      "paging",
      "there are more instances than one page shows, so they are listed by status, and none is ever taken for gone",
      `${nameCursor}; docs/scaling.md says what is possible without.`,
    );
  }
  // With all of them on one page, smaller pages prove the same.
  const size = Math.ceil(whole.items.size / 2);
  const asked =
    whole.pages > 1 ? { value: whole } : size < 1 ? undefined : await visit.listing(size);
  if (asked && "error" in asked) return ofError("paging", asked.error);
  const paged = asked?.value;
  if (!paged || paged.pages === 1) {
    return skipped("paging", `${count(whole.items.size, "instance")}: too few to tell by`);
  }
  if (paged.ignored !== undefined) {
    return warning(
      "paging",
      cursorIgnored(cursorParameter, paged.ignored),
      "Set compute:cursorParameter to the service's own name for it, or remove it.",
    );
  }
  return ok(
    "paging",
    `${cursorParameter} pages: ${count(paged.items.size, "instance")} in ${paged.pages} pages`,
  );
}

export function statuses({ items }: Listed): Finding {
  const seen = new Map<string, number>();
  for (const { status = "" } of items.values()) seen.set(status, (seen.get(status) ?? 0) + 1);
  const odd = [...seen.keys()].filter(
    (status) => !(instanceStatuses as readonly string[]).includes(status),
  );
  const list = (names: readonly string[]) =>
    names
      .map((name) => `${name === "" ? "(none)" : name.slice(0, 40)} ${seen.get(name)}`)
      .join(", ");
  if (odd.length === 0) return ok("statuses", list([...seen.keys()].sort()) || "no instance");
  return warning(
    "statuses",
    `not in the service's document: ${list(odd.slice(0, 5))}${odd.length > 5 ? ", …" : ""}`,
    "What has such a status stays in the state; a create that ends in one is reported as unfinished.",
  );
}
