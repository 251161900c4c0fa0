/** What the functions are: the definition from which the schema, the checks and the docs come. */
import * as z from "zod";
import { instanceStatuses } from "../api/serviceConstants";
import { closest } from "../closest";
import { hasSecret, reveal, type PropertyMap, type PropertyValue } from "../propertyValue";
import type { CheckFailure } from "../requests";
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

/** The arguments of a function that are texts, which is all of them once `faultsOf` has found nothing. */
export type Args = Readonly<Record<string, string | undefined>>;

/** A null is an argument left out. */
export function argsOf(given: PropertyMap): Args {
  const plain = Object.entries(given).map(([key, value]) => [key, reveal(value)] as const);
  return Object.fromEntries(
    plain.filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** What is wrong with the arguments, each on its property (G9). */
export function faultsOf(token: FunctionToken, given: PropertyMap): CheckFailure[] {
  const failures = Object.entries(given).flatMap(([key, value]): CheckFailure[] => {
    const reason = faultOf(key, reveal(value), functions[token].inputs);
    return reason === undefined ? [] : [{ property: hasSecret(value) ? "" : key, reason }];
  });
  const { id, name } = argsOf(given);
  if (token === "compute:index:getInstance" && (id === undefined) === (name === undefined)) {
    failures.push({ property: "", reason: "give either id or name, one of the two" });
  }
  return failures;
}

function faultOf(
  key: string,
  value: PropertyValue,
  inputs: Readonly<Record<string, { type: z.ZodType }>>,
): string | undefined {
  if (value === null) return undefined;
  const input = Object.hasOwn(inputs, key) ? inputs[key] : undefined;
  if (!input) {
    const near = closest(key, Object.keys(inputs));
    return `there is no argument "${key}"${near ? `; did you mean ${near}?` : ""}`;
  }
  const { error } = input.type.safeParse(value);
  return error && `${key} ${error.issues.map((issue) => issue.message).join("; ")}`;
}
