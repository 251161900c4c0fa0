/** The state of an unfinished instance, small enough for the way it travels. */
import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { hasSecret, type PropertyMap } from "../propertyValue";
import { encodeProperties } from "./encode";

/**
 * In bytes, inputs and outputs together. They travel in a trailer, twice and in Base64; above some 16 MB
 * of it the connection breaks, with every call on it.
 */
const mostBytes = 4 * 1024 * 1024;

interface FittedState {
  inputs: Struct;
  outputs: Struct;
  /** The properties that stand in neither, since the whole was too large. */
  leftOut: string[];
}

/**
 * Encodes what can be sent. Too large, it loses its largest properties, secrets first (a script is the
 * only large input, and a secret), on both sides: that is how the next Diff knows that the state does
 * not tell of them, as after an import.
 */
export function fitState(state: { inputs: PropertyMap; outputs: PropertyMap }): FittedState {
  const inputs = encodeProperties(state.inputs, "salvage");
  const outputs = encodeProperties(state.outputs, "salvage");
  const sides = [inputs, outputs];
  const keys = new Set([...Object.keys(state.inputs), ...Object.keys(state.outputs)]);
  const properties = [...keys]
    .filter((key) => !key.startsWith("__"))
    .map((key) => ({
      key,
      isSecret: hasSecret(state.inputs[key]) || hasSecret(state.outputs[key]),
      bytes: sum(sides.map((side) => sizeOf(side, key))),
    }))
    .sort((a, b) => Number(b.isSecret) - Number(a.isSecret) || b.bytes - a.bytes);

  const leftOut: string[] = [];
  let bytes = sum(sides.map((side) => side.serializeBinary().length));
  for (const property of properties) {
    if (bytes <= mostBytes) break;
    for (const side of sides) side.getFieldsMap().del(property.key);
    leftOut.push(property.key);
    bytes -= property.bytes;
  }
  return { inputs, outputs, leftOut };
}

function sizeOf(side: Struct, key: string): number {
  return side.getFieldsMap().get(key)?.serializeBinary().length ?? 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
