/** The Instance resource, with one function for each call of its life cycle. `provider.ts` calls them. */
import { checkInstance } from "./check";
import { createInstance } from "./create";
import { deleteInstance } from "./delete";
import { diffInstance } from "./diff";
import { readInstance } from "./read";
import { updateInstance } from "./update";

/** The implementation of the Instance resource. */
export const instanceResource = {
  check: checkInstance,
  diff: diffInstance,
  create: createInstance,
  update: updateInstance,
  read: readInstance,
  delete: deleteInstance,
};
