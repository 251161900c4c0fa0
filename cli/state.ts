/** The state of a stack, as `pulumi stack export` prints it. The commands read every state by this schema. */
import * as z from "zod";
import metadata from "../metadata.json";
import { Instance, textIn } from "../provider/instance/instance";
import { nameKind } from "../provider/instance/naming";
import { propertyMap, type PropertyValue } from "../provider/pulumi/propertyValue";
import { instanceToken } from "../provider/pulumi/names";
import { explicitProvider, splitReference, stackOf, typesOf } from "../provider/pulumi/urn";
import type { Problem } from "./terminal";

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
  /** The URNs that the resource had before, as the program says. */
  aliases: z.array(z.string()).nullish(),
  /** The outputs that the program makes secret. */
  additionalSecretOutputs: z.array(z.string()).nullish(),
  /** Set if the program only reads the resource. */
  external: z.boolean().default(false),
  /** Set if the resource was replaced, and waits to be deleted. */
  delete: z.boolean().default(false),
  /** Set if the resource was deleted before its replacement is made. */
  pendingReplacement: z.boolean().default(false),
  /** Set if `pulumi state taint` has marked the resource for replacement. */
  taint: z.boolean().default(false),
  // Other resources may have anything here.
  inputs: z.record(z.string(), z.custom<PropertyValue>()).catch({}),
  outputs: z.record(z.string(), z.custom<PropertyValue>()).catch({}),
});

const exportSchema = z.object({
  deployment: z
    .object({
      resources: z.array(resourceSchema).nullish(),
      pending_operations: z
        .array(z.object({ resource: resourceSchema, type: z.string() }))
        .nullish(),
    })
    .nullish(),
});

/** A resource in the state of a stack, with what is missing filled in. */
export type StateResource = ReturnType<typeof stateResource>;

/** A create that was under way when an engine ended. `index` is its place among the pending operations of the export. */
export type PendingCreate = StateResource & { readonly index: number };

/** The state of a stack. */
export interface StackState {
  /** The name with organization and project. */
  readonly stack: string;
  /** The whole export, which is what `pulumi stack import` reads. */
  readonly text: string;
  /** Why the state can't be read, in which case the lists are empty. */
  readonly problem?: Problem;
  readonly resources: readonly StateResource[];
  /** The pending creates of all providers. Each later run carries them on. */
  readonly pending: readonly PendingCreate[];
}

/** @throws SyntaxError or ZodError if the text is no export that this version can read */
export function parseState(stack: string, text: string): StackState {
  const { deployment } = exportSchema.parse(JSON.parse(text));
  // The engine drops operations of other kinds by itself, since their resources are in the state.
  const pending = (deployment?.pending_operations ?? []).flatMap(({ resource, type }, index) =>
    type === "creating" ? [{ ...stateResource(resource, stack), index }] : [],
  );
  const resources = (deployment?.resources ?? []).map((one) => stateResource(one, stack));
  return { stack, text, resources, pending };
}

function stateResource(raw: z.infer<typeof resourceSchema>, stack: string) {
  const { urn, id, type, provider } = raw;
  const inputs = propertyMap(raw.inputs);
  const { origin, acceptedAt, known } = new Instance({
    urn,
    id,
    inputs,
    outputs: propertyMap(raw.outputs),
  });
  const { urn: providerUrn, id: providerId } = splitReference(provider);
  // In the export, a secret is an object.
  const name = textIn(inputs["name"]);
  return {
    ...raw,
    stack,
    /** Where the instance lives, and when the service accepted it. */
    origin,
    acceptedAt,
    /** The ids that its create knew of (`Instance.known`). */
    known,
    /** The name that the program or the provider asked for. Undefined if it is a secret. */
    name,
    isNameSecret: name === undefined && "name" in inputs,
    isGenerated: nameKind(inputs) === "generated",
    providerUrn,
    /** The URN of the provider, if the program makes that itself. */
    explicitProvider: explicitProvider(providerUrn || undefined),
    /** The id of this provider resource, or of the resource's provider. */
    scope: type === providerToken ? id : providerId,
  };
}

/** Whether the resource is an instance, and the program does not only read it. */
export function isInstance({ type, id, external }: StateResource): boolean {
  return type === instanceToken && id !== "" && !external;
}

/** Returns the instances of the resource's provider that say where they live. */
export function peersOf(resource: StateResource, { resources }: StackState): StateResource[] {
  const isPeer = (one: StateResource) => one.explicitProvider === resource.explicitProvider;
  return resources.filter((one) => isInstance(one) && one.origin !== undefined && isPeer(one));
}

/** Returns the resources of the state, and those of its pending creates. */
export function withPending({ resources, pending }: StackState): StateResource[] {
  return [...resources, ...pending];
}

/** Returns the ids of the stack's provider resources. Each is one stack's, unless `pulumi state move` has copied it. */
export function scopesOf(state: StackState): Set<string> {
  const ids = withPending(state).map(({ scope }) => scope);
  return new Set(ids.filter((id) => id !== ""));
}

/** Returns the URN of the resource's component, which its own URN does not name. Undefined unless the state has just one of its type. */
export function parentOf(urn: string, { resources }: StackState): string | undefined {
  const start = `${stackOf(urn)}::${typesOf(urn).split("$").slice(0, -1).join("$")}::`;
  const [parent, ...others] = resources.filter((one) => one.urn.startsWith(start) && !one.delete);
  return others.length === 0 ? parent?.urn : undefined;
}

/** Returns the URNs under which a state may have the resource of a pending create. */
export function urnsOf({ urn, aliases }: StateResource): string[] {
  return [urn, ...(aliases ?? [])];
}

/**
 * Returns the resource that the state has for this URN, unless the resource was replaced or is about to be created anew. A killed run
 * that was to rename the resource has left it under its former URN.
 */
export function presentIn(
  { resources, pending }: StackState,
  urn: string,
): StateResource | undefined {
  const urns = [urn, ...pending.filter((one) => one.urn === urn).flatMap(urnsOf)];
  const present = resources.filter((one) => !one.delete && !one.pendingReplacement);
  return urns.flatMap((name) => present.find((one) => one.urn === name) ?? [])[0];
}

/** Returns the index right behind the last resource that this one needs. */
export function placeFor(resource: StateResource, resources: readonly { urn?: unknown }[]): number {
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
