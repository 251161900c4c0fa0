/** The outputs of an Instance: what the state holds of it. */
import type { Accepted } from "../api/client";
import type { ListItem, WireNetwork } from "../api/contract";
import { originKey, originToState, type Origin } from "../origin";
import {
  propertyMap,
  reveal,
  secretLike,
  Unknown,
  type PropertyMap,
  type PropertyValue,
} from "../propertyValue";
import { inputNames, outputs as defined, type InputName } from "./definition";

/** True if the last create or update failed while it waited, so that a Read can tell (G1). */
export const unfinishedKey = "__unfinished";

/**
 * When the service accepted the instance (ISO 8601). Dropped after the settling time: until then a
 * listing may lack the instance, even if one has shown it already (G3).
 */
export const acceptedKey = "__accepted";

/** True until a listing has shown the instance: the 202 may spell the name otherwise, which is no drift. */
export const unlistedKey = "__unlisted";

/** Every input, null if unset: a created instance knows what it was created without (G5). */
function inputsAsOutputs(inputs: PropertyMap): Record<string, PropertyValue> {
  return Object.fromEntries(inputNames.map((name) => [name, inputs[name] ?? null]));
}

/** The outputs in a preview: all but the inputs and the token kind are unknown. */
export function previewOutputs(inputs: PropertyMap, tokenKind: string): PropertyMap {
  return propertyMap({
    ...inputsAsOutputs(inputs),
    ...Object.fromEntries(Object.keys(defined).map((name) => [name, Unknown.value])),
    tokenKind,
  });
}

/** The outputs from the 202, the only answer that shows `networks` and `createdAt`. */
export function outputsOfAccepted(
  inputs: PropertyMap,
  accepted: Accepted,
  origin: Origin,
  acceptedAt: Date,
): PropertyMap {
  const networks = accepted.networks.map(networkOutput);
  return propertyMap({
    ...inputsAsOutputs(inputs),
    name: secretLike(inputs["name"], accepted.name ?? inputs["name"]),
    status: accepted.status ?? "PROVISIONING",
    networks,
    privateIpv4: accepted.networks.find((network) => network.type === "private")?.ipv4,
    createdAt: accepted.createdAt,
    [acceptedKey]: acceptedAt.toISOString(),
    [unlistedKey]: true,
    tokenKind: origin.tokenKind,
    [originKey]: originToState(origin),
  });
}

/** The outputs from a list item alone (import, `.get()`). What the list does not show has no key. */
export function outputsOfItem(item: ListItem, origin: Origin): PropertyMap {
  return outputsWithItem(propertyMap({ networks: [] }), item, origin);
}

/** The outputs brought up to date with what the list shows now. */
export function outputsWithItem(outputs: PropertyMap, item: ListItem, origin: Origin): PropertyMap {
  return propertyMap({
    ...markFinished(outputs),
    [unlistedKey]: undefined,
    name: item.name === undefined ? outputs["name"] : secretLike(outputs["name"], item.name),
    status: item.status ?? outputs["status"],
    ipv4: item.ipv4_public || outputs["ipv4"],
    tokenKind: origin.tokenKind,
    [originKey]: originToState(origin),
  });
}

/** The outputs of an instance that is not ready. */
export function markUnfinished(outputs: PropertyMap): PropertyMap {
  return propertyMap({ ...outputs, [unfinishedKey]: true });
}

/** The outputs of an instance that is ready. */
export function markFinished(outputs: PropertyMap): PropertyMap {
  return propertyMap({ ...outputs, [unfinishedKey]: undefined });
}

/** The outputs once the settling time is over. */
export function outputsOnceSettled(outputs: PropertyMap): PropertyMap {
  return propertyMap({ ...outputs, [acceptedKey]: undefined });
}

/** The name as the list shows it; undefined while none has shown the instance. */
export function listedName(outputs: PropertyMap): string | undefined {
  return outputs[unlistedKey] === true ? undefined : textOf(outputs, "name");
}

/** The outputs with inputs that the program asserts of an imported instance. */
export function outputsWithAsserted(
  outputs: PropertyMap,
  news: PropertyMap,
  names: readonly InputName[],
): PropertyMap {
  const asserted = Object.fromEntries(names.map((name) => [name, news[name]]));
  const script = names.find((name) => name === "userData" || name === "userDataBase64");
  // There is one script: asserting it in one form says that the other was not given.
  const other = script && { [script === "userData" ? "userDataBase64" : "userData"]: null };
  return propertyMap({ ...outputs, ...other, ...asserted });
}

/** The output if it is a text, without its secrecy; else undefined. */
export function textOf(map: PropertyMap | undefined, key: string): string | undefined {
  const value = reveal(map?.[key] ?? null);
  return typeof value === "string" ? value : undefined;
}

function networkOutput(network: WireNetwork): PropertyMap {
  return propertyMap({
    type: network.type,
    ipv4: network.ipv4,
    macAddress: network.mac_address,
  });
}
