/** Random histories from fixed seeds, as in `npm test`, but more of them. */
import { test } from "@jest/globals";
import { expectKeepPromises } from "../playing";

const histories = 10_000;

/** This takes minutes of CPU, so far more on a machine that does something else, too. */
const timeoutMs = 3_600_000;

test(
  `in ${histories} histories from fixed seeds, no instance is lost, created twice or forgotten`,
  () => expectKeepPromises(histories),
  timeoutMs,
);
