/** What starts the bundle: the plugin's executable for each system, and the script they start. */

/** For a POSIX shell. `exec`, so that the process the engine knows is the provider itself. */
export function shellLauncher(node: string): string {
  return `#!/bin/sh
# Starts the provider with the Node it was built with. Made by \`npm run build\`.
node=${shellQuote(node)}
case $0 in
  */*) self=$0 ;;
  *) self=./$0 ;;
esac
while [ -h "$self" ]; do
  link=$(readlink "$self")
  case $link in
    /*) self=$link ;;
    *) self=\${self%/*}/$link ;;
  esac
done
if [ ! -x "$node" ]; then
  echo "pulumi-resource-compute: the Node it was built with is gone: $node" >&2
  echo "Run \\\`npm run build\\\` in the provider's repository." >&2
  exit 1
fi
exec "$node" "\${self%/*}/start.js" "$@"
`;
}

export function windowsLauncher(node: string): string {
  return [
    "@echo off",
    "rem Starts the provider with the Node it was built with. Made by `npm run build`.",
    `if not exist "${node}" (`,
    `  echo pulumi-resource-compute: the Node it was built with is gone: ${node} 1>&2`,
    "  echo Run `npm run build` in the provider's repository. 1>&2",
    "  exit /b 1",
    ")",
    `"${node}" "%~dp0start.js" %*`,
    "",
  ].join("\r\n");
}

/**
 * Keeps V8's compiled code between starts, which saves half of the start-up time. Beside the
 * bundle, so that it goes when the plugin goes; else in the person's own cache, never in a
 * directory shared with others, who could put code of theirs there.
 */
export const startScript = `"use strict";
// Made by \`npm run build\`.
const { accessSync, constants } = require("node:fs");
const { enableCompileCache } = require("node:module");
const { homedir } = require("node:os");
const { join } = require("node:path");

function cacheDirectory() {
  try {
    accessSync(__dirname, constants.W_OK);
    return join(__dirname, ".cache");
  } catch {
    const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
    return join(XDG_CACHE_HOME || LOCALAPPDATA || join(homedir(), ".cache"), "pulumi-resource-compute");
  }
}

try {
  enableCompileCache(cacheDirectory());
} catch {
  // Slower to start, and nothing else.
}
require("./provider.js");
`;

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
