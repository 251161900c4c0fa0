/**
 * The state of a stack as `pulumi stack export` prints it, and one pure function that changes it (`settleState`): as the
 * engine would have, had it got the answers that a killed run did not. What it does not change stays as it is, also the
 * secrets, which stay encrypted.
 */
import * as z from "zod";
import metadata from "../../metadata.json";
import { explicitProvider, splitReference } from "../../provider/urn";
import { Instance, textIn } from "../../provider/instance/instance";
import { nameKind } from "../../provider/instance/naming";
import type { Origin } from "../../provider/origin";
import { propertyMap, type PropertyMap, type PropertyValue } from "../../provider/propertyValue";
import { instanceToken, signatureKey, signatures } from "../../provider/pulumiNames";

const providerToken = `pulumi:providers:${metadata.name}`;

const resourceSchema = z.looseObject({
  urn: z.string().startsWith("urn:"),
  type: z.string(),
  /** Empty for a component, and for a create that was under way. */
  id: z.string().default(""),
  parent: z.string().default(""),
  /** The provider's URN and id, as `urn::id`. */
  provider: z.string().default(""),
  dependencies: z.array(z.string()).nullish(),
  propertyDependencies: z.record(z.string(), z.array(z.string()).nullish()).nullish(),
  deletedWith: z.string().default(""),
  /** The outputs that the program makes secret. */
  additionalSecretOutputs: z.array(z.string()).nullish(),
  /** Set if the program only reads the resource. */
  external: z.boolean().default(false),
  /** Set if a replacement waits to be deleted. */
  delete: z.boolean().default(false),
  /** Set if the resource was deleted before its replacement is made. */
  pendingReplacement: z.boolean().default(false),
  /** Set if `pulumi state taint` has marked the resource for replacement. */
  taint: z.boolean().default(false),
  // Other resources may have anything here.
  inputs: z.record(z.string(), z.custom<PropertyValue>()).catch({}),
  outputs: z.record(z.string(), z.custom<PropertyValue>()).catch({}),
});
/** A resource, with what is missing filled in. */
export type StateResource = z.infer<typeof resourceSchema>;

const operationSchema = z.object({ resource: resourceSchema, type: z.string() });

/** What `pulumi stack export` prints. */
export const exportSchema = z
  .object({
    deployment: z
      .object({
        resources: z.array(resourceSchema).nullish(),
        pending_operations: z.array(operationSchema).nullish(),
      })
      .nullish(),
  })
  .transform(({ deployment }) => {
    // The engine drops operations of other kinds by itself, since their resources are in the state.
    const operations = (deployment?.pending_operations ?? []).entries();
    const creating = [...operations].filter(([, { type }]) => type === "creating");
    return {
      resources: deployment?.resources ?? [],
      pending: creating.map(([index, { resource }]) => pendingCreateOf(resource, index)),
    };
  });

/** A state as it was exported. */
export interface ExportedState {
  /** The whole export, which is what `pulumi stack import` reads. */
  readonly text: string;
  readonly resources: readonly StateResource[];
  /** The creates that were under way when an engine ended, of all providers. Each later run carries them on. */
  readonly pending: readonly PendingCreate[];
}

/** A create that a state calls pending. */
export interface PendingCreate {
  /** Its place among the pending operations of the export. */
  readonly index: number;
  readonly resource: StateResource;
  /** Undefined for what is no instance of this provider. */
  readonly instance: RequestedInstance | undefined;
}

/** What the state has of the create of an instance. */
export interface RequestedInstance {
  /** The name it asked for. Undefined if that is a secret. */
  readonly name: string | undefined;
  readonly isGenerated: boolean;
  /** The id of the provider resource. */
  readonly scope: string;
  /** The URN of the provider if the program makes that itself. */
  readonly explicitProvider: string | undefined;
}

/** @throws SyntaxError or ZodError if the text is no export that this version can read */
export function parseExport(text: string): ExportedState {
  return { text, ...exportSchema.parse(JSON.parse(text)) };
}

function pendingCreateOf(resource: StateResource, index: number): PendingCreate {
  const isInstance = resource.type === instanceToken;
  return { index, resource, instance: isInstance ? requestedBy(resource) : undefined };
}

/** Returns what the create of an instance asked for. */
export function requestedBy(resource: StateResource): RequestedInstance {
  const inputs = propertyMap(resource.inputs);
  const { urn, id } = providerOf(resource);
  return {
    name: textIn(inputs["name"]),
    isGenerated: nameKind(inputs) === "generated",
    scope: id,
    explicitProvider: explicitProvider(urn || undefined),
  };
}

/** Returns URN and id of a resource's provider. */
export function providerOf({ provider }: StateResource): { urn: string; id: string } {
  return splitReference(provider);
}

/** Returns the instance of a resource. */
export function instanceIn({ urn, id, inputs, outputs }: StateResource): Instance {
  return new Instance({ urn, id, inputs: propertyMap(inputs), outputs: propertyMap(outputs) });
}

/** Returns the resources of the state, and those of its pending creates. */
export function withPending({ resources, pending }: ExportedState): StateResource[] {
  return [...resources, ...pending.map(({ resource }) => resource)];
}

/** Returns the ids of the stack's provider resources. Each is one stack's, unless `pulumi state move` has copied it. */
export function scopesOf(state: ExportedState): Set<string> {
  const ids = withPending(state).map((one) =>
    one.type === providerToken ? one.id : providerOf(one).id,
  );
  return new Set(ids.filter((id) => id !== ""));
}

/** What is to become of a create that the state calls pending. */
export type StateChange =
  /** It leaves the state: something else holds its instance, or there is none. */
  | { do: "drop"; pending: PendingCreate }
  /** Its instance comes into the state. With `replaces`, an instance of the URN is replaced, which the next `up` deletes. */
  | {
      do: "put";
      pending: PendingCreate;
      id: string;
      outputs: PropertyMap;
      replaces: string | undefined;
    };

type RawResource = Record<string, unknown>;
interface RawExport {
  deployment: {
    resources?: RawResource[] | null;
    pending_operations?: { resource: RawResource }[] | null;
  };
}

/**
 * Returns the text of the state with these changes, and without any pending operation, since `pulumi stack import` drops them
 * all.
 */
export function settleState(
  { text }: ExportedState,
  changes: readonly StateChange[],
  now: Date,
): string {
  const whole = JSON.parse(text) as RawExport;
  const { resources, pending_operations: operations, ...deployment } = whole.deployment;
  const settled = [...(resources ?? [])];
  for (const change of changes) {
    const raw = operations?.[change.pending.index]?.resource;
    if (change.do === "put" && raw) put(settled, change, raw, now);
  }
  const result = { ...whole, deployment: { ...deployment, resources: settled } };
  return `${JSON.stringify(result, undefined, 4)}\n`;
}

function put(
  resources: RawResource[],
  { pending, id, outputs, replaces }: Extract<StateChange, { do: "put" }>,
  raw: RawResource,
  now: Date,
): void {
  const { urn } = pending.resource;
  const indexOf = (key: string, value: unknown) =>
    resources.findIndex((one) => one["urn"] === urn && one[key] === value);
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
  resources.splice(placeFor(pending.resource, resources), 0, { ...raw, id, outputs, ...made });
}

/** Returns the index right behind the last resource that this one needs. */
function placeFor(resource: StateResource, resources: readonly { urn?: unknown }[]): number {
  const needed = new Set(needsOf(resource));
  return resources.findLastIndex(({ urn }) => typeof urn === "string" && needed.has(urn)) + 1;
}

function needsOf(resource: StateResource): string[] {
  const { parent, dependencies, propertyDependencies, deletedWith } = resource;
  const ofProperties = Object.values(propertyDependencies ?? {}).flatMap((urns) => urns ?? []);
  const named = [parent, providerOf(resource).urn, ...(dependencies ?? []), deletedWith];
  return [...named, ...ofProperties].filter((urn) => urn !== "");
}

/**
 * Says why the engine would not have put the resource into this state: what it needs has left the state, or stands behind
 * what needs it. Undefined if nothing is against it.
 */
export function whyHomeless(
  resource: StateResource,
  { resources }: Pick<ExportedState, "resources">,
): string | undefined {
  const { urn: providerUrn, id } = providerOf(resource);
  const isThere = (urn: string) =>
    resources.some(
      (one) => one.urn === urn && !one.delete && (urn !== providerUrn || one.id === id),
    );
  const lost = needsOf(resource).find((urn) => !isThere(urn));
  if (lost !== undefined) return `the state no longer has ${lost}`;
  const { urn } = resource;
  const before = resources.slice(0, placeFor(resource, resources));
  const early = before.find((one) => !one.delete && one.urn !== urn && needsOf(one).includes(urn));
  return early && `${early.urn} depends on it, and stands before what it needs`;
}

/** Returns the outputs that the state gets for an instance: those of a create whose wait was interrupted. */
export function unfinishedOutputs(
  { resource, instance }: PendingCreate,
  accepted: Parameters<typeof Instance.accepted>[1],
  made: { origin: Origin; at: string; session: string; flavor?: string | undefined },
): PropertyMap {
  const { urn } = resource;
  const inputs = propertyMap(resource.inputs);
  // In an export a secret is an object, which stays as it is. The name as listed would be in clear text.
  const { name: listedName, ...rest } = accepted;
  const shown = instance?.name === undefined ? rest : { ...rest, name: listedName };
  const { origin, at, session, flavor: flavorIdUsed } = made;
  const unfinished = Instance.accepted({ urn, inputs, flavorIdUsed }, shown, origin, at);
  const { outputs } = unfinished.stampedBy(session).unfinished();
  const toHide = (resource.additionalSecretOutputs ?? []).flatMap((key) => {
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
