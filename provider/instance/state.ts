/** Makes the outputs of an Instance, which is what Pulumi's state holds, from the service's responses. */
import type { Accepted } from "../api/client";
import type { ListItem, WireNetwork } from "../api/contract";
import { originKey, originToState, type Origin } from "../origin";
import {
  isMap,
  propertyMap,
  reveal,
  secretLike,
  Unknown,
  type PropertyMap,
  type PropertyValue,
} from "../propertyValue";
import { inputNames, outputs as serviceOutputs, type InputName } from "./definition";

/**
 * The key of an output that is true if the instance was not ready when a Create, an Update or a Read ended. Later calls
 * then wait for the instance, so that no created instance is lost (G1).
 */
export const unfinishedKey = "__unfinished";

/**
 * The key of an output that says when the service accepted the instance (ISO 8601). A Read removes the
 * output after the settling time. Until then, a listing may lack the instance even if an earlier listing
 * has shown it ("nothing is forgotten on weak evidence", G3).
 */
export const acceptedKey = "__accepted";

/**
 * The key of an output that is true until a listing has shown the instance. The 202 (the response to the POST) may spell the
 * name differently from the list, and that difference is no drift.
 */
export const unlistedKey = "__unlisted";

/**
 * The key of an output that is true if the outputs were made from a listing alone (import, `.get()`). An input that is
 * null in such outputs may be set at the service, which does not show it.
 */
const readKey = "__read";

/**
 * The key of an output that says what an instance was called before it was renamed at the service: the name that the
 * program asked for (`requested`), the name as it was listed (`listed`), and the input before the last rename (`last`),
 * which is another one if the program took over the new name of an earlier rename.
 */
const renamedFromKey = "__renamedFrom";

/**
 * Returns every input, or null if it is unset. So the state shows which inputs an instance was created without, and a
 * change is shown before it happens (G5).
 */
function inputsAsOutputs(inputs: PropertyMap): Record<string, PropertyValue> {
  return Object.fromEntries(inputNames.map((name) => [name, inputs[name] ?? null]));
}

/** Returns the outputs in a preview. Only the inputs and the token kind are known. */
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

/**
 * Returns the outputs from a list item alone (import, `.get()`). What the list does not show is null, except that
 * `networks` is empty.
 */
export function outputsOfItem(item: ListItem, origin: Origin): PropertyMap {
  const unknownInputs = inputsAsOutputs(propertyMap({}));
  return outputsWithItem(
    propertyMap({ ...unknownInputs, networks: [], [readKey]: true }),
    item,
    origin,
  );
}

/**
 * Whether the outputs do not show the value of the input. That is so after an import, until the program's value is recorded,
 * and if the input was too large for the state of an unfinished instance.
 */
export function isUnread(name: InputName, outputs: PropertyMap): boolean {
  return (
    !(name in outputs) || (outputs[readKey] === true && reveal(outputs[name] ?? null) === null)
  );
}

/**
 * Returns the outputs updated with what the list shows now, without the marks `unfinishedKey` and `unlistedKey`. If the
 * instance is not ready, the caller sets the first mark again.
 */
export function outputsWithItem(outputs: PropertyMap, item: ListItem, origin: Origin): PropertyMap {
  return propertyMap({
    ...markFinished(outputs),
    [unlistedKey]: undefined,
    name: item.name === undefined ? outputs["name"] : secretLike(outputs["name"], item.name),
    status: item.status ?? outputs["status"] ?? null,
    ipv4: item.ipv4_public || (outputs["ipv4"] ?? null),
    tokenKind: origin.tokenKind,
    [originKey]: originToState(origin),
  });
}

/** Marks the outputs as those of an instance that is not ready. */
export function markUnfinished(outputs: PropertyMap): PropertyMap {
  return propertyMap({ ...outputs, [unfinishedKey]: true });
}

/**
 * Removes the mark of `markUnfinished`, since the instance is ready. Outputs that are not known become null: previews
 * show an output without a key as unknown, as if the next `pulumi up` were to find it out.
 */
export function markFinished(outputs: PropertyMap): PropertyMap {
  const optional = Object.keys(serviceOutputs).filter((name) => !serviceOutputs[name]?.always);
  return propertyMap({
    ...Object.fromEntries(optional.map((name) => [name, null])),
    ...outputs,
    [unfinishedKey]: undefined,
  });
}

/** Returns the outputs in the preview of a wait for an unfinished instance, which finds out its status and address. */
export function previewOfWait(outputs: PropertyMap): PropertyMap {
  return propertyMap({ ...outputs, status: Unknown.value, ipv4: Unknown.value });
}

/** Removes the date of acceptance, since the settling time is over. */
export function outputsOnceSettled(outputs: PropertyMap): PropertyMap {
  return propertyMap({ ...outputs, [acceptedKey]: undefined });
}

/** Returns the name as the list shows it. Undefined until a listing has shown the instance. */
export function listedName(outputs: PropertyMap): string | undefined {
  return outputs[unlistedKey] === true ? undefined : stringProperty(outputs, "name");
}

/**
 * Returns the state of an instance that was renamed at the service. The listed name becomes the input, so that the next
 * preview shows a change. An instance that was renamed back gets its old input again.
 *
 * @param outputs The outputs in the state, which have the name as it was listed before.
 */
export function renamed(
  inputs: PropertyMap,
  outputs: PropertyMap,
  listed: string,
): { inputs: PropertyMap; outputs: PropertyMap } {
  const names = propertyMap({ requested: inputs["name"], listed: outputs["name"] });
  const { [renamedFromKey]: recorded } = outputs;
  const renamedFrom = isMap(recorded) ? recorded : names;
  const isRenamedBack = stringProperty(renamedFrom, "listed") === listed;
  const name = isRenamedBack ? renamedFrom["requested"] : secretLike(inputs["name"], listed);
  return {
    inputs: propertyMap({ ...inputs, name }),
    outputs: propertyMap({
      ...outputs,
      [renamedFromKey]: propertyMap({ ...renamedFrom, last: inputs["name"] }),
    }),
  };
}

/** Whether this is the name that the program asked for before the instance was renamed at the service. */
export function wasRenamedFrom(outputs: PropertyMap, name: PropertyValue | undefined): boolean {
  const { [renamedFromKey]: renamedFrom } = outputs;
  if (!isMap(renamedFrom)) return false;
  return ["requested", "last"].some((key) => {
    const earlier = stringProperty(renamedFrom, key);
    return earlier !== undefined && earlier === reveal(name ?? null);
  });
}

/** Adds the inputs in `names` to the outputs of an imported instance, with the values that the program asserts. */
export function outputsWithAsserted(
  outputs: PropertyMap,
  news: PropertyMap,
  names: readonly InputName[],
): PropertyMap {
  return propertyMap({
    ...outputs,
    ...Object.fromEntries(names.map((name) => [name, news[name]])),
  });
}

/** Returns the property without its secrecy if it is a string, and undefined otherwise. */
export function stringProperty(map: PropertyMap | undefined, key: string): string | undefined {
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
