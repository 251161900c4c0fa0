/**
 * Changes an exported state, as the engine would have, had it got the answers that a killed run did not. What does not change stays
 * as it is, also the secrets, which stay encrypted.
 */
import { Instance } from "../../provider/instance/instance";
import type { Origin } from "../../provider/origin";
import { propertyMap, type PropertyMap, type PropertyValue } from "../../provider/propertyValue";
import { signatureKey, signatures } from "../../provider/pulumiNames";
import type { PendingCreate, StackState, StateResource } from "../state";

/** An instance that comes into a state. */
export interface StatePut {
  readonly pending: PendingCreate;
  readonly id: string;
  readonly outputs: PropertyMap;
  /** The id of the instance of the URN that is replaced, which the next `up` deletes. */
  readonly replaces: string | undefined;
}

type RawResource = Record<string, unknown>;
interface RawExport {
  deployment: {
    resources?: RawResource[] | null;
    pending_operations?: { resource: RawResource }[] | null;
  };
}

/**
 * Returns the text of the state with these instances, and without any pending operation, since `pulumi stack import` drops them
 * all.
 */
export function settleState({ text }: StackState, puts: readonly StatePut[], now: Date): string {
  const whole = JSON.parse(text) as RawExport;
  const { resources, pending_operations: operations, ...deployment } = whole.deployment;
  const settled = [...(resources ?? [])];
  for (const put of puts) {
    const raw = operations?.[put.pending.index]?.resource;
    if (raw) insert(settled, put, raw, now);
  }
  const result = { ...whole, deployment: { ...deployment, resources: settled } };
  return `${JSON.stringify(result, undefined, 4)}\n`;
}

function insert(
  resources: RawResource[],
  { pending, id, outputs, replaces }: StatePut,
  raw: RawResource,
  now: Date,
): void {
  const indexOf = (key: string, value: unknown) =>
    resources.findIndex((one) => one["urn"] === pending.urn && one[key] === value);
  const waiting = indexOf("pendingReplacement", true);
  // Marked for deletion instead, it would be deleted at each `up`, and never leave.
  if (waiting >= 0) resources.splice(waiting, 1);
  const replaced = replaces === undefined ? -1 : indexOf("id", replaces);
  if (replaced >= 0) resources[replaced] = { ...resources[replaced], delete: true };
  const at = now.toISOString();
  const initErrors = [
    `the run that created instance ${id} ended before it could record that; the next \`pulumi up\` goes on with it`,
  ];
  const made = { created: at, modified: at, initErrors, refreshBeforeUpdate: true };
  resources.splice(placeFor(pending, resources), 0, { ...raw, id, outputs, ...made });
}

/** Returns the index right behind the last resource that this one needs. */
function placeFor(resource: StateResource, resources: readonly { urn?: unknown }[]): number {
  const needed = new Set(needsOf(resource));
  return resources.findLastIndex(({ urn }) => typeof urn === "string" && needed.has(urn)) + 1;
}

function needsOf(resource: StateResource): string[] {
  const { parent, providerUrn, dependencies, propertyDependencies, deletedWith } = resource;
  const ofProperties = Object.values(propertyDependencies ?? {}).flatMap((urns) => urns ?? []);
  const named = [parent, providerUrn, ...(dependencies ?? []), deletedWith];
  return [...named, ...ofProperties].filter((urn) => urn !== "");
}

/**
 * Says why the engine would not have put the resource into this state: what it needs has left the state, or stands behind
 * what needs it. Undefined if nothing is against it.
 */
export function whyHomeless(
  resource: StateResource,
  { resources }: Pick<StackState, "resources">,
): string | undefined {
  const { urn, providerUrn, scope } = resource;
  const isThere = (needed: string) =>
    resources.some(
      (one) => one.urn === needed && !one.delete && (needed !== providerUrn || one.id === scope),
    );
  const lost = needsOf(resource).find((needed) => !isThere(needed));
  if (lost !== undefined) return `the state no longer has ${lost}`;
  const before = resources.slice(0, placeFor(resource, resources));
  const early = before.find((one) => !one.delete && one.urn !== urn && needsOf(one).includes(urn));
  return early && `${early.urn} depends on it, and stands before what it needs`;
}

/** Returns the outputs that the state gets for an instance: those of a create whose wait was interrupted. */
export function unfinishedOutputs(
  pending: PendingCreate,
  accepted: Parameters<typeof Instance.accepted>[1],
  made: { origin: Origin; at: string; session: string; flavor?: string | undefined },
): PropertyMap {
  const { urn, name, additionalSecretOutputs } = pending;
  const inputs = propertyMap(pending.inputs);
  // In an export a secret is an object, which stays as it is. The name as listed would be in clear text.
  const { name: listedName, ...rest } = accepted;
  const shown = name === undefined ? rest : { ...rest, name: listedName };
  const { origin, at, session, flavor: flavorIdUsed } = made;
  const unfinished = Instance.accepted({ urn, inputs, flavorIdUsed }, shown, origin, at);
  const { outputs } = unfinished.stampedBy(session).unfinished();
  const toHide = (additionalSecretOutputs ?? []).flatMap((key) => {
    const value = outputs[key];
    const text = JSON.stringify(value);
    // Ciphertext in plaintext would stay as it is.
    return value === undefined || text.includes(signatureKey)
      ? []
      : [[key, toEncrypt(text)] as const];
  });
  return propertyMap({ ...outputs, ...Object.fromEntries(toHide) });
}

/** Returns a secret as an export with --show-secrets has it. `pulumi stack import` encrypts it. */
function toEncrypt(plaintext: string): PropertyValue {
  return propertyMap({ [signatureKey]: signatures.secret, plaintext });
}
