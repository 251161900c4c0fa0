/** Makes the outputs of an Instance, which Pulumi's state holds, from the service's responses. */
import type { Accepted, ListItem } from "../api/contract";
import { originKey, type Origin } from "../origin";
import {
  propertyMap,
  reveal,
  secretLike,
  Unknown,
  type PropertyMap,
  type PropertyValue,
} from "../propertyValue";
import { inputNames, outputs as serviceOutputs, type InputName } from "./definition";

/** The output that is true if the instance was not ready when last seen. Later calls then wait for it (G1). */
export const unfinishedKey = "__unfinished";

/**
 * The output that says when the service accepted the instance (ISO 8601). Until the settling time after that is over, a
 * listing may lack the instance, even if an earlier one has shown it (G3). A Read then removes the output.
 */
export const acceptedKey = "__accepted";

/** The output that is true if the outputs come from a listing alone (import, `.get()`), which shows only few inputs. */
const readKey = "__read";

/** Returns every input, with null for those that the instance was created without. */
function inputsAsOutputs(inputs: PropertyMap): Record<string, PropertyValue> {
  return Object.fromEntries(inputNames.map((name) => [name, inputs[name] ?? null]));
}

/** Returns the outputs in the preview of a create. */
export function previewOutputs(inputs: PropertyMap, tokenKind: string): PropertyMap {
  return propertyMap({
    ...inputsAsOutputs(inputs),
    ...Object.fromEntries(Object.keys(serviceOutputs).map((name) => [name, Unknown.value])),
    tokenKind,
  });
}

/** Returns the outputs from the 202 to the POST, the only response that shows `networks` and `createdAt`. */
export function outputsOfAccepted(
  inputs: PropertyMap,
  accepted: Accepted,
  origin: Origin,
  acceptedAt: string,
): PropertyMap {
  return propertyMap({
    ...inputsAsOutputs(inputs),
    name: secretLike(inputs["name"], accepted.name ?? inputs["name"]),
    status: accepted.status ?? "PROVISIONING",
    networks: accepted.networks.map(({ type, ipv4, mac_address: macAddress }) =>
      propertyMap({ type, ipv4, macAddress }),
    ),
    privateIpv4: accepted.networks.find((network) => network.type === "private")?.ipv4,
    createdAt: accepted.createdAt,
    [acceptedKey]: acceptedAt,
    tokenKind: origin.tokenKind,
    [originKey]: propertyMap(origin),
  });
}

/** Returns the outputs from a list item alone (import, `.get()`). What the list does not show is null. */
export function outputsOfItem(item: ListItem, origin: Origin): PropertyMap {
  const unread = { ...inputsAsOutputs({}), networks: [], [readKey]: true };
  return outputsWithItem(propertyMap(unread), item, origin);
}

/** Whether an import could not read the input, or it was too large for the state of an unfinished instance. */
export function isUnread(name: InputName, outputs: PropertyMap): boolean {
  return (
    !(name in outputs) || (outputs[readKey] === true && reveal(outputs[name] ?? null) === null)
  );
}

/** Returns the outputs updated with what the list shows now, and marked as finished. */
export function outputsWithItem(outputs: PropertyMap, item: ListItem, origin: Origin): PropertyMap {
  return propertyMap({
    ...markFinished(outputs),
    name: item.name === undefined ? outputs["name"] : secretLike(outputs["name"], item.name),
    status: item.status ?? outputs["status"] ?? null,
    ipv4: item.ipv4_public || (outputs["ipv4"] ?? null),
    tokenKind: origin.tokenKind,
    [originKey]: propertyMap(origin),
  });
}

/** Marks the outputs as those of an instance that is not ready. */
export function markUnfinished(outputs: PropertyMap): PropertyMap {
  return propertyMap({ ...outputs, [unfinishedKey]: true });
}

/**
 * Removes the mark of `markUnfinished`. Outputs that are not known become null, because previews show an output without a
 * key as unknown, as if the next `pulumi up` were to find it out.
 */
export function markFinished(outputs: PropertyMap): PropertyMap {
  const optional = Object.keys(serviceOutputs).filter((name) => !serviceOutputs[name]?.always);
  return propertyMap({
    ...Object.fromEntries(optional.map((name) => [name, null])),
    ...outputs,
    [unfinishedKey]: undefined,
  });
}

/** Returns the property without its secrecy, or undefined if it is not a string. */
export function stringProperty(map: PropertyMap | undefined, key: string): string | undefined {
  const value = reveal(map?.[key] ?? null);
  return typeof value === "string" ? value : undefined;
}
