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

/** Set while a create or update has not ended well, so that a Read can tell (G1). */
export const unfinishedKey = "__unfinished";

/**
 * When the service accepted it (ISO 8601), until the settling time since then is over: so long a listing
 * may lack it, even if one has shown it already (G3).
 */
export const acceptedKey = "__accepted";

/** Set until a listing has shown it: its name is as the 202 spells it, which is no baseline for drift. */
export const unlistedKey = "__unlisted";

/** Every input, null where unset: a created instance knows what it was created without (G5). */
function inputsAsOutputs(inputs: PropertyMap): Record<string, PropertyValue> {
  return Object.fromEntries(inputNames.map((name) => [name, inputs[name] ?? null]));
}

export function previewOutputs(inputs: PropertyMap, tokenKind: string): PropertyMap {
  return propertyMap({
    ...inputsAsOutputs(inputs),
    ...Object.fromEntries(Object.keys(defined).map((name) => [name, Unknown.value])),
    tokenKind,
  });
}

/** From the 202: `networks` and `createdAt` are shown there only, so they are kept from then on. */
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

/** From a list item alone: an import, a `.get()`. What the list does not show has no key at all. */
export function outputsOfItem(item: ListItem, origin: Origin): PropertyMap {
  return outputsWithItem(propertyMap({ networks: [] }), item, origin);
}

/** The outputs so far, brought up to date with what the list shows now. */
export function outputsWithItem(outputs: PropertyMap, item: ListItem, origin: Origin): PropertyMap {
  return propertyMap({
    ...finished(outputs),
    [unlistedKey]: undefined,
    name: item.name === undefined ? outputs["name"] : secretLike(outputs["name"], item.name),
    status: item.status ?? outputs["status"],
    ipv4: item.ipv4_public || outputs["ipv4"],
    tokenKind: origin.tokenKind,
    [originKey]: originToState(origin),
  });
}

export function unfinished(outputs: PropertyMap): PropertyMap {
  return propertyMap({ ...outputs, [unfinishedKey]: true });
}

export function finished(outputs: PropertyMap): PropertyMap {
  return propertyMap({ ...outputs, [unfinishedKey]: undefined });
}

/** Without what counts only until the settling time is over. */
export function outputsOnceSettled(outputs: PropertyMap): PropertyMap {
  return propertyMap({ ...outputs, [acceptedKey]: undefined });
}

/** The name as the list shows it; undefined while none has shown the instance. */
export function listedName(outputs: PropertyMap): string | undefined {
  return outputs[unlistedKey] === true ? undefined : textOf(outputs, "name");
}

/** Inputs that the program claims of an imported instance: known from now on. */
export function outputsWithAsserted(
  outputs: PropertyMap,
  news: PropertyMap,
  claims: readonly InputName[],
): PropertyMap {
  const assertedInputs = Object.fromEntries(claims.map((name) => [name, news[name]]));
  const script = claims.find((name) => name === "userData" || name === "userDataBase64");
  // There is one script: claiming it in one form says that the other was not given.
  const other = script && { [script === "userData" ? "userDataBase64" : "userData"]: null };
  return propertyMap({ ...outputs, ...other, ...assertedInputs });
}

/** The text of an output, or undefined. */
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
