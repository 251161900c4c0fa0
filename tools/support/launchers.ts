/**
 * The scripts that start the bundle with Node. Node does not read NODE_OPTIONS there, as in the single executable: a user
 * sets it for the program, and `--inspect-brk` or a missing `--require` would stop the plugin before its first line.
 */
import { executable } from "../../provider/process/executable";
import { posixQuote } from "../../provider/shellQuote";

const purpose = "NODE_OPTIONS is meant for the program, not for the plugin.";

/** The shell's part that all launchers share: `$self` is the path of the script, whatever links lead to it. */
const findSelf = `case $0 in
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
`;

/** With `exec`, the process that the engine starts is the provider. */
const run = (node: string, entry: string) => `# ${purpose}
unset NODE_OPTIONS
exec ${node} "\${self%/*}/${entry}" "$@"
`;

/** The launcher of `npm run build`, with the Node of this path. */
export function shellLauncher(node: string): string {
  return `#!/bin/sh
# Starts the provider with the Node it was built with. Made by \`npm run build\`.
node=${posixQuote(node)}
${findSelf}if [ ! -x "$node" ]; then
  echo "${executable}: the Node it was built with is gone: $node" >&2
  echo "Run \\\`npm run build\\\` in the provider's repository." >&2
  exit 1
fi
${run('"$node"', "start.js")}`;
}

/** In a batch file, a percent sign begins the name of a variable. */
export const batchText = (text: string) => text.replaceAll("%", "%%");

/** The same for Windows. */
export function windowsLauncher(nodePath: string): string {
  const node = batchText(nodePath);
  return [
    "@echo off",
    "rem Starts the provider with the Node it was built with. Made by `npm run build`.",
    "setlocal",
    `rem ${purpose}`,
    'set "NODE_OPTIONS="',
    `if not exist "${node}" (`,
    `  echo ${executable}: the Node it was built with is gone: ${node} 1>&2`,
    "  echo Run `npm run build` in the provider's repository. 1>&2",
    "  exit /b 1",
    ")",
    `"${node}" "%~dp0start.js" %*`,
    "",
  ].join("\r\n");
}

/** The launcher in the folder `plugin` of the npm package, for the Node on PATH. */
export function npmLauncher(entry: string): string {
  return `#!/bin/sh
# Starts the provider with the Node on PATH.
${findSelf}${run("node", entry)}`;
}
