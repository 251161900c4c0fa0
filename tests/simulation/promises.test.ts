/**
 * Random histories from fixed seeds: no instance is lost (G1), created twice (G2) or wrongly reported as deleted (G3). `rest/`
 * plays more of them.
 */
import { test } from "@jest/globals";
import { expectKeepPromises } from "./playing";

const histories = 1000;

test(`in ${histories} histories from fixed seeds, no instance is lost, created twice or forgotten`, () =>
  expectKeepPromises(histories));
