/** What the functions are: the definition from which the schema, the checks and the docs come. */
import * as z from "zod";
import { instanceStatuses } from "../api/documented";
import type { FunctionToken } from "../tokens";

const text = z.string().min(1, { error: "must not be empty" });

export const functions = {
  "compute:index:getInstance": {
    description:
      "One instance, by its id or by its exact name. An error if there is none, or if several have that name.",
    inputs: {
      id: { type: text.optional(), description: "Identifier of the instance." },
      name: { type: text.optional(), description: "Hostname of the instance, exactly." },
    },
  },
  "compute:index:getInstances": {
    description:
      "The instances that the token's tenant has, as far as the service lists them: see `complete`.",
    inputs: {
      status: {
        type: z
          .enum(instanceStatuses, { error: `must be one of ${instanceStatuses.join(", ")}` })
          .optional(),
        description: "Only instances of this status: `ACTIVE`, `OFFLINE` or `PROVISIONING`.",
      },
    },
  },
  "compute:index:getAccount": {
    description: "The account of the token, as GET /v2/account answers; checks the token.",
    inputs: {},
  },
} as const satisfies Record<FunctionToken, unknown>;
