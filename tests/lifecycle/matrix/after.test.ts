/** Faults of refreshes and destroys: nothing is forgotten (G3), no delete is a lie (G4). */
import { jest, test } from "@jest/globals";
import { everyFault } from "./everyFault";

jest.setTimeout(1_800_000);

test.each([
  "the account of a refresh",
  "the list of a refresh",
  "the DELETE",
  "the proof that it is gone",
] as const)("every fault at %s", everyFault);
