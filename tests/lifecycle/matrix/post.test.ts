/** Faults before and at the POST: nothing is lost (G1), nothing made twice (G2). */
import { jest, test } from "@jest/globals";
import { everyFault } from "./everyFault";

jest.setTimeout(1_800_000);

test.each(["the account", "the baseline", "the POST"] as const)("every fault at %s", everyFault);
