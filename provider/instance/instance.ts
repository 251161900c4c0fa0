/**
 * The Instance, as Pulumi's state holds it. Each call reads it once, at its beginning, and returns its inputs and outputs.
 * The hidden outputs (`__…`) are named only here.
 */
import type { Accepted, ListItem } from "../api/contract";
import { isUnspecified } from "../addresses";
import { originSchema, type Origin } from "../origin";
import {
  hasSecret,
  isList,
  propertyMap,
  reveal,
  Secret,
  secretLike,
  Unknown,
  type PropertyMap,
  type PropertyValue,
} from "../pulumi/propertyValue";
import type { DeleteRequest, DiffRequest } from "../pulumi/calls";
import {
  emptyOutputs,
  inputNames,
  inputTypes,
  outputs as serviceOutputs,
  scriptInputs,
  type InputName,
} from "./definition";
import { nameKind } from "./naming";

/** The outputs that a listing shows, each with the field of the listing's item that shows it. */
const listedFields = {
  name: "name",
  status: "status",
  ipv4: "ipv4_public",
} as const satisfies Record<string, keyof ListItem>;
/** The names of the outputs that a listing shows. */
export const listedOutputs = Object.keys(listedFields) as (keyof typeof listedFields)[];
/** The inputs that a listing shows. */
export const listedInputs = listedOutputs.filter((name) => name in inputTypes);

/** The outputs that no program reads. */
const hidden = {
  /** True if the instance was not ready when last seen. Later calls then wait for it (G1). */
  unfinished: "__unfinished",
  /**
   * When the service accepted the instance (ISO 8601). Until the end of the settling time, a listing may lack the instance, even if
   * an earlier listing has shown it (G3). The first refresh after that time removes the output.
   */
  accepted: "__accepted",
  /**
   * True if the outputs come from a listing alone (import, `.get()`), which shows only few inputs: null then does not say that the
   * instance was created without the input.
   */
  read: "__read",
  /** The service and the token that the instance was last seen with (`Origin`). */
  origin: "__origin",
  /** The flavors that its create has tried in vain, if there were any: those that its inputs name before `flavorIdUsed`. */
  refused: "__refused",
  /**
   * The ids of other instances that look like this resource's. Its create has let them run, because the state, the policy or a person
   * explained them. The next create does not ask about them again.
   */
  known: "__known",
  /** The stamp: the id of the session that created, took over or looked up the instance, or "settle". */
  stamp: "__run",
} as const;

/** What the state holds of an instance. */
interface Held {
  urn: string;
  id: string;
  inputs: PropertyMap;
  outputs: PropertyMap;
}

/** What a create has asked for. */
interface Created {
  urn: string;
  inputs: PropertyMap;
  /** The flavor in its last POST. Undefined if that is not known. */
  flavorIdUsed?: string | undefined;
  /** As `Instance.known`. */
  known?: readonly string[] | undefined;
}

/** An instance in the state. It does not change. An output that is not as expected counts as missing, and is kept. */
export class Instance {
  readonly urn: string;
  readonly id: string;
  readonly inputs: PropertyMap;
  readonly outputs: PropertyMap;

  constructor({ urn, id, inputs, outputs }: Held) {
    this.urn = urn;
    this.id = id;
    this.inputs = inputs;
    this.outputs = outputs;
  }

  /** The instance that a create has obtained. Only a 202 to the POST shows `networks` and `createdAt`. */
  static accepted(
    { urn, inputs, flavorIdUsed, known = [] }: Created,
    accepted: Accepted,
    origin: Origin,
    acceptedAt: string,
  ): Instance {
    const refused = flavorsBefore(flavorIdUsed, inputs) ?? [];
    const asSecretAsFlavors = (value: PropertyValue) =>
      hasSecretFlavor(inputs) ? new Secret(value) : value;
    const outputs = propertyMap({
      ...inputsAsOutputs(inputs),
      name: secretLike(inputs["name"], accepted.name ?? inputs["name"]),
      status: accepted.status ?? "PROVISIONING",
      networks: accepted.networks.map(({ type, ipv4, mac_address: macAddress }) =>
        propertyMap({ type, ipv4: ipv4 ?? "", macAddress }),
      ),
      privateIpv4: accepted.networks.find((network) => network.type === "private")?.ipv4 ?? "",
      createdAt: accepted.createdAt ?? null,
      flavorIdUsed: asSecretAsFlavors(flavorIdUsed ?? null),
      tokenKind: origin.tokenKind,
      [hidden.refused]: refused.length > 0 ? asSecretAsFlavors(refused) : undefined,
      [hidden.accepted]: acceptedAt,
      [hidden.origin]: propertyMap(origin),
    });
    return new Instance({ urn, id: accepted.id, inputs, outputs }).knowing(known);
  }

  /** The instance of a list item alone (import, `.get()`), which shows few outputs. */
  static listed(urn: string, item: ListItem, origin: Origin): Instance {
    const outputs = propertyMap({ ...inputsAsOutputs({}), [hidden.read]: true });
    const { id } = item;
    const inputs = Object.fromEntries(listedInputs.map((name) => [name, item[listedFields[name]]]));
    return new Instance({ urn, id, inputs: propertyMap(inputs), outputs }).seenAs(item, origin);
  }

  /** The name as the service shows it. The input of this name is the program's. */
  get name(): string | undefined {
    return textIn(this.outputs["name"]) || undefined;
  }
  get status(): string | undefined {
    return textIn(this.outputs["status"]) || undefined;
  }
  get ipv4(): string | undefined {
    return addressIn(this.outputs["ipv4"]);
  }
  /** The address on a private network. Only the response to the create shows it. */
  get privateIpv4(): string | undefined {
    return addressIn(this.outputs["privateIpv4"]);
  }
  get tokenKind(): string | undefined {
    return textIn(this.outputs["tokenKind"]);
  }
  /** The flavor with which it was created. Undefined if that is not known, as after an import. */
  get flavorIdUsed(): string | undefined {
    return textIn(this.outputs["flavorIdUsed"]);
  }
  /** Whether a create of these inputs would have come to the flavor in use: each flavor that they name before it was refused. */
  hasFlavorFor(inputs: PropertyMap): boolean {
    const refused = reveal(this.outputs[hidden.refused] ?? null);
    const before = flavorsBefore(this.flavorIdUsed, inputs);
    return before?.every((flavor) => isList(refused) && refused.includes(flavor)) ?? false;
  }
  /** Where the instance lives. Undefined if that is not recorded, as in an import. */
  get origin(): Origin | undefined {
    const parsed = originSchema.safeParse(reveal(this.outputs[hidden.origin] ?? null));
    return parsed.success ? parsed.data : undefined;
  }
  /**
   * The id of the session that created, took over or looked up the instance. The stamp of another session than this one
   * proves that a state held the instance: the engine also sends ids that no state holds (a previewed import, a `.get()`),
   * and has perhaps not saved outputs of this session yet.
   */
  get stamp(): string | undefined {
    return textIn(this.outputs[hidden.stamp]) || undefined;
  }
  /** The ids of other instances about which the next create of the resource does not ask. */
  get known(): readonly string[] {
    const ids = this.outputs[hidden.known] ?? null;
    return isList(ids) ? ids.filter((id) => typeof id === "string") : [];
  }
  /** When the service accepted it (ISO 8601). Undefined if that is not known, or settling need not be awaited. */
  get acceptedAt(): string | undefined {
    return textIn(this.outputs[hidden.accepted]);
  }
  /** The port that has to answer before the instance is ready, if the program has named one. */
  get waitForPort(): number | undefined {
    // Not from the inputs: after a failed Update, they are older than the outputs.
    const port = reveal(this.outputs["waitForPort"] ?? null);
    return typeof port === "number" ? port : undefined;
  }
  /** Whether it was not ready when last seen. */
  get isUnfinished(): boolean {
    return isUnfinished(this.outputs);
  }

  /**
   * Whether an import could not read the input. If not, and the outputs lack the input, then the instance was created without it, by a
   * version that did not know the input.
   */
  isUnread(name: InputName): boolean {
    const value = reveal(this.outputs[name] ?? null);
    // Each instance has these inputs, so an empty one was not read.
    if (name in emptyOutputs) return value === null || value === "";
    return this.outputs[hidden.read] === true && value === null;
  }

  /** The instance with other outputs. One that is undefined is removed. */
  with(outputs: Readonly<Record<string, PropertyValue | undefined>>): Instance {
    return new Instance({ ...this, outputs: propertyMap({ ...this.outputs, ...outputs }) });
  }

  /** The instance with other inputs. */
  withInputs(inputs: PropertyMap): Instance {
    return new Instance({ ...this, inputs });
  }

  /** The instance with what the list shows now, finished. */
  seenAs(item: ListItem, origin: Origin): Instance {
    const listed = listedOutputs.map((name) => {
      const before = this.outputs[name];
      const value = item[listedFields[name]];
      return [name, value === undefined ? before : secretLike(before, value)] as const;
    });
    return this.with({
      ...Object.fromEntries(listed),
      tokenKind: origin.tokenKind,
      [hidden.origin]: propertyMap(origin),
    }).finished();
  }

  /** The instance with an output for each input. What is unread (`isUnread`) stays so. */
  withEachInput(): Instance {
    const missing = inputNames.filter((name) => !(name in this.outputs));
    return this.with(Object.fromEntries(missing.map((name) => [name, this.inputs[name] ?? null])));
  }

  /** The instance, marked as not ready. */
  unfinished(): Instance {
    return this.with({ [hidden.unfinished]: true });
  }

  /**
   * The instance without the mark of `unfinished`, and without outputs for a script that it does not have: the engine would encrypt
   * each such null, and show it as a secret. If the outputs come from a listing alone, null says that the script is unread.
   */
  finished(): Instance {
    const isNone = (name: InputName) =>
      this.outputs[hidden.read] !== true && reveal(this.outputs[name] ?? null) === null;
    const noScripts = scriptInputs.filter(isNone);
    return this.complete().with({
      ...Object.fromEntries(noScripts.map((name) => [name, undefined])),
      [hidden.unfinished]: undefined,
    });
  }

  /**
   * The instance in which each output that the service has not shown has its empty value. Previews show an output without a key as
   * unknown, as if the next `pulumi up` were to find the value out.
   */
  complete(): Instance {
    const isMissing = (value: PropertyValue) => value === null || isUnspecified(value);
    const missing = Object.entries(emptyOutputs).filter(([name]) =>
      isMissing(reveal(this.outputs[name] ?? null)),
    );
    return this.with(Object.fromEntries(missing));
  }

  /** The instance whose settling time is over. */
  settled(): Instance {
    return this.with({ [hidden.accepted]: undefined });
  }

  /** The instance whose next create does not ask about these instances either. */
  knowing(ids: readonly string[]): Instance {
    const known = new Set([...this.known, ...ids].filter((id) => id !== this.id));
    return known.size > 0 ? this.with({ [hidden.known]: [...known] }) : this;
  }

  /** The instance with the stamp of this session. */
  stampedBy(sessionId: string): Instance {
    return this.with({ [hidden.stamp]: sessionId });
  }
}

/** Returns the instance that a request says the state has. */
export function heldBy({
  urn,
  id,
  oldInputs: inputs,
  oldOutputs: outputs,
}: DiffRequest | DeleteRequest): Instance {
  return new Instance({ urn, id, inputs, outputs });
}

/**
 * Whether a preview knows the name. Where Check has generated it, the Check of the update generates another name, since the engine
 * gives that Check another seed. No Check has seen the inputs of a step that is skipped.
 */
function isNameKnown(inputs: PropertyMap): boolean {
  return nameKind(inputs) !== "generated" && reveal(inputs["name"] ?? null) !== null;
}

/** Returns the outputs in the preview of a create. */
export function previewOutputs(inputs: PropertyMap, tokenKind: string): PropertyMap {
  return propertyMap({
    ...inputsAsOutputs(inputs),
    ...(isNameKnown(inputs) ? {} : { name: Unknown.value }),
    ...Object.fromEntries(Object.keys(serviceOutputs).map((name) => [name, Unknown.value])),
    tokenKind,
  });
}

/**
 * Returns the flavors that a create of these inputs tries before `flavor`. A flavor that is not known yet is empty. Undefined if the
 * inputs do not name `flavor`.
 */
function flavorsBefore(flavor: string | undefined, inputs: PropertyMap): string[] | undefined {
  const fallbacks = reveal(inputs["fallbackFlavorIds"] ?? null);
  const named = [inputs["flavorId"], ...(isList(fallbacks) ? fallbacks : [])];
  const flavors = named.map((one) => textIn(one) ?? "");
  const index = flavor === undefined ? -1 : flavors.indexOf(flavor);
  return index < 0 ? undefined : flavors.slice(0, index);
}

/** Whether the flavor in use may be a secret of the program. */
export function hasSecretFlavor(inputs: PropertyMap): boolean {
  return hasSecret(inputs["flavorId"]) || hasSecret(inputs["fallbackFlavorIds"]);
}

/** Whether these are the outputs of an instance that was not ready when last seen. */
export function isUnfinished(outputs: PropertyMap): boolean {
  return outputs[hidden.unfinished] === true;
}

/** Returns every input, with null for those that the instance was created without. */
function inputsAsOutputs(inputs: PropertyMap): Record<string, PropertyValue> {
  return Object.fromEntries(inputNames.map((name) => [name, inputs[name] ?? null]));
}

/** Returns the address in an output. One that stands for none counts as missing: an earlier version has recorded it. */
function addressIn(output: PropertyValue | undefined): string | undefined {
  const address = textIn(output);
  return isUnspecified(address) ? undefined : address || undefined;
}

/** Returns the property without its secrecy, or undefined if it is not a string. */
export function textIn(property: PropertyValue | undefined): string | undefined {
  const value = reveal(property ?? null);
  return typeof value === "string" ? value : undefined;
}
