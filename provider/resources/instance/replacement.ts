/** What a preview says of a replacement (G4): what stays behind, before it happens. */
import type { Settings } from "../../config/settings";
import type { DiffRequest } from "../../requests";
import { staysBehind } from "./delete";

export function messageOfReplacement(
  { deletePolicy, tokenKind }: Pick<Settings, "deletePolicy" | "tokenKind">,
  { id, oldOutputs }: Pick<DiffRequest, "id" | "oldOutputs">,
): string | undefined {
  switch (deletePolicy) {
    case "destroy":
      return undefined;
    case "retain":
      return `replacing instance ${id} leaves it behind (compute:deletePolicy is "retain"): ${staysBehind(oldOutputs, tokenKind)}`;
    case "fail":
      return `replacing instance ${id} will fail, before a second server is made, for as long as ${id} exists, unless the resource has the option retainOnDelete: the service documents no call to destroy it. Remove it at the service first; see also compute:deletePolicy and compute:destroyPath`;
  }
}
