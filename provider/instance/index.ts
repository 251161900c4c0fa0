/** The Instance resource: a function for each call of its life cycle. */
import { checkInstance } from "./check";
import { createInstance } from "./create";
import { deleteInstance } from "./delete";
import { diffInstance } from "./diff";
import { readInstance } from "./read";
import { updateInstance } from "./update";

export const instanceResource = {
  check: checkInstance,
  diff: diffInstance,
  create: createInstance,
  update: updateInstance,
  read: readInstance,
  delete: deleteInstance,
};
