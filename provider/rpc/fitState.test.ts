import { expect, test } from "@jest/globals";
import { propertyMap, Secret, type PropertyMap } from "../propertyValue";
import { decodeProperties } from "./decode";
import { fitState } from "./fitState";

const megabytes = (count: number) => "x".repeat(count * 1024 * 1024);

function fitted(inputs: PropertyMap, outputs: PropertyMap) {
  const state = fitState({ inputs, outputs });
  const bytes = state.inputs.serializeBinary().length + state.outputs.serializeBinary().length;
  return {
    inputs: Object.keys(decodeProperties(state.inputs)),
    outputs: Object.keys(decodeProperties(state.outputs)),
    leftOut: state.leftOut,
    bytes,
  };
}

test("a state that fits goes as it is", () => {
  const inputs = propertyMap({ name: "web", userData: new Secret(megabytes(1)) });
  expect(fitted(inputs, inputs)).toMatchObject({
    inputs: ["name", "userData"],
    outputs: ["name", "userData"],
    leftOut: [],
  });
});

test("of several secrets only the largest are left out, and what is no secret stays", () => {
  const inputs = propertyMap({
    name: new Secret("web"),
    sshKeys: [megabytes(3)],
    userData: new Secret(megabytes(2)),
    password: new Secret(megabytes(1)),
  });
  const { bytes, ...rest } = fitted(inputs, propertyMap({ __origin: megabytes(0.5) }));
  expect(rest).toEqual({
    inputs: ["name", "sshKeys"],
    outputs: ["__origin"],
    leftOut: ["userData", "password"],
  });
  expect(bytes).toBeLessThanOrEqual(4 * 1024 * 1024);
});

test("what is no secret goes when no secret is left to leave out", () => {
  const inputs = propertyMap({ name: "web", sshKeys: [megabytes(3)], vpcId: megabytes(1.5) });
  expect(fitted(inputs, inputs)).toMatchObject({
    inputs: ["name", "vpcId"],
    outputs: ["name", "vpcId"],
    leftOut: ["sshKeys"],
  });
});
