/** Says why a listing proves nothing. */
import { afterChange, type SettingPlaces } from "../advice";
import { pageLimit } from "../api/serviceConstants";
import { noCursor } from "./collect";
import type { FetchedListing } from "./listing";
import type { Open } from "./witness";

/** How a session lists: the parameter that it pages by now, and the setting `compute:cursorParameter`. */
export interface Paging {
  readonly cursorParameter: string | undefined;
  readonly settings: { readonly cursorParameter?: string | undefined };
  readonly places: SettingPlaces;
}

/** Says why a listing that lacks an instance does not prove that the instance is gone. A phrase. */
export function whyOpen({ why, listing }: Open, paging: Paging): string {
  switch (why) {
    case "early":
      return listing.complete
        ? "it is so new that no listing need show it yet"
        : whyIncomplete(listing, paging);
    case "incomplete":
    case "cutOff":
      return whyIncomplete(listing, paging);
    case "once":
      // No search ends with this: it takes another listing (`mayStillTell`).
      return "only one listing lacks it, and one listing may be wrong";
    case "unstable":
      return "listings in a row had no id in common, so the ids in the service's listings can't be relied on";
    case "tenant":
      return "this listing may be another tenant's: the instance was last seen with another token, and no instance of that token is listed. Use a token of the instance's tenant or, if the instance is surely gone, drop it from the state";
  }
}

/** Says why a listing is not complete. */
export function whyIncomplete(
  { unreadable }: FetchedListing,
  { cursorParameter, settings, places }: Paging,
): string {
  const summary = "the service's listing is not complete";
  if (unreadable > 0) {
    const items = unreadable === 1 ? "an item" : `${unreadable} items`;
    return `${summary}: it holds ${items} that can't be read, for want of a printable id`;
  }
  const named = settings.cursorParameter;
  if (cursorParameter)
    return `${summary}, even with ${named ? "compute:cursorParameter" : "the cursor"} "${cursorParameter}"`;
  const limit = `${summary}: it shows at most ${pageLimit.max} instances of each status`;
  if (named === noCursor) return limit;
  return named
    ? `${limit}, and this run no longer uses compute:cursorParameter "${named}", which did not lead to all pages`
    : `${limit}. If the service has a cursor, name its parameter in compute:cursorParameter${afterChange("cursorParameter", places)}`;
}
