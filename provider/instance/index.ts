/** The Instance resource, with one function for each call of its life cycle, and one for a warning of Check. `provider.ts` calls them. */
import { checkInstance } from "./check";
import { createInstance } from "./create";
import { deleteInstance } from "./delete";
import { diffInstance } from "./diff";
import { readInstance } from "./read";
import { updateInstance } from "./update";
import { userDataWarning } from "./userData";

/** The implementation of the Instance resource. */
export const instanceResource = {
  check: checkInstance,
  userDataWarning,
  diff: diffInstance,
  create: createInstance,
  update: updateInstance,
  read: readInstance,
  delete: deleteInstance,
};
