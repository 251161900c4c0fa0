/** Applies list faults, which change a listing into one that is not true. */
import type { ServiceResponse } from "../http/response";
import { matchesPattern } from "../pattern";
import type { ListFault } from "./kinds";

interface Item {
  id: string;
  name: string;
  status: string;
}

interface Listing {
  data: Item[];
  has_more: boolean;
}

/** Changes a response that is a listing. It then has no schema, which the fault may break. */
export function applyListFaults(
  response: ServiceResponse,
  faults: readonly ListFault[],
  requestId: string,
): ServiceResponse {
  if (faults.length === 0 || !isListing(response.json)) return response;
  const { schema: _, ...rest } = response;
  const apply = (listing: Listing, fault: ListFault) => applyListFault(listing, fault, requestId);
  return { ...rest, json: faults.reduce(apply, response.json) };
}

function applyListFault(listing: Listing, fault: ListFault, requestId: string): Listing {
  if (fault.kind === "hasMoreForever") return { ...listing, has_more: true };
  const { instance = "*" } = fault;
  const data = listing.data.flatMap((item) => {
    if (!matchesPattern(instance, item.id) && !matchesPattern(instance, item.name)) return [item];
    switch (fault.kind) {
      case "omitItem":
        return [];
      case "omitAddress":
        return [{ ...item, ipv4_public: fault.instead ?? null }];
      case "duplicateIds":
        return [item, item];
      case "changeIds":
        return [{ ...item, id: `${item.id}-${requestId}` }];
      case "showStatus":
        return [{ ...item, status: fault.status }];
    }
  });
  return { ...listing, data };
}

function isListing(json: unknown): json is Listing {
  return typeof json === "object" && json !== null && "data" in json && Array.isArray(json.data);
}
