/** Small exported states for the tests beside `settle`. */
import { parseState, type PendingCreate, type StackState } from "../../state";

export const stack = "organization/proj/dev";
export const urnOf = (name: string, type = "compute:index:Instance") =>
  `urn:pulumi:dev::proj::${type}::${name}`;
export const root = urnOf("proj-dev", "pulumi:pulumi:Stack");
export const provider = urnOf("default", "pulumi:providers:compute");
export const scope = "b12a0292-b606-46f5-9e10-e2a0321246ae";

/** A secret as an export has it. */
export const secret = {
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  ciphertext: "v1:abc",
};

type Fields = Readonly<Record<string, unknown>>;

/** A resource of the default provider, as in a state. */
export const resource = (name: string, fields: Fields = {}) => ({
  urn: urnOf(name),
  custom: true,
  type: "compute:index:Instance",
  parent: root,
  provider: `${provider}::${scope}`,
  ...fields,
});

/** An instance that the state holds. */
export const held = (name: string, id: string, fields: Fields = {}) =>
  resource(name, { id, inputs: { name }, created: "2026-01-01T00:00:00Z", ...fields });

/** What a killed run leaves of a create. Without `name`, this provider has generated the name. */
export const pending = (logical: string, fields: Fields = {}, name?: unknown) => {
  const generated = `${logical}-aaaabbbb`;
  const inputs = name === undefined ? { __generated: generated, name: generated } : { name };
  const own = { inputs: { ...inputs, flavorId: "small", userData: secret }, ...fields };
  return { resource: resource(logical, own), type: "creating" };
};

/** An export with stack and default provider, and these resources and pending operations. */
export function stateOf(
  resources: readonly object[],
  operations: readonly object[] = [],
  ofStack = stack,
) {
  const first = [
    { urn: root, custom: false, type: "pulumi:pulumi:Stack" },
    { urn: provider, custom: true, type: "pulumi:providers:compute", id: scope },
  ];
  const deployment = {
    manifest: { version: "v3.258.0" },
    resources: [...first, ...resources],
    pending_operations: operations,
    metadata: {},
  };
  return parseState(ofStack, JSON.stringify({ version: 3, deployment }));
}

/** The only pending create of a state. @throws if there is another number */
export function onlyPending({ pending: all }: StackState): PendingCreate {
  const [only, ...others] = all;
  if (!only || others.length > 0) throw new Error("the state does not have one pending create");
  return only;
}
