/** Faults while an instance is waited for: nothing is lost (G1). */
import { jest, test } from "@jest/globals";
import { everyFault } from "./everyFault";

jest.setTimeout(1_800_000);

test.each(["the first poll", "a later poll"] as const)("every fault at %s", everyFault);
