/** Terminals for commands that ask. */
import { spawnSync } from "node:child_process";

/** `script`, of util-linux, gives a command a terminal. */
const hasTerminals = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes(
  "util-linux",
);

/** Why a test can't have one here; undefined where it can. */
export const noTerminals = hasTerminals ? undefined : "this machine has no `script` of util-linux";
